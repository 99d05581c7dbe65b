"""Experiment: one figure, table or theorem of a paper, or a question of your own."""

import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import xarray as xr

from saddlescope.claims import Claim
from saddlescope.errors import nearest, require
from saddlescope.numerics import reproducible
from saddlescope.observables.observable import Observable
from saddlescope.results import Results, collect, split_predicted
from saddlescope.setting import Setting
from saddlescope.sweeps import Job, MeasureJob, Plan, PredictJob, TrainJob, filter_points, grid, make_executor, run_plan
from saddlescope.sweeps.analysed import AnalysedJob
from saddlescope.sweeps.job import PREDICTED, as_jobs, at
from saddlescope.tables import Table
from saddlescope.training.save_at import SaveAt

if TYPE_CHECKING:  # theory brings scipy's solvers, which few experiments need
    from saddlescope.theory.prediction import Prediction

Axes = Mapping[str, Iterable[Any]]


@dataclass(frozen=True)
class Experiment:
    """One figure, table or theorem: what is trained and observed, what theory predicts, what is drawn and claimed.

    It is a file; its key is its import path below `papers`, or the file's own path.

    **Arguments:**

    - `title`: what is shown, in one line.
    - `source`: where it stands in the paper.
    - `full`: the axes of the whole experiment: what the paper ran, or more seeds of it.
    - `quick`: a small grid that still shows the effect.
    - `draw`: results to a figure.
    - `drawn`: its caption: what lines, bands and marks are. The numbers of runs and seeds are added.
    - `claims`: sentences with their checks.
    - `setting`: a function of the axes to a setting; to several by name, where a point needs several runs.
    - `measure`: in place of `setting`, for what trains nothing: a function of the axes to numbers.
    - `observe`, `save_at`: what is read off a run, and when; functions of the axes where they differ.
    - `predict`: predictions, put beside the measurement under the same names; a function of the axes where they
      differ. With several settings they see the first; where nothing is trained they see None.
    - `analyse`: analyse(run, setting), in the worker, gives what is kept in place of the curves; with several runs both
      are by name. Further arguments are axes of the point.
    - `follow`: follow(run, setting) names further settings to train once the first are done, such as branches.
    - `keep`: variables of the run to keep beside what `analyse` gives.
    - `where`: a condition that leaves out points, such as "bs <= N".
    - `check_available`: refuses, before the first run, axes whose data is not here.
    - `tables`: results to tables beside the figure.
    - `movie`: results to an animation, where it is asked for.
    """

    title: str
    source: str
    full: Axes
    quick: Axes
    draw: Callable[[Results], Any]
    claims: tuple[Claim, ...]
    drawn: str = ""
    setting: Callable | None = None
    measure: Callable | None = None
    observe: tuple[Observable, ...] | Callable[..., tuple[Observable, ...]] = ()
    save_at: SaveAt | Callable[..., SaveAt] | None = None
    predict: "tuple[Prediction, ...] | Callable" = ()
    analyse: Callable[..., Mapping[str, Any]] | None = None
    follow: Callable[..., Mapping[str, Any]] | None = None
    keep: tuple[str, ...] = ()
    where: str | None = None
    check_available: Callable[[Axes], None] | None = None
    tables: Callable[[Results], Sequence[Table]] | None = None
    movie: Callable[[Results], Any] | None = None

    def __post_init__(self):
        require((self.setting is None) != (self.measure is None), "Give an experiment `setting` or `measure`.")
        require(
            self.setting is not None or not (self.predict or self.analyse or self.follow),
            "`predict`, `analyse` and `follow` need `setting=…`; they cannot be combined with `measure=…`.",
        )
        require(
            self.analyse is not None or not (self.keep or self.follow),
            "`keep` and `follow` go with `analyse=…`; without it all of a run is kept.",
        )
        for axes in (self.full, self.quick):
            self.check_axes(axes)

    @property
    def trains(self) -> bool:
        """Whether anything is trained."""
        return self.setting is not None

    @property
    def axes(self) -> list[str]:
        """The names of its axes."""
        return list(inspect.signature(self.setting or self.measure).parameters)  # type: ignore[arg-type]

    def check_axes(self, axes: Axes):
        """Refuse an axis that the experiment does not have."""
        known = self.axes
        for axis in axes:
            require(
                axis in known,
                f"{self.title!r} has no axis {axis!r}. Its axes are {', '.join(known)}.{nearest(axis, known)}",
            )

    def require_available(self, axes: Axes):
        """Refuse, before anything is run, what cannot be run here because its data are missing."""
        if self.check_available is not None:
            self.check_available(axes)

    def plan(self, axes: Axes, where: str | None = None) -> Plan:
        """What is to be done at every point of the axes."""
        self.check_axes(axes)
        points = grid(**axes)
        for condition in filter(None, (self.where, where)):
            points = filter_points(points, condition)
        require(bool(points), "There is nothing to run: an axis has no values, or the filter leaves no point.")
        return Plan(self.title, points, self.job)

    @reproducible()  # a setting may compute its initial weights
    def job(self, point) -> Job:
        """What is done at one point."""
        if self.setting is None:
            return MeasureJob(self.measure, tuple(point.items()))  # type: ignore[arg-type]
        made = at(self.setting, **point)  # first: it refuses a value that an axis cannot take
        conditional = tuple(p for p in self._at(self.predict, point) if p.conditional)
        record = self._at(self.observe, point), self._at(self.save_at, point) or SaveAt()
        jobs = as_jobs(made, partial(_job, record))
        if self.analyse is None:
            require(list(jobs) == [""], "A point with several settings needs `analyse=…`, which sees all their runs.")
            return TrainJob(jobs[""].setting, *record, predict=conditional)
        given = tuple(jobs.items()), tuple(point.items())
        return AnalysedJob(*given, self.analyse, self.follow, self.keep, conditional)

    @reproducible()
    def prediction(self, point) -> PredictJob:
        """What theory says at one point, from the setting alone."""
        made = at(self.setting, **point)
        first = next(iter(made.values()), None) if isinstance(made, Mapping) else made
        predictions = tuple(p for p in self._at(self.predict, point) if not p.conditional)
        return PredictJob(first.setting if isinstance(first, TrainJob) else first, predictions)

    def run(self, axes: Axes, workers: int = 1, quiet: bool = False, folder=None) -> Results:
        """Measure and predict at every point of the axes; `folder` keeps the runs."""
        self.require_available(axes)
        plan = self.plan(axes)
        with make_executor(workers, plan) as executor:
            runs = [split_predicted(run, PREDICTED) for run in run_plan(plan, folder, executor, quiet)]
            theory = self._theory(plan, folder, executor, quiet)
        measured = collect([run for run, _ in runs], plan.points)
        said = [xr.merge([one, run]) for one, (_, run) in zip(theory, runs, strict=True)]
        return Results(measured, collect(said, plan.points))

    def _theory(self, plan, folder, executor, quiet):
        """What predictions say from the settings alone, point by point."""
        alone = not callable(self.predict) and all(p.conditional for p in self.predict)
        if not self.predict or alone:
            return [xr.Dataset()] * len(plan.points)
        theory = Plan(f"{self.title}: theory", plan.points, self.prediction)
        return run_plan(theory, folder, executor, quiet)

    def _at(self, field, point):
        """A field that may be a function of the axes."""
        return field(**point) if callable(field) else field


def _job(record, setting):
    require(isinstance(setting, Setting), f"`setting` must give a Setting; it gave a {type(setting).__name__}.")
    return TrainJob(setting, *record)
