"""Experiment: one figure, table or theorem of a paper. It is a file; its key is its import path below `papers`."""

import importlib
import inspect
import pkgutil
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import xarray as xr

from saddlescope.claims import Claim
from saddlescope.errors import InvalidInput, nearest, require
from saddlescope.observables.observable import Observable
from saddlescope.results import Results, collect, named
from saddlescope.setting import Setting
from saddlescope.sweeps import Job, MeasureJob, Plan, PredictJob, TrainJob, filter_points, grid, make_executor, run_plan
from saddlescope.sweeps.job import at
from saddlescope.tables import Table
from saddlescope.theory.prediction import Prediction
from saddlescope.training.save_at import SaveAt

Axes = Mapping[str, Iterable[Any]]
FACTS = ("status", "setting", "hash", "engine", "cpu_seconds")


@dataclass(frozen=True)
class Experiment:
    """`setting` is a function of what is swept; `measure` replaces it where nothing is trained.

    `predict`, `observe` and `save_at` are functions of the point where they differ between points. `quick` has as few
    points as still show the effect, `full` what the paper ran or more seeds of it; `among` leaves out points, as in
    "bs <= N". `digest` says what of a run is kept where its curves would be too much; `tables` come beside the figure,
    `movie` makes an animation of it, where it is asked for. `needs` refuses, before the first run, axes whose data is
    not here.
    """

    title: str
    where: str
    full: Axes
    quick: Axes
    draw: Callable[[Results], Any]
    claims: tuple[Claim, ...]
    setting: Callable | None = None
    measure: Callable | None = None
    observe: tuple[Observable, ...] | Callable[..., tuple[Observable, ...]] = ()
    save_at: SaveAt | Callable[..., SaveAt] | None = None
    predict: tuple[Prediction, ...] | Callable = ()
    digest: Callable[[xr.Dataset, Setting], Mapping[str, Any]] | None = None
    among: str | None = None
    needs: Callable[[Axes], None] | None = None
    tables: Callable[[Results], Sequence[Table]] | None = None
    movie: Callable[[Results], Any] | None = None

    def __post_init__(self):
        require((self.setting is None) != (self.measure is None), "Give an experiment `setting` or `measure`.")
        require(self.setting is not None or not self.predict, "`predict` speaks of a setting; `measure` has none.")
        for axes in (self.full, self.quick):
            self.check_axes(axes)

    @property
    def varies(self) -> Callable:
        return self.setting or self.measure  # type: ignore[return-value]

    def check_axes(self, axes):
        known = list(inspect.signature(self.varies).parameters)
        for axis in axes:
            require(
                axis in known, f"{self.title!r} has no axis {axis!r}, but {', '.join(known)}.{nearest(axis, known)}"
            )

    def check_needs(self, axes: Axes):
        """Refuse, before anything is run, what cannot be run here for want of data."""
        if self.needs is not None:
            self.needs(axes)

    def plan(self, axes: Axes, where: str | None = None) -> Plan:
        """What is to be done at every point of the axes."""
        self.check_axes(axes)
        points = grid(**axes)
        for condition in filter(None, (self.among, where)):
            points = filter_points(points, condition)
        require(bool(points), "There is nothing to run: an axis has no values, or the filter leaves no point.")
        return Plan(self.title, points, self.job)

    def job(self, point) -> Job:
        if self.setting is None:
            return MeasureJob(self.varies, tuple(point.items()))
        setting = at(self.setting, **point)  # first: it refuses a value that an axis cannot take
        when = self.save_at(**point) if callable(self.save_at) else self.save_at
        observe = self.observe(**point) if callable(self.observe) else self.observe
        return TrainJob(setting, observe, when or SaveAt())

    def run(self, axes: Axes, workers=1, quiet=False, folder=None) -> Results:
        """Measure and predict at every point of the axes; `folder` keeps the runs of an experiment under way."""
        plan = self.plan(axes)
        with make_executor(workers, plan) as hands:
            measured = run_plan(plan, folder, hands, quiet, self.kept)
            if not self.predict:
                return Results(measured, collect([xr.Dataset()] * len(plan.points), plan.points))
            theory = Plan(f"{self.title}: theory", plan.points, self.prediction)
            return Results(measured, run_plan(theory, folder, hands, quiet))

    def kept(self, run: xr.Dataset) -> xr.Dataset:
        """The run, or its digest with what tells where it comes from."""
        if self.digest is None:
            return run
        setting = Setting.from_json(str(run.setting.values))
        found = self.digest(run, setting)
        both = set(found) & set(inspect.signature(self.varies).parameters)
        require(not both, f"What is kept of a run and an axis have one name, {', '.join(both)}: rename one.")
        return xr.merge([run[[name for name in FACTS if name in run]], named(found)])

    def prediction(self, point) -> PredictJob:
        predictions = self.predict(**point) if callable(self.predict) else self.predict
        return PredictJob(self.setting(**point), tuple(predictions))  # type: ignore[misc]


# ---- CheckResult experiments: the only names are import paths. ----


def keys() -> list[str]:
    """All experiments: `simplicity.fig1b` is the file papers/simplicity/fig1b.py. Files that begin with an underscore
    hold what several experiments share."""
    papers = importlib.import_module("saddlescope.papers")
    found = []
    for paper in pkgutil.iter_modules(papers.__path__):
        package = importlib.import_module(f"saddlescope.papers.{paper.name}")
        files = (m.name for m in pkgutil.iter_modules(package.__path__))
        found += [f"{paper.name}.{name}" for name in files if name[0] != "_"]
    return found


def matching(key: str) -> list[str]:
    """The experiments a key names: one, all of a paper, or `all`."""
    known = keys()
    chosen = [k for k in known if key in ("all", k, k.partition(".")[0])]
    if not chosen:
        names = [*known, *{k.partition(".")[0] for k in known}, "all"]
        raise InvalidInput(f"No experiment is called {key!r}.{nearest(key, names)} `saddlescope list` shows them all.")
    return chosen


def find(key: str) -> Experiment:
    return importlib.import_module(f"saddlescope.papers.{key}").experiment
