"""Jobs and predictions for tests of sweeps and experiments, importable in worker processes."""

import os
import signal
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import xarray as xr

from saddlescope.errors import InvalidInput, require
from saddlescope.sweeps import Plan, grid
from saddlescope.sweeps.job import Job
from saddlescope.sweeps.worker_job import run_jobs_in_worker
from saddlescope.theory.prediction import Prediction


@dataclass(frozen=True)
class Act(Job):
    """Does what `act` says, and writes down in a file that it was done."""

    seed: int
    act: str = "count"
    diary: str = ""

    @property
    def name(self):
        return f"{self.seed:020x}-0-v1"

    @property
    def work(self):
        return float(1 + self.seed)

    def run(self, checkpoint):
        if self.diary:
            with open(self.diary, "a") as file:
                file.write(f"{self.seed}\n")
        if self.act == "die":
            os.kill(os.getpid(), signal.SIGKILL)
        if self.act == "die once" and not (mark := Path(self.diary + ".died")).exists():
            mark.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        if self.act == "raise":
            raise ZeroDivisionError("no such luck")
        if self.act == "refuse":
            raise InvalidInput("This cannot be represented.")
        if self.act == "memory":
            np.empty(10**15)
        if self.act == "slow":
            time.sleep(0.3)
        if self.act == "full disk":
            raise OSError(28, "No space left on device")
        return xr.Dataset(
            {"value": ((), float(self.seed)), "status": ((), "diverged" if self.act == "diverge" else "")}
        )


def plan(runs, acts=None, diary=""):
    """A plan of `runs` jobs; `acts` says what some of them do."""
    acts = acts or {}
    return Plan("acts", grid(seed=range(runs)), lambda p: Act(p["seed"], acts.get(p["seed"], "count"), str(diary)))


def pid():
    return os.getpid()


def threads():
    return {name: os.environ.get(name) for name in ("OMP_NUM_THREADS", "XLA_FLAGS", "NUMBA_NUM_THREADS")}


def grow(megabytes):
    """Keep this much memory in the worker."""
    held = grow.__dict__.setdefault("held", [])
    held.append(np.ones(megabytes << 17))
    return os.getpid()


def unsendable():
    return lambda: 0


class Odd(Exception):
    """An error that does not survive pickling."""

    def __init__(self, a, b):
        super().__init__(f"{a} and {b}")


def raise_odd():
    raise Odd(1, 2)


def wait_for_end():
    while True:
        time.sleep(0.05)


class Tells(Prediction):
    """Where it was made, and a line in a diary."""

    diary: str
    stops_at: float = 0.0

    def __call__(self, setting):
        require(setting.optimiser.lr != self.stops_at, "stopped here")
        with open(self.diary, "a") as file:
            file.write(f"{setting.budget} {setting.optimiser.lr}\n")
        return {"process": ((), np.asarray(os.getpid())), "twice": ((), np.asarray(2.0 * setting.budget))}


def die_before_the_report(folder, mark, calls):
    """Do the jobs of a message and store them; the first time, die before the answer."""
    reports = run_jobs_in_worker(folder, mark, calls)
    if len(calls) > 1 and not (died := Path(folder.root, "died")).exists():
        died.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return reports
