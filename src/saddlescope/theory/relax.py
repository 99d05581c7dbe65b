"""Fixed points of a narrow net near given weights."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import scipy  # its parts are imported when first used
from jax.flatten_util import ravel_pytree

from saddlescope.losses import squared_error
from saddlescope.nets.net import Net, Params
from saddlescope.numerics import reproducible
from saddlescope.tasks.task import Moments, Samples

TRUST, LONGEST = 0.1, 0.5  # of the weights' norm: the first step, and any
PATIENCE = 10  # steps without a smaller gradient


@eqx.filter_jit
def curvature(net, params, statistics):
    """Loss, gradient and Hessian in the parameters as one row."""
    flat, restore = ravel_pytree(params)
    loss = lambda p: squared_error(net, restore(p), statistics)  # noqa: E731
    return loss(flat), jax.grad(loss)(flat), jax.hessian(loss)(flat)


@reproducible()
def relax(
    net: Net,
    params: Params,
    statistics: Samples | Moments,
    rounds: int = 500,
) -> tuple[Params, float, float]:
    """Find the local minimum below `params`; gives its (params, loss, largest gradient).

    On a plateau the wide net imitates such a point: a minimum of a net as narrow as its effective
    width. The method uses the exact Hessian, and takes the shortest way along a flat valley, such
    as that of a unit's scale.

    **Arguments:**

    - `net`: A narrow net.
    - `params`: Its weights at the start.
    - `statistics`: What the loss sees of the data.
    - `rounds`: The largest number of iterations.
    """
    flat, restore = _in_one_row(params)
    size, seen = float(np.linalg.norm(flat)), {}
    statistics = jax.tree.map(jnp.asarray, statistics)  # handed over once, not at every step

    def at(p):
        if (key := p.tobytes()) not in seen:
            seen.clear()
            seen[key] = [np.asarray(a) for a in curvature(net, restore(p), statistics)]
        return seen[key]

    options = {"initial_trust_radius": TRUST * size, "max_trust_radius": LONGEST * size, "gtol": 1e-10,
               "maxiter": rounds}  # fmt: skip
    best = scipy.optimize.minimize(
        lambda p: float(at(p)[0]), flat, jac=lambda p: at(p)[1], hess=lambda p: at(p)[2], method="trust-exact",
        options=options,
    ).x  # fmt: skip
    return settle(net, restore(best), statistics, rounds=3)


@reproducible()
def settle(
    net: Net,
    params: Params,
    statistics: Samples | Moments,
    rounds: int = 50,
) -> tuple[Params, float, float]:
    """Follow Newton's steps of least length; gives (params, loss, largest gradient) of the best
    point.

    The point may be a minimum or a saddle, as on a ridge between two minima. The gradient tells
    whether the steps have led to a fixed point.
    """
    p, restore = _in_one_row(params)
    longest = LONGEST * float(np.linalg.norm(p))
    best, since = (np.inf, p, np.nan), 0
    for _ in range(rounds + 1):
        value, g, H = map(np.asarray, curvature(net, restore(p), statistics))
        slope = float(np.abs(g).max())
        best, since = ((slope, p, float(value)), 0) if slope < best[0] else (best, since + 1)
        if since > PATIENCE or not np.isfinite(slope):
            break
        step = np.linalg.pinv(H, rcond=1e-8, hermitian=True) @ g
        p = p - step * min(1, longest / max(float(np.linalg.norm(step)), 1e-300))
    slope, p, value = best
    return restore(p), value, slope


def _in_one_row(params):
    """All parameters as one row, and the way back, in numpy: JAX would compile both for every shape."""
    leaves, tree = jax.tree.flatten(jax.tree.map(np.asarray, params))
    ends = np.cumsum([leaf.size for leaf in leaves])[:-1]

    def restore(row):
        parts = zip(np.split(row, ends), leaves, strict=True)
        return jax.tree.unflatten(tree, [part.reshape(leaf.shape) for part, leaf in parts])

    return np.concatenate([leaf.ravel() for leaf in leaves]), restore
