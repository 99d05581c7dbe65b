"""Data for which given parameters are a fixed point."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax.flatten_util import ravel_pytree
from numpy.typing import ArrayLike

from saddlescope.errors import require
from saddlescope.losses import SquaredError
from saddlescope.nets.net import Net, Params
from saddlescope.numerics import reproducible
from saddlescope.tasks.task import Samples


@eqx.filter_jit
def outputs_and_slopes(net, params, x):
    """Outputs in a row, and their Jacobian in the parameters in a row."""
    flat, restore = ravel_pytree(params)
    outputs = lambda p: net(restore(p), x).ravel()  # noqa: E731
    return outputs(flat), jax.jacobian(outputs)(flat)


@reproducible()
def relative_gradient(net, params, data, loss=None):
    """The largest component of the loss's gradient, relative to the sum of its absolute terms; of the squared error
    unless another loss is given."""
    outputs, J = outputs_and_slopes(net, jax.tree.map(jnp.asarray, params), data.x)
    y = jnp.asarray(data.y)
    slope = jax.grad((loss or SquaredError()).of_outputs)(outputs.reshape(y.shape), y)
    terms = np.asarray(J) * np.ravel(slope)[:, None]
    sizes = np.abs(terms).sum(0)
    return float(np.max(np.abs(terms.sum(0))[sizes > 0] / sizes[sizes > 0], initial=0))


@reproducible()
def data_with_fixed_point(
    net: Net,
    params: Params,
    x: ArrayLike,
    rng: np.random.Generator,
) -> Samples:
    """Make samples for which given parameters are a fixed point, to rounding.

    The gradient of the squared loss is -2 Jᵀ e / P, with J the Jacobian of the outputs and e the
    residual. So any parameters are a fixed point of y = f(x) + e if e lies in the null space of Jᵀ.
    This needs no search, and holds for any unit and width. The residual is normal, of the outputs'
    size, and projected. With hardly more outputs than parameters, little of it is left.

    **Arguments:**

    - `net`: Any net.
    - `params`: The parameters that become a fixed point.
    - `x`: The inputs, one row per sample.
    - `rng`: The source of the random residual.
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
