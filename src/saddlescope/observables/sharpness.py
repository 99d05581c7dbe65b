"""Sharpness: the largest eigenvalue of the Hessian."""

from typing import final

import equinox as eqx
import jax
import jax.numpy as jnp
from jax.flatten_util import ravel_pytree

from saddlescope.errors import require
from saddlescope.observables.observable import Observable
from saddlescope.serialization.part import as_int


@final
class Sharpness(Observable):
    """The largest eigenvalue λ of the Hessian of the loss on all data, over the trained parameters.

    By Lanczos iteration on Hessian-vector products (matfree), in float64 whatever the training. Plain descent at
    learning rate lr is stable along a direction of curvature λ while λ < 2/lr: `sharpness_over_limit` is λ lr / 2,
    with λ that of the Hessian weighted by each parameter's own rate. Momentum β allows 1 + β times as much; clipping
    and Adam have no such limit.

    **Arguments:**

    - `iterations`: steps of Lanczos' method.
    """

    iterations: int = eqx.field(default=30, static=True, converter=as_int)

    name = "sharpness"

    def __check_init__(self):
        require(
            type(self.iterations) is int and self.iterations > 1,
            f"`iterations` must be a whole number above 1; got {self.iterations!r}.",
        )

    def __call__(self, snapshot):
        parts = snapshot.net, snapshot.loss, snapshot.params, snapshot.statistics
        net, loss, params, statistics = in_float64(parts)
        trained = net.trained(params)
        flat, restore = ravel_pytree(trained)
        rates = ravel_pytree(jax.tree.map(jnp.full_like, trained, net.rates(trained)))[0]

        def gradient(theta):
            return jax.grad(lambda t: loss(net, net.merged(params, restore(t)), statistics))(theta)

        def product(v):
            return jax.jvp(gradient, (flat,), (v,))[1]

        steps = min(self.iterations, flat.size)
        top = weighted = top_eigenvalue(product, flat.size, steps)
        if any(rate != 1 for rate in jax.tree.leaves(net.rates(trained))):
            weighted = top_eigenvalue(lambda v: jnp.sqrt(rates) * product(jnp.sqrt(rates) * v), flat.size, steps)
        return {"top": top, "over_limit": weighted * snapshot.lr / 2}


def in_float64(tree):
    return jax.tree.map(lambda x: x.astype(float) if eqx.is_inexact_array(x) else x, tree)


def top_eigenvalue(product, size, steps):
    """The largest eigenvalue of a symmetric operator, by Lanczos steps.

    Once the Krylov space is exhausted, an off-diagonal entry is rounding alone. What comes after it
    is meaningless, and is replaced by a value from inside the spectrum.
    """
    from matfree import decomp

    start = jax.random.normal(jax.random.key(0), (size,), float)
    lanczos = decomp.tridiag_sym(steps, custom_vjp=False)
    matrix = jnp.asarray(lanczos(product, start / jnp.linalg.norm(start)).J_small)
    diagonal, beside = jnp.diagonal(matrix), jnp.diagonal(matrix, 1)
    scale = jnp.abs(diagonal[0]) + jnp.abs(beside[:1]).sum()
    sound = jnp.cumprod(beside > 1e-7 * scale)
    diagonal = diagonal.at[1:].set(jnp.where(sound, diagonal[1:], diagonal[0]))
    beside = jnp.where(sound, beside, 0.0)
    return jnp.linalg.eigvalsh(jnp.diag(diagonal) + jnp.diag(beside, 1) + jnp.diag(beside, -1))[-1]
