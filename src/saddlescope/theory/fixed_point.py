"""A data set for which given parameters are a fixed point, to rounding.

The gradient of the squared loss is -2 Jᵀ e / P, with J the Jacobian of the outputs and e the residual. So any
parameters are a fixed point of y = f(x) + e when e lies in the null space of Jᵀ: no search, any unit, any width.
"""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax.flatten_util import ravel_pytree

from saddlescope.errors import require
from saddlescope.tasks.task import Samples


@eqx.filter_jit
def outputs_and_slopes(net, params, x):
    """Outputs in a row, and their Jacobian in the parameters in a row."""
    flat, restore = ravel_pytree(params)
    outputs = lambda p: net(restore(p), x).ravel()  # noqa: E731
    return outputs(flat), jax.jacobian(outputs)(flat)


def relative_gradient(net, params, data):
    """The gradient of the squared loss in each parameter, over the sum of its absolute terms Σ |J e|; the largest."""
    outputs, J = outputs_and_slopes(net, jax.tree.map(jnp.asarray, params), data.x)
    terms = np.asarray(J) * (np.ravel(data.y) - outputs)[:, None]
    sizes = np.abs(terms).sum(0)
    return float(np.max(np.abs(terms.sum(0))[sizes > 0] / sizes[sizes > 0], initial=0))


def data_with_fixed_point(net, params, x, rng):
    """Samples with inputs x at which the gradient of `net` at `params` is zero: outputs plus a random residual.

    The residual is normal, of the outputs' size, projected; with hardly more outputs than parameters little is left.
    """
    x = jnp.asarray(x)
    outputs, J = map(np.asarray, outputs_and_slopes(net, jax.tree.map(jnp.asarray, params), x))
    n, free = J.shape
    require(n > free, f"{n} outputs leave no residual free of {free} parameters: use more samples.")
    lengths = np.linalg.norm(J, axis=0)
    basis = np.linalg.svd(J / np.where(lengths, lengths, 1))[0][:, free:]  # orthogonal to every column, small or large
    size = max(float(np.std(outputs)), 1.0)  # as large as the outputs, so that y - f has all its digits
    residual = size * basis @ (basis.T @ rng.standard_normal(n))
    return Samples(x, jnp.asarray((outputs + residual).reshape(len(x), -1)))
