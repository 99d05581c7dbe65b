"""The kind of a fixed point."""

from dataclasses import dataclass

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from saddlescope.errors import require
from saddlescope.losses import squared_error
from saddlescope.nets.net import Net, Params
from saddlescope.numerics import reproducible
from saddlescope.tasks.task import Moments, Samples
from saddlescope.theory.relax import curvature

FLAT = 1e-7  # of the largest eigenvalue
LEARNED = 1e-12  # of ⟨‖y‖²⟩: what is left above the least loss of any map


@dataclass(frozen=True)
class Saddle:
    """A fixed point's kind, by the Hessian of the loss there.

    A strict saddle has a direction of negative curvature. Weights grow along it exponentially, by 1
    + lr |λ_min| per step. A degenerate point has none, but flat directions that second order says
    nothing about. Where units are of order two and more, escape from a silent unit is of higher
    order, and much slower. A net with more units than it needs has flat directions at its minima too.
    Where nothing is left to learn, the point is a minimum whatever is flat.

    **Arguments:**

    - `kind`: "strict saddle", "degenerate" or "minimum".
    - `loss`: The loss there.
    - `gradient`: The largest component of the gradient, by size; near zero at a fixed point.
    - `eigenvalues`: Those of the Hessian, in ascending order.
    - `escape`: The eigenvector of the smallest eigenvalue, over all parameters in one row.
    """

    kind: str
    loss: float
    gradient: float
    eigenvalues: np.ndarray
    escape: np.ndarray

    @property
    def lowest(self) -> float:
        """The smallest eigenvalue of the Hessian."""
        return float(self.eigenvalues[0])


@reproducible()
def saddle(net: Net, params: Params, statistics: Samples | Moments) -> Saddle:
    """Find the kind of a fixed point; `gradient` of the result tells whether it is one.

    **Arguments:**

    - `net`: Any net that is small enough for its Hessian.
    - `params`: The weights; finite.
    - `statistics`: What the loss sees of the data.
    """
    finite = all(np.isfinite(w).all() for w in jax.tree.leaves(params))
    require(finite, "A saddle has finite weights; these are not all numbers.")
    loss, g, H = map(np.asarray, curvature(net, jax.tree.map(jnp.asarray, params), statistics))
    values, vectors = np.linalg.eigh(H)
    size = FLAT * np.abs(values).max()
    flat_ones = np.sum(np.abs(values) <= size)
    minimum = not flat_ones or _nothing_left(float(loss), statistics)
    kind = "strict saddle" if values[0] < -size else "minimum" if minimum else "degenerate"
    return Saddle(kind, float(loss), float(np.abs(g).max()), values, vectors[:, 0])


def _nothing_left(loss, statistics):
    """Whether no map has a lower loss: for samples that is zero, for moments that of their optimum."""
    if isinstance(statistics, Moments):
        return loss - float(statistics.floor) <= LEARNED * float(statistics.power)
    return loss <= LEARNED * float(jnp.mean(jnp.sum(jnp.asarray(statistics.y) ** 2, axis=-1)))


@reproducible()
def perturbed(
    net: Net,
    point: Params,
    unit: int,
    statistics: Samples | Moments,
    rng: np.random.Generator,
    size: float = 1e-2,
    draws: int = 64,
) -> tuple[Params, float]:
    """Move one unit of a point a little, as lowers the loss most among random draws; and that loss.

    If the loss is lower than at a fixed point, that point is not a minimum, whatever the Hessian says.

    **Arguments:**

    - `net`: A two-layer net of units.
    - `point`: The weights {'u', 'v'}.
    - `unit`: The number of the unit that is moved.
    - `statistics`: What the loss sees of the data.
    - `rng`: The source of the random moves.
    - `size`: The standard deviation of a move.
    - `draws`: The number of moves that are tried.
    """
    loss = eqx.filter_jit(squared_error)
    point = jax.tree.map(jnp.asarray, point)
    moves = [{n: size * rng.standard_normal(w.shape[1]) for n, w in point.items()} for _ in range(draws)]
    moved = [{n: w.at[unit].add(move[n]) for n, w in point.items()} for move in moves]
    losses = [float(loss(net, params, statistics)) for params in moved]
    best = int(np.argmin(losses))
    return jax.tree.map(np.asarray, moved[best]), losses[best]
