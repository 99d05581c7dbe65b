"""A job of one run or several, and what an analysis makes of them: all of it in the worker."""

import inspect
import json
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import xarray as xr

from saddlescope.errors import require
from saddlescope.numerics import VERSION, reproducible
from saddlescope.results import Run, named
from saddlescope.serialization.own_code import code_identity
from saddlescope.serialization.part import content_hash
from saddlescope.sweeps.job import Job, TrainJob, as_jobs, said_of

if TYPE_CHECKING:
    from saddlescope.theory.prediction import Prediction

FACTS = ("status", "setting", "hash", "engine")


@dataclass(frozen=True)
class AnalysedJob(Job):
    """The runs of one point, trained and then analysed. What the analysis returns is kept in place of the curves.

    **Arguments:**

    - `runs`: what to train, by name; one that is called "" is alone.
    - `point`: the axes of the point. The analysis gets those that it names as arguments.
    - `analyse`: analyse(run, setting), or of several runs analyse(runs, settings) by name, gives numbers and
      (axes, values).
    - `follow`: follow(run, setting) names further settings to train once the first runs are done, such as branches.
    - `keep`: variables of the (only) run to keep beside the analysis.
    - `predict`: conditional predictions, made from the (first) run's saved weights.
    """

    runs: tuple[tuple[str, TrainJob], ...]
    point: tuple[tuple[str, object], ...]
    analyse: Callable
    follow: Callable | None = None
    keep: tuple[str, ...] = ()
    predict: "tuple[Prediction, ...]" = ()

    @property
    def name(self) -> str:  # type: ignore[override]
        what = [[name, job.name] for name, job in self.runs], list(self.keep)
        code = [code_identity(f) for f in (self.analyse, self.follow) if f is not None]
        asked = {k: repr(v) for k, v in self.asked_of(self.analyse).items()}
        said = [p.json_values() for p in self.predict]
        return f"{content_hash([*what, code, asked, said])}-a-v{VERSION}"

    @property
    def work(self) -> float:
        return sum(job.work for _, job in self.runs) or 1.0

    def check_storable(self):
        for _, job in self.runs:
            job.check_storable()

    def asked_of(self, function) -> dict:
        """The axes that a function names after its first two arguments."""
        wanted = list(inspect.signature(function).parameters)[2:]
        return {axis: value for axis, value in self.point if axis in wanted}

    @reproducible()
    def run(self, checkpoint):
        jobs = dict(self.runs)
        files = _checkpoints(checkpoint)
        runs = {name: Run(job.run(next(files), len(jobs) > 1)) for name, job in jobs.items()}
        if self.follow is not None:
            more = as_jobs(self.follow(*_shown(runs, jobs), **self.asked_of(self.follow)), TrainJob)
            runs |= {name: Run(job.run(next(files), True)) for name, job in more.items()}
            jobs |= more
        start = time.process_time()
        found = self.analyse(*_shown(runs, jobs), **self.asked_of(self.analyse))
        self._check_names(found)
        facts = _facts(runs, jobs, [name for name, _ in self.runs], time.process_time() - start)
        result = facts.merge(named(found))
        if runs:
            first = next(iter(runs))
            result = result.merge(runs[first].measured[list(self.keep)])
            result = result.assign(said_of(runs[first].measured, jobs[first].setting, self.predict))
        _remove(checkpoint)
        return result

    def _check_names(self, found):
        both = set(found) & {axis for axis, _ in self.point}
        require(
            not both,
            f"{', '.join(map(repr, both))}: both an axis and a value that `analyse` returns. Rename one of them.",
        )


def _shown(runs, jobs):
    """The run and its setting, if it is alone; else both by name."""
    if list(runs) == [""]:
        return runs[""], jobs[""].setting
    return runs, {name: job.setting for name, job in jobs.items()}


def _facts(runs, jobs, own, seconds) -> xr.Dataset:
    """Where the numbers come from: as of one run, or of several together.

    The point is finite if its `own` runs are. A branch that diverges is for the analysis to judge: it may be meant to.
    """
    cpu = seconds + sum(float(run["cpu_seconds"]) for run in runs.values())
    if list(runs) == [""]:
        return named({name: runs[""][name].values for name in FACTS} | {"cpu_seconds": cpu})
    status = {name: str(runs[name]["status"].values) for name in own}
    diverged = [f"diverged: {name} {s}" for name, s in status.items() if s.startswith("diverged")]
    settings = {name: job.setting.json_values() for name, job in jobs.items()}
    engines = sorted({str(run["engine"].values) for run in runs.values()})
    return named(
        {
            "status": (diverged or ["finished"])[0],
            "setting": json.dumps(settings),
            "hash": content_hash([job.setting.hash for job in jobs.values()]),
            "engine": "+".join(engines) or "none",
            "cpu_seconds": cpu,
        }
    )


def _checkpoints(checkpoint: Path | None):
    """A file per run, beside the job's own; none where nothing is kept."""
    number = 0
    while True:
        yield None if checkpoint is None else _file(checkpoint, number)
        number += 1


def _file(checkpoint, number):
    return checkpoint if number == 0 else checkpoint.with_name(f"{checkpoint.stem}.{number}{checkpoint.suffix}")


def _remove(checkpoint):
    """All but the first, which whoever gave it removes."""
    if checkpoint is not None:
        for file in checkpoint.parent.glob(f"{checkpoint.stem}.*{checkpoint.suffix}"):
            file.unlink(missing_ok=True)
