"""The escape directions of anyone's data: search, polish, prune, and what is certified."""

from dataclasses import dataclass

import numpy as np

from saddlescope.errors import number_of
from saddlescope.stages.text_table import aligned
from saddlescope.theory.escape.candidates import DEAD, distinct, find_candidates, refine, shares_of
from saddlescope.theory.escape.certificates import NORMS, speed_bound
from saddlescope.theory.escape.collapse import on_sphere
from saddlescope.theory.escape.cost import refuse_too_large
from saddlescope.theory.escape.direction import Direction, describe
from saddlescope.theory.escape.localized import localized_loss
from saddlescope.theory.escape.problem import as_data, check_sizes, problem_of, scaled

NONE, NOT_FOUND = "no first-order escape", "no direction was found"
CERTIFIED, BOUNDED, FOUND = "certified", "bounded", "found"
CLOSED = 1e-8  # of the bound: a gap that counts as none
ROUNDING = 1e-10  # of ‖X‖_op ‖G‖_F, for points of size one
STATIONARY = 1e-2  # a slower point with a larger residual is no direction, but an end that did not converge
NECESSARY = "* Necessary, not sufficient: kinks of this direction depend on each other."


@dataclass(frozen=True, eq=False)
class EscapeDirections:
    """The distinct escape directions that a search found, the fastest first. It prints as a table.

    **Arguments:**

    - `directions`: one `Direction` per distinct speed; none where nothing escapes at first order.
    - `depth`, `width`, `restarts`: what was searched.
    - `dead`: the share of random restarts that ended at speed zero.
    - `bound`: an upper bound of s*.
    - `bound_name`: why it holds.
    - `status`: "certified" where the best speed reaches the bound; "bounded" where it does not;
      "found" where only the norms of the data bound it, which says little.
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

    @property
    def note(self) -> str:
        """Why there is no direction; empty where there is one."""
        if self.directions:
            return ""
        return NONE if self.status == CERTIFIED else NOT_FOUND

    def __str__(self):
        head = f"Escape directions at depth {self.depth}, width {self.width}, {number_of(self.restarts, 'restart')}"
        if not self.directions:
            return f"{head}: {self.note}.\n{self.said_of_bound}"
        names = ("speed", "share", "ranks", "neurons", "ReLU", "residual")
        lines = aligned([names, *map(_row, self.directions)])
        rest = 1 - self.shares.sum() - self.dead
        ends = f"{self.dead:.1%} of the restarts are dead, {max(rest, 0):.1%} did not settle."
        marks = [] if all(d.sufficient for d in self.directions) else [NECESSARY]
        return "\n".join([head, *lines, *marks, ends, self.said_of_bound])

    @property
    def said_of_bound(self) -> str:
        """What is known about s* from above, in one sentence."""
        if self.status == CERTIFIED and not self.directions:
            return f"Certified: no net of this depth leaves at first order ({self.bound_name})."
        if self.status == CERTIFIED:
            return f"Certified: no net of this depth is faster ({self.bound_name})."
        start = "Not certified" if self.status == BOUNDED else "Found by search alone"
        return f"{start}: s* is at most {self.bound:.9g} ({self.bound_name})."


def _row(d):
    return (
        f"{d.speed:.9f}" if 1e-3 <= d.speed < 1e6 else f"{d.speed:.8e}",
        f"{d.share:.1%}",
        "-".join(map(str, d.ranks)),
        "-".join(map(str, d.widths)),
        " ".join(f"{r:.2g}" for r in d.relu),
        f"{d.residual:.0e}{'' if d.sufficient else '*'}",
    )


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
    check_sizes(depth, width, restarts, seed)
    X, G = as_data(X, G)
    refuse_too_large(X, G, depth, width, restarts)
    X, G, size = scaled(X, G)
    problem = problem_of(X, G)
    found = find_candidates(problem.X, problem.G, depth, width, restarts, seed)
    limit = speed_bound(X, G, depth)
    nets, speeds = distinct([*found.weights, *_certified(limit, problem, width)], problem.X, problem.G)
    shares = shares_of(speeds, found.ends)
    described = [describe(problem.weights(w), X, G, share, size) for w, share in zip(nets, shares, strict=True)]
    kept = tuple(d for k, d in enumerate(described) if k == 0 or d.residual <= STATIONARY)
    dead = float(np.mean(found.ends <= DEAD))
    status = _status(speeds.max(initial=0.0) * problem.scale, limit, problem.scale)
    return EscapeDirections(kept, depth, width, restarts, dead, limit.bound * size, limit.name, status)


def _certified(limit, problem, width):
    """The net of the certificate, in the coordinates of the problem, where it is as wide as this or less."""
    if limit.weights is None or max(len(w) for w in limit.weights[:-1]) > width:
        return []
    given = on_sphere([limit.weights[0] @ problem.basis, *limit.weights[1:]])
    small = refine(given, problem.X, problem.G)
    speeds = [-localized_loss(w, problem.X, problem.G) for w in (given, small)]
    return [small if speeds[1] >= speeds[0] * (1 - CLOSED / 10) else given]


def _status(best, limit, scale):
    if best >= limit.bound * (1 - CLOSED) - ROUNDING * scale:
        return CERTIFIED
    return FOUND if limit.name == NORMS else BOUNDED
