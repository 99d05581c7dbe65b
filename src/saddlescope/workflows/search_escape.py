"""What `saddlescope escape` does: the search on the user's data, and when a run would leave the origin."""

from itertools import pairwise
from typing import NamedTuple

import numpy as np

from saddlescope.errors import number_of, require
from saddlescope.theory.escape.directions import NONE, EscapeDirections, escape_directions
from saddlescope.workflows.escape_data import EscapeData

DRAWS = 5  # initial weights for which the time is predicted
LEVEL = 0.1  # root mean square of the outputs at which a net has left


class Escape(NamedTuple):
    """The answer to a user's question.

    **Arguments:**

    - `data`: what was read.
    - `found`: the escape directions.
    - `steps`: steps to the escape, one per draw of initial weights; empty where it was not asked for.
    """

    data: EscapeData
    found: EscapeDirections
    steps: np.ndarray

    def __str__(self):
        X, G = self.data.X, self.data.G
        sizes = f"{number_of(X.shape[1], 'point')}, {number_of(len(X), 'input')}, {number_of(len(G), 'output')}"
        return "\n".join([f"{sizes}; {self.data.origin}", str(self.found), *self._time()])

    def _time(self):
        if not self.steps.size:
            return []
        finite = self.steps[np.isfinite(self.steps)]
        if not finite.size:
            return ["Predicted escape: none of the initial weights drawn leaves the origin."]
        spread = f"{np.median(finite):,.0f} steps (from {finite.min():,.0f} to {finite.max():,.0f}"
        return [f"Predicted escape: {spread} over {len(finite)} of {len(self.steps)} draws)."]

    def as_json(self) -> dict:
        """Everything that is printed, as values."""
        found = self.found
        fields = ("speed", "share", "ranks", "widths", "ratios", "relu", "imbalance", "residual", "plain_residual")
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
            "directions": directions,
            "note": "" if directions else NONE,
            "dead": found.dead,
            "status": found.status,
            "bound": found.bound,
            "bound_name": found.bound_name,
            "escape_steps": steps,
        }


def search_escape(data: EscapeData, depth, width, restarts, seed, std=None, lr=None) -> Escape:
    """Search the directions of these data; with `std` and `lr`, predict when a run leaves the origin."""
    require((std is None) == (lr is None), "The escape time needs both --std and --lr; give both or neither.")
    require(std is None or (std > 0 and lr > 0), f"--std and --lr must be positive; got {std} and {lr}.")
    found = escape_directions(data.X, data.G, depth, width, restarts, seed)
    timed = std is not None and bool(found.directions)
    steps = [_steps(data, depth, width, std, lr, (seed, k)) for k in range(DRAWS)] if timed else []
    return Escape(data, found, np.array(steps, float))


def _steps(data, depth, width, std, lr, seed):
    """Steps of descent from normal weights until the outputs have reached `LEVEL`."""
    from saddlescope.theory.escape.blow_up import escape_time

    rng = np.random.default_rng(seed)
    widths = [len(data.X), *([width] * (depth - 1)), len(data.G)]
    weights = [std * rng.standard_normal((b, a)) for a, b in pairwise(widths)]
    return escape_time(weights, data.X, data.G, lr, LEVEL * np.sqrt(data.G.size))


def _plain(value):
    return list(value) if isinstance(value, tuple) else value
