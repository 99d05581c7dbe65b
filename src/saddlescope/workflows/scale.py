"""How much of an experiment is run: its quick grid, its full grid, a part of one of them, or other axes."""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from saddlescope.experiment import Experiment
from saddlescope.results import Results

SCALES = ("full", "quick")


@dataclass(frozen=True)
class Scale:
    """A grid of an experiment, and how it compares with the grid that the experiment itself names.

    **Arguments:**

    - `name`: "full" or "quick": the grid that the axes start from, and the folder that results go to.
    - `axes`: the values of every axis.
    - `runs`: points of these axes.
    - `grid_runs`: points of the experiment's own grid of that name.
    - `within`: whether every point is also a point of that grid.
    """

    name: str
    axes: Mapping[str, Iterable[Any]]
    runs: int
    grid_runs: int
    within: bool = True

    @property
    def is_whole(self) -> bool:
        """Whether this is the experiment's own grid: only then is it compared with the record."""
        return self.within and self.runs == self.grid_runs

    @property
    def label(self) -> str:
        """`full`, `part of full: 7 of 140 runs`, `other axes than full: 40 runs`."""
        if self.is_whole:
            return self.name
        runs = f"{self.runs} run{'s' * (self.runs != 1)}"
        if not self.within:
            return f"other axes than {self.name}: {runs}"
        return f"part of {self.name}: {self.runs} of {self.grid_runs} runs"


def choose_scale(experiment: Experiment, name: str, axes: Mapping[str, Iterable[Any]] | None = None) -> Scale:
    """The grid of this name, with `axes` in place of its own axes of the same names."""
    experiment.check_axes(axes or {})
    asked = {**getattr(experiment, name), **(axes or {})}
    return _compared(experiment, name, asked, experiment.plan(asked).points)


def stored_scale(experiment: Experiment, name: str, results: Results) -> Scale:
    """The same of stored results: their points are read off the axes that are stored."""
    measured, known = results.measured, getattr(experiment, name)
    axes = {axis: measured[axis].values.tolist() for axis in known if axis in measured.coords}
    points = [dict(zip(axes, values, strict=True)) for values in zip(*axes.values(), strict=True)]
    if not axes:  # an experiment without axes is one point
        points = [{}] * measured.sizes["run"]
    return _compared(experiment, name, {a: list(dict.fromkeys(v)) for a, v in axes.items()}, points)


def _compared(experiment, name, axes, points) -> Scale:
    own = {_key(point) for point in experiment.plan(getattr(experiment, name)).points}
    within = all(_key(point) in own for point in points)
    return Scale(name, axes, len(points), len(own), within)


def _key(point: Mapping) -> frozenset:
    """A point as it is before and after storing: 1 may come back as 1.0, None as NaN, an object as its name."""
    return frozenset((axis, _text(value)) for axis, value in point.items())


def _text(value) -> str:
    value = value.item() if hasattr(value, "item") else value
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return ""
    return f"{float(value):.17g}" if isinstance(value, bool | int | float) else str(value)
