"""Experiment: one figure, table or theorem of a paper. It is a file; its key is its import path below `papers`."""

import importlib
import inspect
import pkgutil
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import xarray as xr

from saddlescope.claims import Claim
from saddlescope.observables.observable import Observable
from saddlescope.refusal import Refusal, nearest, refuse_unless
from saddlescope.results import Results, collect
from saddlescope.sweeps import Job, Measuring, Plan, Training, carry_out, grid, only
from saddlescope.sweeps.job import at
from saddlescope.theory.prediction import Prediction
from saddlescope.training.save_at import SaveAt

Axes = Mapping[str, Iterable[Any]]


@dataclass(frozen=True)
class Experiment:
    """`setting` is a function of what is swept; `measure` replaces it where nothing is trained.

    `predict` is a tuple of predictions, or a function of the point where they differ. `quick` has as few points as
    still show the effect, `full` what the paper ran or more seeds of it.
    """

    title: str
    where: str
    full: Axes
    quick: Axes
    draw: Callable[[Results], Any]
    claims: tuple[Claim, ...]
    setting: Callable | None = None
    measure: Callable | None = None
    observe: tuple[Observable, ...] = ()
    save_at: SaveAt | None = None
    predict: tuple[Prediction, ...] | Callable = ()

    def __post_init__(self):
        refuse_unless((self.setting is None) != (self.measure is None), "Give an experiment `setting` or `measure`.")
        for axes in (self.full, self.quick):
            self.check_axes(axes)

    @property
    def varies(self) -> Callable:
        return self.setting or self.measure  # type: ignore[return-value]

    def check_axes(self, axes):
        known = list(inspect.signature(self.varies).parameters)
        for axis in axes:
            refuse_unless(
                axis in known, f"{self.title!r} has no axis {axis!r}, but {', '.join(known)}.{nearest(axis, known)}"
            )

    def plan(self, axes: Axes, where: str | None = None) -> Plan:
        """What is to be done at every point of the axes."""
        self.check_axes(axes)
        points = grid(**axes)
        points = only(points, where) if where else points
        refuse_unless(bool(points), "There is nothing to run: an axis has no values, or the filter leaves no point.")
        return Plan(self.title, points, self.job)

    def job(self, point) -> Job:
        if self.setting is None:
            return Measuring(self.varies, tuple(point.items()))
        return Training(at(self.setting, **point), self.observe, SaveAt() if self.save_at is None else self.save_at)

    def run(self, axes: Axes, workers=1, quiet=False, folder=None) -> Results:
        """Measure and predict at every point of the axes; `folder` keeps the runs of an experiment under way."""
        plan = self.plan(axes)
        measured = carry_out(plan, folder, workers, quiet=quiet)
        return Results(measured, collect([self.predicted(point) for point in plan.points], plan.points))

    def predicted(self, point) -> xr.Dataset:
        if self.setting is None:
            return xr.Dataset()
        setting, variables = self.setting(**point), {}
        for prediction in self.predict(**point) if callable(self.predict) else self.predict:
            variables |= prediction(setting)
        return xr.Dataset(variables)


# ---- Finding experiments: the only names are import paths. ----


def keys() -> list[str]:
    """All experiments: `simplicity.fig1b` is the file papers/simplicity/fig1b.py."""
    papers = importlib.import_module("saddlescope.papers")
    found = []
    for paper in pkgutil.iter_modules(papers.__path__):
        package = importlib.import_module(f"saddlescope.papers.{paper.name}")
        found += [f"{paper.name}.{m.name}" for m in pkgutil.iter_modules(package.__path__)]
    return found


def matching(key: str) -> list[str]:
    """The experiments a key names: one, all of a paper, or `all`."""
    known = keys()
    chosen = [k for k in known if key in ("all", k, k.partition(".")[0])]
    if not chosen:
        names = [*known, *{k.partition(".")[0] for k in known}, "all"]
        raise Refusal(f"No experiment is called {key!r}.{nearest(key, names)} `saddlescope list` shows them all.")
    return chosen


def find(key: str) -> Experiment:
    return importlib.import_module(f"saddlescope.papers.{key}").experiment
