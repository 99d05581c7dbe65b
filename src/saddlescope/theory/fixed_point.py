"""A data set for which given parameters are a fixed point, to rounding.

The gradient of the squared loss is -2 Jᵀ e / P, with J the Jacobian of the outputs and e the residual. So any
parameters are a fixed point of y = f(x) + e when e lies in the null space of Jᵀ: no search, any unit, any width.
"""

import jax
import jax.numpy as jnp
import numpy as np
from jax.flatten_util import ravel_pytree

from saddlescope.refusal import refuse_unless
from saddlescope.tasks.task import Samples


def data_with_fixed_point(net, params, x, rng):
    """Samples with inputs x at which the gradient of `net` at `params` is zero: outputs plus a random residual.

    The residual is normal, projected; with hardly more outputs than parameters little of it is left.
    """
    flat, restore = ravel_pytree(params)
    outputs = net(params, x)
    refuse_unless(
        outputs.size > flat.size,
        f"{outputs.size} outputs leave no residual free of {flat.size} parameters: use more samples.",
    )
    J = jax.jacobian(lambda p: net(restore(p), x).ravel())(flat)
    basis = jnp.linalg.svd(J)[0][:, flat.size :]  # orthogonal to every column of J
    residual = basis @ (basis.T @ rng.standard_normal(outputs.size))
    return Samples(jnp.asarray(x), outputs + np.reshape(residual, outputs.shape))
