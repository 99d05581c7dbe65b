"""What a sweep costs beyond its runs, and how it scales.

    python benchmarks/sweeps.py [--rounds 5] [--parts overhead start …] [--json benchmarks/sweeps.json]

CPU time is that of all processes. The system adds the time of a process to that of its parent once the parent has
waited for it: a worker's goes to the server that forked it, and the server's to the command.

- Overhead: runs that take exactly 5 ms of CPU time each (a real setting, a real record; in place of training the worker
  counts its own CPU clock down). What 2,000 of them cost in all processes beyond the same in a plain loop is store and
  scheduling. Both are measured after 200 others, so that nothing is imported or compiled meanwhile; what is
  left of the whole is the fixed cost of a sweep.
- Start: the command, for a sweep of eight tiny runs on two workers, kernels compiled before.
- Two workers over one on a compute-bound sweep: wall time of the same runs, taken in turns, less that of a small sweep.
- Collecting 2,000 runs of 1,000 steps and 12 observables; memory of sweeping and collecting few runs and many.
"""

import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
import xarray as xr

from saddlescope.observables import TestError
from saddlescope.papers.valleys._protocol import valleys
from saddlescope.setting import Setting
from saddlescope.sweeps import Plan, TrainJob, grid
from saddlescope.sweeps.folder import Folder
from saddlescope.sweeps.job import Job
from saddlescope.sweeps.pool import Workers
from saddlescope.sweeps.scheduler import Scheduler
from saddlescope.training import train

SPIN = 5e-3  # CPU seconds of a run
CURVES, STEPS = 12, 1000
PARTS = ("overhead", "start", "scaling", "collecting", "memory")
TINY = """
protocol = "valleys"
observe = ["TestError"]
[axes]
factor = 1
N = 16
bs = 4
L = 1
rank = 3
width = 32
epochs = 100
seed = "0..7"
"""


def short(seed):
    return valleys(1, 16, 4, 1, rank=3, width=32, epochs=100, seed=seed)


def long(seed):
    return valleys(3, 768, 8, 3, epochs=60, seed=seed)


@cache
def record() -> xr.Dataset:
    return train(short(0), (TestError(),), quiet=True)


@dataclass(frozen=True)
class Spin(Job):
    """As long as SPIN, and as much to store as a short run of 100 epochs."""

    setting: Setting

    @property
    def name(self):
        return TrainJob(self.setting).name

    @property
    def work(self):
        return TrainJob(self.setting).work

    def run(self, checkpoint):
        kept = record()
        end = time.process_time() + SPIN
        while time.process_time() < end:
            pass
        return kept


def spin(few, many, folder):
    """Sweeps of short runs in two workers, as the command does it: few, then many whose cost is told."""
    pool = Workers(2)
    sweep_of_spins(range(few), pool, folder)
    before = clocks(pool)
    sweep_of_spins(range(few, few + many), pool, folder)
    after = clocks(pool)
    pool.shutdown()
    used = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    print(sum(after) - sum(before), after[0] - before[0], used)  # all processes, the scheduler's own, its memory in MB


def sweep_of_spins(seeds, pool, folder):
    plan = Plan("spin", grid(seed=seeds), lambda p: Spin(short(p["seed"])))
    Scheduler(plan, Folder(folder), pool, quiet=True).loop()


def clocks(pool) -> list[float]:
    """CPU seconds of this process and of each worker: Linux has a clock for every process."""
    pids = [os.getpid(), *(process.pid for process in pool.processes())]
    return [time.clock_gettime(~pid << 3 | 2) for pid in pids]


def plain(few, many):
    """The same runs in a loop that keeps nothing."""
    for count in (few, many):
        start = time.process_time()
        for point in grid(seed=range(count)):
            Spin(short(point["seed"])).run(None)
    print(time.process_time() - start)


def compute(runs, workers, folder):
    plan = Plan("compute", grid(seed=range(runs)), lambda p: TrainJob(long(p["seed"])))
    pool = Workers(workers)
    Scheduler(plan, Folder(folder), pool, quiet=True).loop()
    pool.shutdown()


def curves(runs, folder):
    """Run files of many curves, without training any."""
    place, rng = Folder(folder, durable=False), np.random.default_rng(0)
    names = ["loss", "learning_rate", *(f"observable_{k}" for k in range(CURVES - 2))]
    for i in range(runs):
        columns = {name: ("step", np.cumsum(rng.standard_normal(STEPS))) for name in names}
        words = {"status": ((), "finished"), "setting": ((), "x" * 900), "hash": ((), f"{i:020x}")}
        place.write(f"{i:020x}-0-v1", xr.Dataset(columns | words, {"step": np.arange(STEPS)}), {"seed": i})


def measured(*words):
    """CPU seconds, wall seconds and what it printed, of a command with all it starts."""
    before, wall = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    ended = subprocess.run([sys.executable, *map(str, words)], check=True, capture_output=True, text=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return cpu, time.perf_counter() - wall, ended.stdout.strip()


def here(*words):
    return measured(__file__, *words)


def overhead(rounds, few, many, scratch):
    """Milliseconds per run beyond a plain loop, those of the scheduler process, and fixed CPU seconds, by round."""
    added, conducting, fixed = [], [], []
    for i in range(rounds):
        whole, _, said = here("spin", few, many, scratch / f"spin{i}")
        cost, own, _ = (float(word) / many for word in said.split())
        added.append((cost - float(here("plain", few, many)[2]) / many) * 1e3)
        conducting.append(own * 1e3)
        fixed.append(whole - cost * (few + many))
    return added, conducting, fixed


def start(rounds, scratch):
    """CPU seconds of a sweep of eight tiny runs, by round; the first, which may compile, is not counted."""
    file, found = scratch / "tiny.toml", []
    file.write_text(TINY)
    for i in range(rounds + 1):
        words = "-m", "saddlescope", "sweep", file, "--workers", 2, "--quiet", "--out", scratch / f"tiny{i}"
        found.append(measured(*words)[0])
    return found[1:]


def scaling(rounds, runs, scratch):
    ratios, seconds = [], []
    for i in range(rounds):
        wall = {}
        for workers in (1, 2):
            small, large = (here("compute", n, workers, scratch / f"c{i}.{workers}.{n}")[1] for n in (2, 2 + runs))
            wall[workers] = large - small
        ratios.append(wall[1] / wall[2])
        seconds.append(wall[1] / runs)
    return ratios, seconds


def collecting(runs, scratch):
    folder = scratch / f"curves{runs}"
    here("curves", runs, folder)
    words = "-m", "saddlescope", "collect", folder, "-o", scratch / "sweep.nc", "--quiet"
    return measured(*words)[1], peak_of_module(*words[1:])


def peak_of_module(module, *words):
    code = (
        "import resource, runpy, sys, contextlib\n"
        "with contextlib.suppress(SystemExit):\n"
        f"    runpy.run_module({module!r}, run_name='__main__', alter_sys=True)\n"
        "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024)"
    )
    call = [sys.executable, "-c", code, *map(str, words)]
    return int(subprocess.run(call, check=True, capture_output=True, text=True).stdout.split()[-1])


def show(values):
    return f"{statistics.median(values):.2f} (rounds {', '.join(f'{v:.2f}' for v in sorted(values))})"


def measure(part, rounds, scratch) -> dict:
    if part == "overhead":
        added, conducting, fixed = overhead(rounds, 200, 2000, scratch)
        print(f"storing and scheduling add, ms of CPU time per run of 5 ms: {show(added)}")
        print(f"of these and of making settings, in the scheduler process: {show(conducting)}")
        print(f"fixed CPU seconds of a sweep with two workers: {show(fixed)}")
        return {"added_ms": added, "conducting_ms": conducting, "fixed_cpu_seconds": fixed}
    if part == "start":
        cpu = start(rounds, scratch)
        print(f"CPU seconds of a sweep of eight tiny runs on two workers: {show(cpu)}")
        return {"start_cpu_seconds": cpu}
    if part == "scaling":
        ratios, seconds = scaling(rounds, 30, scratch)
        print(f"two workers over one: {show(ratios)}")
        return {"two_workers": ratios, "seconds_a_compute_run": seconds}
    if part == "collecting":
        times = {n: collecting(n, scratch) for n in (500, 2000)}
        print(f"collecting 2,000 runs × {STEPS} steps × {CURVES} observables: {times[2000][0]:.1f} s; peaks {times}")
        return {"collect_seconds": times[2000][0], "collect_peak_mb": {n: t[1] for n, t in times.items()}}
    memory = {n: int(here("spin", 10, n, scratch / f"peak{n}")[2].split()[2]) for n in (500, 4000)}
    print(f"peak memory of the scheduler process, MB: {memory}")
    return {"sweep_peak_mb": memory}


def main(rounds, parts, file):
    found = json.loads(file.read_text()) if file and file.exists() else {}
    for part in parts:
        with tempfile.TemporaryDirectory() as scratch:
            found |= measure(part, rounds, Path(scratch))
        if file:
            file.write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    if sys.argv[1:2] == ["spin"]:
        spin(int(sys.argv[2]), int(sys.argv[3]), sys.argv[4])
    elif sys.argv[1:2] == ["plain"]:
        plain(int(sys.argv[2]), int(sys.argv[3]))
    elif sys.argv[1:2] == ["compute"]:
        compute(int(sys.argv[2]), int(sys.argv[3]), sys.argv[4])
    elif sys.argv[1:2] == ["curves"]:
        curves(int(sys.argv[2]), sys.argv[3])
    else:
        parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
        parser.add_argument("--rounds", type=int, default=5)
        parser.add_argument("--parts", nargs="+", default=PARTS, choices=PARTS)
        parser.add_argument("--json", type=Path)
        given = parser.parse_args()
        main(given.rounds, given.parts, given.json)
