"""What a worker does with one job, wherever the worker is: at most once, and stored before it is reported."""

import errno
import os
import traceback
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import xarray as xr

from saddlescope.errors import reason_of
from saddlescope.sweeps.folder import HOST, Folder
from saddlescope.sweeps.job import Job
from saddlescope.training.checkpoint import DamagedCheckpoint

# The next run would meet the same: the sweep stops, and no run is blamed.
NO_STORAGE = {errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EIO}


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
    """

    state: str
    reason: str = ""
    details: str = ""
    cpu_seconds: float = 0.0
    status: str = ""


def run_job_in_worker(folder: Folder, mark: str, job: Job, name: str, point: dict) -> JobReport:
    """Run the job and store its run; every error becomes a report.

    `mark` is a file of the folder, written by the scheduler: a worker on another machine that does not
    see it would write its runs where they are not found.
    """
    if not os.path.exists(f"{folder.root}/{mark}"):
        return JobReport("unseen", f"{HOST} does not see the folder {folder.root}")
    if job.name != name:
        return JobReport("failed", f"the worker on {HOST} has another version of the code than the sweep; update it")
    try:
        with folder.lock(name) as ours:
            if not ours:
                return JobReport("busy")
            if folder.has(name):
                return JobReport("there")
            folder.note("started", run=name)
            checkpoint = folder.partial(name) if folder.durable else None
            try:
                run = job.run(checkpoint)
            except DamagedCheckpoint as error:
                _quarantine_checkpoint(folder, name, error)
                run = job.run(checkpoint)
            return _store(folder, name, point, run, checkpoint)
    except OSError as error:
        if error.errno in NO_STORAGE or str(error.filename or "").startswith(str(folder.root)):
            return JobReport("storage", f"{error.strerror}: {error.filename or folder.root}")
        return _failure(error)
    except Exception as error:
        return _failure(error)


def _quarantine_checkpoint(folder: Folder, name: str, error: DamagedCheckpoint):
    folder.note("damaged checkpoint moved away", run=name, reason=str(error))
    os.replace(folder.partial(name), folder.partial(name).with_suffix(".damaged"))


def _store(folder: Folder, name, point, run: xr.Dataset, checkpoint: Path | None) -> JobReport:
    """The file first, then the report: a run that was reported is never lost."""
    cost, status = (run[key].item() if key in run else "" for key in ("cpu_seconds", "status"))
    report = JobReport("done", cpu_seconds=float(cost or 0), status=str(status))
    folder.write(name, run, point)
    if checkpoint is not None:
        with suppress(FileNotFoundError):
            os.unlink(checkpoint)
    folder.note("done", run=name)
    return report


def _failure(error) -> JobReport:
    if isinstance(error, MemoryError) or "RESOURCE_EXHAUSTED" in str(error):  # XLA's own word for it
        return JobReport("failed", f"out of memory ({error})", traceback.format_exc())
    return JobReport("failed", reason_of(error), traceback.format_exc())
