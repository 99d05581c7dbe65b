"""From a plan to one dataset: in a folder that is kept, or one that lasts as long as the call."""

import os
import tempfile
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Executor
from contextlib import contextmanager, nullcontext
from functools import partial
from pathlib import Path

import xarray as xr

from saddlescope.errors import InvalidInput, number_of, require, require_kind
from saddlescope.observables.observable import Observable
from saddlescope.results import RAGGED, WORD, collect
from saddlescope.setting import Setting
from saddlescope.sweeps.axes import format_point
from saddlescope.sweeps.folder import Folder
from saddlescope.sweeps.job import TrainJob, at
from saddlescope.sweeps.plan import Plan
from saddlescope.sweeps.pool import Workers
from saddlescope.sweeps.scheduler import Scheduler
from saddlescope.sweeps.tally import Tally
from saddlescope.training import SaveAt

NAMES = {*RAGGED, "run", "loss", "learning_rate", "step_loss", "finite", "length", "saved_length", "event_length"}


def sweep(
    setting: Callable[..., Setting],
    points: Iterable[dict],
    observe: Observable | tuple[Observable, ...] = (),
    save_at: SaveAt | None = None,
    *,
    folder: str | Path | None = None,
    workers: int = 1,
    executor: Executor | None = None,
    per_step: bool = False,
    quiet: bool = False,
    title: str = "sweep",
) -> xr.Dataset:
    """Train `setting(**point)` for every point; one dataset with a dimension `run`.

    **Arguments:**

    - `setting`: a function from a point to a `Setting`.
    - `points`: the points, such as `grid(lr=(0.1, 0.01), seed=range(3))`.
    - `observe`, `save_at`, `per_step`: as of `train`.
    - `folder`: keeps one file per run. Called again, only what is missing is trained.
    - `workers`: how many processes train; one is this process.
    - `executor`: in place of workers, any `concurrent.futures.Executor` whose workers see the folder.
    - `quiet`: show no progress.
    - `title`: what the progress is headed with.
    """
    observe = (observe,) if isinstance(observe, Observable) else tuple(observe)
    for o in observe:
        require_kind(o, Observable, "`observe` takes observables such as FullLoss()")
    require(len(points := list(points)) > 0, "There is nothing to run: the list of points is empty.")
    record = observe, SaveAt() if save_at is None else save_at, per_step
    plan = Plan(title, points, partial(training, setting, *record))
    with nullcontext(executor) if executor is not None else make_executor(workers, plan) as hands:
        return collect(run_plan(plan, folder, hands, quiet), plan.points)


def training(setting, observe, save_at, per_step, point):
    made = at(setting, **point)
    require_kind(made, Setting, "`setting` must be a function that makes a Setting")
    return TrainJob(made, observe, save_at, per_step)


@contextmanager
def make_executor(workers: int, plan: Plan) -> Iterator[Executor | None]:
    """An executor for the jobs of the plan, for as long as the block lasts: as many processes as asked for, at most one
    per job; None, for this very process, where that is one."""
    count = isinstance(workers, int) and workers >= 1
    require(count, f"`workers` must be a positive number of processes, got {workers!r}.")
    if min(workers, len(plan.points)) == 1:
        yield None
        return
    with processes(min(workers, len(plan.points))) as pool:
        yield pool


@contextmanager
def processes(count: int):
    """Worker processes that end with the block; what is still under way then writes its checkpoint."""
    pool = Workers(count)
    try:
        yield pool
    finally:
        pool.stop()


def run_plan(
    plan: Plan,
    folder: str | Path | None = None,
    executor: Executor | None = None,
    quiet: bool = False,
) -> list[xr.Dataset]:
    """Do all that a plan asks for and is not there yet; its runs in the order of its points."""
    check_axes(plan)
    with kept(folder) as place:
        if folder is not None:
            check_storable(plan)
            for name in place.failures().keys() & set(plan.names):  # a call that needs every run tries again
                place.forget_failure(name)
        _refuse_failures(Scheduler(plan, place, executor, quiet=quiet).loop())
        return [place.read(name) for name in plan.names]


@contextmanager
def kept(folder):
    """A sweep's folder; without one, a place that is gone afterwards and need not survive the machine."""
    if folder is not None:
        yield Folder(os.path.abspath(folder))
        return
    with tempfile.TemporaryDirectory(prefix="saddlescope-") as scratch:
        yield Folder(scratch, durable=False)


def check_axes(plan: Plan):
    """Refuse an axis that collecting could not name, before the first run and not after the last."""
    job = plan.job(plan.points[0]) if plan.points else None
    own = {o.name for o in job.observe} if isinstance(job, TrainJob) else set()
    for axis in plan.points[0] if plan.points else ():
        taken = axis in own or axis in NAMES or not WORD.fullmatch(axis)
        require(not taken, f"{axis!r} cannot be an axis name: it is reserved, or not a valid identifier.")


def check_storable(plan: Plan):
    for point in plan.points[:1]:
        plan.job(point).check_storable()


def _refuse_failures(tally: Tally):
    if tally.stopped:
        raise InvalidInput(f"The sweep stopped: {tally.stopped}. What is done is kept; the same call resumes.")
    if tally.failed:
        point, reason = next(iter(tally.failed.values()))
        count = f"{len(tally.failed)} of {number_of(tally.asked, 'run')}"
        raise InvalidInput(f"{count} failed; the first, at {format_point(point)}: {reason}")
