"""What a worker does with the jobs of one message, wherever the worker is: each at most once, and stored before it is
reported.

Short runs come several in a message. Their files are flushed to disk together, and then all of them are reported. So a
worker that dies loses at most the run that it was at, and `SHARE` seconds of finished ones.
"""

import errno
import os
import time
import traceback
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, replace

import xarray as xr

from saddlescope.errors import reason_of
from saddlescope.storage.together import FileGroup
from saddlescope.sweeps.folder import Folder
from saddlescope.sweeps.job import Job
from saddlescope.sweeps.journal import HOST
from saddlescope.training.checkpoint import DamagedCheckpoint

# The next run would meet the same: the sweep stops, and no run is blamed.
NO_STORAGE = {errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EIO}
SHARE = 0.25  # seconds of work in one message of several runs, about; a longer run has a message of its own


@dataclass(frozen=True)
class JobReport:
    """How a job ended.

    **Arguments:**

    - `state`: `done`; `there` (another sweep has done it); `busy` (another sweep is doing it);
      `failed`; `storage` (the disk is full or broken); `unseen` (the worker does not see the folder).
    - `reason`: why, where it is not done.
    - `details`: the traceback of a failure.
    - `cpu_seconds`: what the run cost.
    - `status`: how a training ended, such as "finished" or "diverged at step 12".
    - `seconds`: how long the job took in its worker.
    """

    state: str
    reason: str = ""
    details: str = ""
    cpu_seconds: float = 0.0
    status: str = ""
    seconds: float = 0.0


def run_jobs_in_worker(folder: Folder, mark: str, calls: list[tuple[Job, str, dict]]) -> list[JobReport]:
    """Run jobs one after the other, each with its name and point, and store their runs; every error becomes a report.

    The reports are those of the first jobs. The others were not begun: the first took longer than expected, or the disk
    is full. `mark` is a file of the folder, written by the scheduler: a worker on another machine that does not see it
    would write its runs where they are not found.
    """
    if not os.path.exists(f"{folder.root}/{mark}"):
        return [JobReport("unseen", f"{HOST} does not see the folder {folder.root}")]
    end = time.monotonic() + 2 * SHARE
    with _Message(folder, calls) as message:
        for number, (job, name, _) in enumerate(calls):
            with message.reporting(number) as to_do:
                if not to_do:
                    continue
                checkpoint = folder.partial(name) if folder.durable else None
                try:
                    message.runs[number] = job.run(checkpoint)
                except DamagedCheckpoint as error:
                    _quarantine_checkpoint(folder, name, error)
                    message.runs[number] = job.run(checkpoint)
            if message.reports[number].state == "storage" or time.monotonic() > end:
                break
    return list(message.reports.values())


class _Message:
    """The jobs of one message under way. The end of the block stores what is finished.

    What is done for every job is done for all of them in a row, before the first run and after the last: between
    two runs, the same lines take two to four times as long, because the processor has forgotten them.
    """

    def __init__(self, folder: Folder, calls):
        self.folder, self.calls = folder, calls
        self.trouble = [self._guarded(_check_version, job, name) for job, name, _ in calls]
        self.runs: dict[int, xr.Dataset] = {}
        self.reports: dict[int, JobReport] = {}
        self.locks = ExitStack()  # held until the files are there

    def __enter__(self):
        return self

    def __exit__(self, *_):
        with self.locks:
            self._store()  # also after Ctrl-C: what is finished is kept

    @contextmanager
    def reporting(self, number: int) -> Iterator[bool]:
        """Whether a job is to be run now; how that ends, an error too, becomes its report."""
        start = time.monotonic()
        report = self.trouble[number] or self._guarded(self._take, self.calls[number][1])
        try:
            yield report is None
            report = report or _done(self.runs[number])
        except Exception as error:
            report = self._report_of(error)
        self.reports[number] = replace(report, seconds=time.monotonic() - start)

    def _take(self, name) -> JobReport | None:
        if not self.locks.enter_context(self.folder.lock(name)):
            return JobReport("busy")
        if self.folder.has(name):
            return JobReport("there")
        self.folder.note("started", run=name)  # the scheduler reads it where the process dies
        return None

    def _store(self):
        """The files first, then the report: a run that was reported is never lost."""
        files, names = FileGroup(self.folder.durable), []
        for number in [i for i, report in self.reports.items() if report.state == "done"]:
            _, name, point = self.calls[number]
            trouble = self._guarded(self.folder.add_run, files, name, self.runs[number], point)
            if trouble is None:
                names.append(name)
            else:
                self.reports[number] = trouble
        if trouble := self._guarded(files.publish):
            self.reports |= {i: trouble for i, report in self.reports.items() if report.state == "done"}
            return
        for name in names if self.folder.durable else ():
            with suppress(FileNotFoundError):
                os.unlink(self.folder.partial(name))
        self.folder.note_runs("done", names)

    def _guarded(self, call, *args):
        """What the call gives; a report where it raises."""
        try:
            return call(*args)
        except Exception as error:
            return self._report_of(error)

    def _report_of(self, error: Exception) -> JobReport:
        if isinstance(error, OSError):
            ours = str(error.filename or "").startswith(str(self.folder.root))
            if ours or error.errno in NO_STORAGE:
                return JobReport("storage", f"{error.strerror}: {error.filename or self.folder.root}")
        return _failure(error)


def _check_version(job: Job, name: str) -> JobReport | None:
    if job.name == name:
        return None
    return JobReport("failed", f"the worker on {HOST} has another version of the code than the sweep; update it")


def _quarantine_checkpoint(folder: Folder, name: str, error: DamagedCheckpoint):
    folder.note("damaged checkpoint moved away", run=name, reason=str(error))
    os.replace(folder.partial(name), folder.partial(name).with_suffix(".damaged"))


def _done(run: xr.Dataset) -> JobReport:
    found = run.variables  # faster than asking the dataset
    cost, status = (found[key].values.item() if key in found else "" for key in ("cpu_seconds", "status"))
    return JobReport("done", cpu_seconds=float(cost or 0), status=str(status))


def _failure(error) -> JobReport:
    if isinstance(error, MemoryError) or "RESOURCE_EXHAUSTED" in str(error):  # XLA's own word for it
        return JobReport("failed", f"out of memory ({error})", traceback.format_exc())
    return JobReport("failed", reason_of(error), traceback.format_exc())
