"""What a worker does with one job, wherever the worker is: at most once, written before it is reported."""

import errno
import os
import traceback
from contextlib import suppress
from dataclasses import dataclass

from saddlescope.errors import reason_of
from saddlescope.sweeps.folder import HOST, Folder
from saddlescope.sweeps.job import Job
from saddlescope.training.checkpoint import DamagedCheckpoint

FULL = {errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EIO}


@dataclass(frozen=True)
class Report:
    """`state` is done, there (another sweep has done it), busy (another is at it), failed, storage or unseen."""

    state: str
    reason: str = ""
    details: str = ""
    cpu_seconds: float = 0.0
    status: str = ""


def run_job_in_worker(folder: Folder, mark: str, job: Job, name: str, point: dict) -> Report:
    """Do the job and write its shard. `mark` is a file that whoever shares the folder can see."""
    if not os.path.exists(f"{folder.root}/{mark}"):
        return Report("unseen", f"{HOST} does not see the folder {folder.root}")
    try:
        with folder.lock(name) as ours:
            if not ours:
                return Report("busy")
            if folder.has(name):
                return Report("there")
            return done(folder, job, name, point)
    except OSError as error:
        if error.errno in FULL or str(error.filename or "").startswith(str(folder.root)):
            return Report("storage", f"{error.strerror}: {error.filename or folder.root}")
        return failure(error)
    except Exception as error:
        return failure(error)


def done(folder, job, name, point):
    folder.note("started", run=name)
    checkpoint = folder.partial(name) if folder.lasting else None
    try:
        run = job.run(checkpoint)
    except DamagedCheckpoint as error:
        folder.note("checkpoint set aside", run=name, reason=str(error))
        os.replace(folder.partial(name), folder.partial(name).with_suffix(".damaged"))
        run = job.run(checkpoint)
    single = {k: v.values.item() for k, v in run.variables.items() if k in ("cpu_seconds", "status") and v.ndim == 0}
    report = Report("done", cpu_seconds=float(single.get("cpu_seconds", 0)), status=str(single.get("status", "")))
    folder.write(name, run, point)
    if checkpoint is not None:
        with suppress(FileNotFoundError):
            os.unlink(checkpoint)
    folder.note("done", run=name)
    return report


def failure(error):
    if isinstance(error, MemoryError) or "RESOURCE_EXHAUSTED" in str(error):
        return Report("failed", f"out of memory ({error})", traceback.format_exc())
    return Report("failed", reason_of(error), traceback.format_exc())
