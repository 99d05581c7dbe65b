"""What `saddlescope meanfield` does: the limit of a net on the user's points, and finite nets beside it."""

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import xarray as xr

from saddlescope.errors import InvalidInput, nearest, number_of, require
from saddlescope.figures.meanfield import draw_flow
from saddlescope.meanfield import Limit, Measure, StartLaw, meanfield
from saddlescope.meanfield.flow import Flow
from saddlescope.meanfield.laws import GaussianMixing
from saddlescope.meanfield.measure import as_measure
from saddlescope.nets import Erf, LeakyReLU, ReLU, RoundedLeakyReLU, Sigmoid, Tanh
from saddlescope.workflows.points_file import is_points_file, read_points
from saddlescope.workflows.train_run import find_run

ACTIVATIONS = {
    "leaky": LeakyReLU(0.1),
    "relu": ReLU(),
    "tanh": Tanh(),
    "sigmoid": Sigmoid(),
    "erf": Erf(),
    "rounded": RoundedLeakyReLU(),
}
DRAWN = 5  # nets of the largest width whose losses are drawn


class LimitAnswer(NamedTuple):
    """The answer to a user's question.

    **Arguments:**

    - `name`: of the points, as they were asked for.
    - `limit`: what was solved.
    - `flow`: its flow.
    - `nets`: flows of some nets of the largest width.
    - `distances`: of nets to the limit; None where none were asked for, or nothing moves.
    - `escapes`: when nets leave a start that is stationary, by width.
    """

    name: str
    limit: Limit
    flow: Flow
    nets: tuple[Flow, ...]
    distances: xr.Dataset | None
    escapes: dict[int, float]

    @property
    def title(self) -> str:
        """What was solved, in one line."""
        limit = self.limit
        measure, phi = limit.measure, type(limit.activation).__name__
        sizes = f"{number_of(len(measure.x), 'point')}, {number_of(measure.inputs, 'input')}"
        return f"{sizes}; rank {limit.rank}, {number_of(limit.depth + 1, 'block')}, {phi}"

    def __str__(self):
        lines = [self.title, *str(self.flow).splitlines()]
        lines += [f"a net of width {n} leaves at about time {t:.3g}" for n, t in self.escapes.items()]
        return "\n".join([*lines, *self._said_of_distances()])

    def _said_of_distances(self):
        d = self.distances
        if d is None:
            return []
        rms, sup = (np.sqrt((d[name].values ** 2).mean(axis=1)) for name in ("rms", "sup"))
        rows = [f"{n:>7}  {a:<10.3g}  {b:.3g}" for n, a, b in zip(d.width.values, rms, sup, strict=True)]
        slopes = [d.attrs[f"slope_{name}"] for name in ("rms", "sup")]
        last = [] if np.isnan(slopes[0]) else ["  slope  {:<10.2f}  {:.2f}".format(*slopes)]
        head = f"distance of weights to the limit, {number_of(d.sizes['seed'], 'net')} per width"
        return [head, "  width  rms         largest", *rows, *last]

    def as_json(self) -> dict:
        """Everything that is printed, as values."""
        data, d = self.flow.data, self.distances
        found = {name: data.attrs[name] for name in ("solver", "error", "steps", "on_floor", "note")}
        return found | {
            "name": self.name,
            "title": self.title,
            "rank": self.limit.rank,
            "depth": self.limit.depth,
            "time": data.time.values.tolist(),
            "loss": data.loss.values.tolist(),
            "output": data.output.values[-1].tolist(),
            "target": data.y.values.tolist(),
            "escape_time": {str(n): t for n, t in self.escapes.items()},
            "widths": [] if d is None else d.width.values.tolist(),
            "distance": {} if d is None else {name: d[name].values.tolist() for name in ("rms", "sup", "output")},
            "slope": {} if d is None else {n: _number(d.attrs[f"slope_{n}"]) for n in ("rms", "sup", "output")},
        }

    def draw(self, path: Path):
        """Write the figure."""
        nets = tuple(net.data for net in self.nets)
        draw_flow(self.flow.data, self.title, self.flow.between(), path, nets, self.distances)


def points_of(what: str) -> Measure:
    """Points from a file, or those of a run by its name."""
    if is_points_file(what):
        return read_points(what)
    try:
        return as_measure(find_run(what, {}).job.setting.task)
    except InvalidInput as error:
        hint = f"Give a .csv, .npy or .npz file of points, or the name of a run such as f1_N64_bs4_L2: {error}"
        raise InvalidInput(hint) from None


def limit_of(what: str, rank: int, depth: int, activation: str, start: StartLaw, mixing_bias: float) -> Limit:
    """The limit that was asked for."""
    require(
        activation in ACTIVATIONS,
        f"The activation is {', '.join(ACTIVATIONS)}; got {activation!r}.{nearest(activation, ACTIVATIONS)}",
    )
    mixing = GaussianMixing(1.0, mixing_bias)
    return meanfield(points_of(what), rank, depth, ACTIVATIONS[activation], mixing=mixing, start=start)


def follow_limit(name: str, limit: Limit, T: float, widths: Sequence[int], seeds: int, **options) -> LimitAnswer:
    """Follow the limit; with widths, draw nets and measure their distance.

    **Arguments:**

    - `name`: of the points.
    - `limit`: what to solve.
    - `T`: the end.
    - `widths`: of the nets.
    - `seeds`: nets per width.
    - `options`: of `Limit.flow`.
    """
    require(seeds >= 1, f"--seeds must be 1 or more; got {seeds}.")
    flow = limit.flow(T, **options)
    nets = tuple(limit.net(max(widths), s).flow(T) for s in range(min(seeds, DRAWN))) if widths else ()
    still = bool(limit.note)
    escapes = _escapes(limit, widths) if still else {}
    far = limit.distance(widths, range(seeds), T, **options) if widths and not still else None
    return LimitAnswer(name, limit, flow, nets, far, escapes)


def _escapes(limit, widths):
    """When nets leave, by width; nothing where no formula is known."""
    try:
        return {n: limit.escape_time(n) for n in widths}
    except InvalidInput:
        return {}


def _number(value):
    return None if np.isnan(value) else value
