"""What `saddlescope escape` does: the search on the user's data, and when a run would leave the origin."""

from itertools import pairwise
from typing import NamedTuple

import numpy as np

from saddlescope.errors import number_of, require
from saddlescope.sweeps.progress import duration
from saddlescope.theory.escape.blow_up import escape_time
from saddlescope.theory.escape.cost import search_cost
from saddlescope.theory.escape.directions import EscapeDirections, escape_directions
from saddlescope.theory.escape.problem import as_data, check_sizes
from saddlescope.workflows.escape_data import EscapeData

DRAWS = 5  # initial weights for which the time is predicted
LONG = 10  # seconds of a search that are said beforehand
LEVEL = 0.005  # ‖Y‖_F over N‖G‖_F at which a net has left: 1 % of the targets under the squared loss


class Escape(NamedTuple):
    """The answer to a user's question.

    **Arguments:**

    - `data`: what was read.
    - `found`: the escape directions.
    - `seed`: of the search and of the initial weights.
    - `start`: standard deviation of initial weights and learning rate, where a time was asked for.
    - `steps`: steps to the escape, one per draw of initial weights; empty where it was not asked for.
    """

    data: EscapeData
    found: EscapeDirections
    seed: int
    start: tuple[float, float] | None
    steps: np.ndarray

    @property
    def level(self) -> float:
        """‖Y‖_F at which a net has left the origin."""
        return float(LEVEL * self.data.G.shape[1] * np.linalg.norm(self.data.G))

    def __str__(self):
        X, G = self.data.X, self.data.G
        sizes = f"{number_of(X.shape[1], 'point')}, {number_of(len(X), 'input')}, {number_of(len(G), 'output')}"
        return "\n".join(filter(None, [f"{sizes}; {self.data.origin}", str(self.found), self.said_of_time]))

    @property
    def said_of_time(self) -> str:
        """When a run leaves the origin, in a sentence; empty where it was not asked for."""
        if not self.steps.size:
            return ""
        finite = self.steps[np.isfinite(self.steps)]
        if np.isinf(self.steps).all():
            return "Predicted escape: none of the initial weights drawn leaves the origin."
        if not finite.size:
            return "Predicted escape: the flow from the initial weights drawn did not settle in time."
        if not finite.max():
            return f"Predicted escape: none, since ‖Y‖ is above {self.level:.3g} from the start; use a smaller --std."
        spread = f"{np.median(finite):,.0f} steps (from {finite.min():,.0f} to {finite.max():,.0f}"
        draws = f"over {len(finite)} of {len(self.steps)} draws)"
        return f"Predicted escape: {spread} {draws}, when ‖Y‖ = {self.level:.3g}."

    def as_json(self) -> dict:
        """Everything that is printed, as values."""
        found = self.found
        fields = (
            "speed",
            "share",
            "ranks",
            "widths",
            "ratios",
            "relu",
            "imbalance",
            "residual",
            "sufficient",
            "plain_residual",
        )
        directions = [{name: _plain(getattr(d, name)) for name in fields} for d in found.directions]
        steps = [float(s) if np.isfinite(s) else None for s in self.steps]
        return {
            "points": self.data.X.shape[1],
            "inputs": len(self.data.X),
            "outputs": len(self.data.G),
            "gradient": self.data.origin,
            "depth": found.depth,
            "width": found.width,
            "restarts": found.restarts,
            "seed": self.seed,
            "directions": directions,
            "note": found.note,
            "dead": found.dead,
            "status": found.status,
            "said_of_bound": found.said_of_bound,
            "bound": found.bound,
            "bound_name": found.bound_name,
            "std": self.start and self.start[0],
            "lr": self.start and self.start[1],
            "escape_level": self.level if steps else None,
            "escape_steps": steps,
        }


def search_escape(data: EscapeData, depth, width, restarts, seed, std=None, lr=None) -> Escape:
    """Search the directions of these data; with `std` and `lr`, predict when a run leaves the origin."""
    require((std is None) == (lr is None), "The escape time needs both --std and --lr; give both or neither.")
    start = None if std is None or lr is None else (std, lr)
    good = start is None or all(0 < v < np.inf for v in start)
    require(good, f"--std and --lr must be positive; got {std} and {lr}.")
    found = escape_directions(data.X, data.G, depth, width, restarts, seed)
    answer = Escape(data, found, seed, start, np.zeros(0))
    if start is None or not found.directions:
        return answer
    draws = [draw_weights(data, depth, width, start[0], (seed, k)) for k in range(DRAWS)]
    steps = [escape_time(weights, data.X, data.G, start[1], answer.level) for weights in draws]
    return answer._replace(steps=np.array(steps))


def draw_weights(data: EscapeData, depth, width, std, seed) -> list[np.ndarray]:
    """Initial weights of a net for these data: normal, with this standard deviation."""
    rng = np.random.default_rng(seed)
    widths = [len(data.X), *([width] * (depth - 1)), len(data.G)]
    return [std * rng.standard_normal((b, a)) for a, b in pairwise(widths)]


def check_time(data: EscapeData, depth, width, restarts, hours: float, seed=0) -> str:
    """Refuse a search that takes longer than so many hours; how long it takes, where that is worth saying."""
    check_sizes(depth, width, restarts, seed)
    require(hours > 0, f"--hours must be positive; got {hours:g}.")
    X, G = as_data(data.X, data.G)
    seconds = search_cost(X, G, depth, width, restarts).seconds
    share = 3600 * hours / seconds
    require(
        share >= 1,
        f"This search would take about {duration(seconds)} on one core: use fewer points (about "
        f"{max(1, int(share * X.shape[1])):,} of {X.shape[1]:,} fit into {hours:g} h), restarts or neurons, or "
        f"allow it with --hours {np.ceil(seconds / 3600):.0f}.",
    )
    return f"about {duration(seconds)} on one core" if seconds > LONG else ""


def _plain(value):
    return list(value) if isinstance(value, tuple) else value
