"""What a worker does with one job, wherever the worker is: at most once, written before it is reported."""

import errno
import socket
import traceback
from dataclasses import dataclass

from saddlescope.refusal import Refusal
from saddlescope.sweeps.folder import Folder
from saddlescope.sweeps.job import Job

FULL = {errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EIO}


@dataclass(frozen=True)
class Report:
    """`state` is done, there (another sweep has done it), busy (another is at it), failed, storage or unseen."""

    state: str
    reason: str = ""
    details: str = ""
    cpu_seconds: float = 0.0
    status: str = ""


def perform(folder: Folder, mark: str, job: Job, name: str, point: dict) -> Report:
    """Do the job and write its shard. `mark` is a file that whoever shares the folder can see."""
    if not (folder.root / mark).exists():
        return Report("unseen", f"{socket.gethostname()} does not see the folder {folder.root}")
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
    checkpoint = folder.partial(name)
    try:
        run = job.do(checkpoint)
    except Refusal as error:
        if "checkpoint" not in str(error) or not checkpoint.exists():
            raise
        folder.note("checkpoint set aside", run=name, reason=str(error))
        checkpoint.unlink()
        run = job.do(checkpoint)
    folder.write(name, run, point)
    checkpoint.unlink(missing_ok=True)
    cpu = float(run["cpu_seconds"]) if "cpu_seconds" in run else 0.0
    folder.note("done", run=name, cpu_seconds=round(cpu, 4))
    return Report("done", cpu_seconds=cpu, status=str(run["status"].values) if "status" in run else "")


def failure(error):
    if isinstance(error, MemoryError) or "RESOURCE_EXHAUSTED" in str(error):
        return Report("failed", f"out of memory ({error})", traceback.format_exc())
    reason = str(error) if isinstance(error, Refusal) else f"{type(error).__name__}: {error}"
    return Report("failed", reason, traceback.format_exc())
