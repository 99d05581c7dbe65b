"""The escape directions of anyone's data: search, polish, prune, and what is certified."""

from dataclasses import dataclass

import numpy as np

from saddlescope.errors import number_of
from saddlescope.stages.text_table import aligned
from saddlescope.theory.escape.candidates import DEAD, find_candidates, shares_of
from saddlescope.theory.escape.certificates import speed_bound
from saddlescope.theory.escape.cost import refuse_too_large
from saddlescope.theory.escape.direction import Direction, describe
from saddlescope.theory.escape.localized import norm_of
from saddlescope.theory.escape.problem import as_data, check_sizes, problem_of

NONE = "no first-order escape"
CERTIFIED, BOUNDED = "certified", "bounded"
CLOSED = 1e-8  # of ‖X‖_op ‖G‖_F, for points of size one: a gap that counts as none
STATIONARY = 1e-2  # a slower point with a larger residual is no direction, but an end that did not converge


@dataclass(frozen=True, eq=False)
class EscapeDirections:
    """The distinct escape directions that a search found, the fastest first. It prints as a table.

    **Arguments:**

    - `directions`: one `Direction` per distinct speed; none where nothing escapes at first order.
    - `depth`, `width`, `restarts`: what was searched.
    - `dead`: the share of random restarts that ended at speed zero.
    - `bound`: an upper bound of s*.
    - `bound_name`: why it holds.
    - `status`: "certified" where the best speed reaches the bound, "bounded" where it does not.
    """

    directions: tuple[Direction, ...]
    depth: int
    width: int
    restarts: int
    dead: float
    bound: float
    bound_name: str
    status: str

    @property
    def speeds(self) -> np.ndarray:
        """Distinct speeds, the largest first."""
        return np.array([d.speed for d in self.directions])

    @property
    def shares(self) -> np.ndarray:
        """The share of random restarts at each speed; what is missing to one is dead or did not settle."""
        return np.array([d.share for d in self.directions])

    @property
    def best(self) -> Direction | None:
        """The fastest direction; None where nothing escapes at first order."""
        return self.directions[0] if self.directions else None

    def __str__(self):
        head = f"Escape directions at depth {self.depth}, width {self.width}, {number_of(self.restarts, 'restart')}"
        if not self.directions:
            return f"{head}: {NONE}." if self.status == CERTIFIED else f"{head}: nothing found.\n{self.said_of_bound}"
        names = ("speed", "share", "ranks", "neurons", "ReLU", "residual")
        lines = aligned([names, *map(_row, self.directions)])
        rest = 1 - self.shares.sum() - self.dead
        ends = f"{self.dead:.1%} of the restarts are dead, {max(rest, 0):.1%} did not settle."
        return "\n".join([head, *lines, ends, self.said_of_bound])

    @property
    def said_of_bound(self) -> str:
        """What is known about s* from above, in one sentence."""
        if self.status == CERTIFIED and not self.directions:
            return f"Certified: no net of this depth leaves at first order ({self.bound_name})."
        if self.status == CERTIFIED:
            return f"Certified: no net of this depth is faster ({self.bound_name})."
        return f"Not certified: s* is at most {self.bound:.9g} ({self.bound_name})."


def _row(d):
    return (
        f"{d.speed:.9f}", f"{d.share:.1%}", "-".join(map(str, d.ranks)), "-".join(map(str, d.widths)),
        " ".join(f"{r:.2g}" for r in d.relu), f"{d.residual:.0e}",
    )  # fmt: skip


def escape_directions(
    X: np.ndarray,
    G: np.ndarray,
    depth: int = 3,
    width: int = 16,
    restarts: int = 200,
    seed: int = 0,
) -> EscapeDirections:
    """Search the directions in which a bias-free ReLU net leaves the origin.

    An escape direction is a stationary point of L0(θ) = Tr[Gᵀ Y_θ] on ‖θ‖² = L; its speed is −L0. All restarts descend
    in one compiled batch, with starts lifted from shallower nets (Prop. 3.2). The best few are polished by BFGS and
    pruned.

    **Arguments:**

    - `X`: inputs, of shape (inputs, points).
    - `G`: the gradient of the loss by the outputs at zero output, of shape (outputs, points).
    - `depth`: the number of layers, 2 or more.
    - `width`: neurons per hidden layer.
    - `restarts`: random starts.
    - `seed`: random seed of the starts.
    """
    check_sizes(depth, width, restarts)
    X, G = as_data(X, G)
    refuse_too_large(X, G, depth, width, restarts)
    problem = problem_of(X, G)
    found = find_candidates(problem.X, problem.G, depth, width, restarts, seed)
    shares = shares_of(found.speeds, found.ends)
    described = [describe(problem.weights(w), X, G, share) for w, share in zip(found.weights, shares, strict=True)]
    kept = tuple(d for k, d in enumerate(described) if k == 0 or d.residual <= STATIONARY)
    limit = speed_bound(X, G, depth)
    gap = CLOSED * problem.scale
    kept = _with_certified(kept, limit, X, G, width, gap)
    best = kept[0].speed if kept else 0.0
    dead = float(np.mean(found.ends <= DEAD))
    status = CERTIFIED if best >= limit.bound - gap else BOUNDED
    return EscapeDirections(kept, depth, width, restarts, dead, limit.bound, limit.name, status)


def _with_certified(kept, limit, X, G, width, gap):
    """The weights of the certificate first, where no restart reached them and the net is wide enough for them."""
    better = limit.weights is not None and limit.speed > (kept[0].speed if kept else 0.0) + gap
    if not better or max(len(w) for w in limit.weights[:-1]) > width:
        return kept
    scale = np.sqrt(len(limit.weights)) / norm_of(limit.weights)
    return (describe([scale * w for w in limit.weights], X, G, 0.0), *kept)
