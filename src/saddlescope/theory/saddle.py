"""A fixed point's kind, by the Hessian of the loss there: strict saddle, degenerate, or minimum.

Strict: a direction of negative curvature, along which weights grow exponentially, by 1 + lr |λ_min| a step. Degenerate:
none, but flat directions that second order says nothing about: where units are of order two and more, escape from a
silent unit is of higher order, and much slower.
"""

from dataclasses import dataclass

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from saddlescope.errors import require
from saddlescope.losses import squared_error
from saddlescope.theory.relax import curvature

FLAT = 1e-7  # of the largest eigenvalue


@dataclass(frozen=True)
class Saddle:
    kind: str
    loss: float
    gradient: float  # the largest
    eigenvalues: np.ndarray  # ascending
    escape: np.ndarray  # the direction of the smallest, flat

    @property
    def lowest(self) -> float:
        return float(self.eigenvalues[0])


def saddle(net, params, statistics) -> Saddle:
    """What a fixed point is; `gradient` says whether it is one."""
    finite = all(np.isfinite(w).all() for w in jax.tree.leaves(params))
    require(finite, "A saddle has finite weights; these are not all numbers.")
    loss, g, H = map(np.asarray, curvature(net, jax.tree.map(jnp.asarray, params), statistics))
    values, vectors = np.linalg.eigh(H)
    size = FLAT * np.abs(values).max()
    flat_ones = np.sum(np.abs(values) <= size)
    kind = "strict saddle" if values[0] < -size else "degenerate" if flat_ones else "minimum"
    return Saddle(kind, float(loss), float(np.abs(g).max()), values, vectors[:, 0])


def perturbed(net, point, unit, statistics, rng, size=1e-2, draws=64):
    """The point with one unit's weights moved a little, as it lowers the loss most among random draws; and that loss.
    Where it is lower than at a fixed point, that is no minimum, whatever the Hessian says."""
    loss = eqx.filter_jit(squared_error)
    point = jax.tree.map(jnp.asarray, point)
    moves = [{n: size * rng.standard_normal(w.shape[1]) for n, w in point.items()} for _ in range(draws)]
    moved = [{n: w.at[unit].add(move[n]) for n, w in point.items()} for move in moves]
    losses = [float(loss(net, params, statistics)) for params in moved]
    best = int(np.argmin(losses))
    return moved[best], losses[best]
