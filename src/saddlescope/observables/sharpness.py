"""Sharpness: the largest eigenvalue of the Hessian of the loss on all data, over the trained parameters.

By Lanczos iteration on Hessian-vector products (matfree). Descent at rate lr is stable along a direction of curvature
λ while λ < 2/lr: `sharpness_over_limit` is λ lr / 2.
"""

from typing import final

import equinox as eqx
import jax
import jax.numpy as jnp
from jax.flatten_util import ravel_pytree
from matfree import decomp, eig

from saddlescope.identity import whole
from saddlescope.observables.observable import Observable
from saddlescope.refusal import refuse_unless


@final
class Sharpness(Observable):
    iterations: int = eqx.field(default=30, static=True, converter=whole)

    name = "sharpness"

    def __check_init__(self):
        refuse_unless(
            type(self.iterations) is int and self.iterations > 1,
            f"`iterations` must be a whole number above 1; got {self.iterations!r}.",
        )

    def __call__(self, snapshot):
        net, params, statistics = snapshot.net, snapshot.params, snapshot.statistics
        flat, restore = ravel_pytree(net.trained(params))

        def gradient(theta):
            return jax.grad(lambda t: net.loss(params | restore(t), statistics))(theta)

        def product(v):
            return jax.jvp(gradient, (flat,), (v,))[1]

        start = jax.random.normal(jax.random.key(0), flat.shape, flat.dtype)
        lanczos = eig.eigh_partial(decomp.tridiag_sym(min(self.iterations, flat.size), custom_vjp=False))
        values, _ = lanczos(product, start / jnp.linalg.norm(start))
        return {"top": values.max(), "over_limit": values.max() * snapshot.lr / 2}
