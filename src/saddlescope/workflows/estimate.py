"""What a sweep will cost, before it is run."""

import os

from saddlescope.errors import number_of
from saddlescope.sweeps import Folder, Plan, TrainJob
from saddlescope.sweeps.axes import format_point
from saddlescope.sweeps.progress import duration
from saddlescope.training.driver import time_first_steps


def estimate_cost(plan: Plan, folder, workers: int) -> str:
    """Number of runs, how many are there, and the cost of the rest from a short calibration on this machine."""
    place, names = Folder(os.path.abspath(folder)), set(plan.names)
    done = place.names() & names
    failed = set(place.failures()) & names - done
    work = {name: (w, point) for point, (name, w) in zip(plan.points, plan.names_and_costs, strict=True)}
    rest = sorted((work[name] for name in work if name not in done | failed), key=lambda x: x[0])
    lines = [f"{plan.title}: {number_of(len(work), 'run')}, into {folder}"]
    lines += [f"  {len(done)} done already, {len(failed)} failed before, {len(rest)} to do"]
    return "\n".join(lines + (_cost_lines(plan, rest, workers) if rest else []))


def _cost_lines(plan: Plan, rest: list[tuple[float, dict]], workers: int) -> list[str]:
    """`rest` is the cost and the point of each run to do, the cheapest first."""
    # A cheap, a middling and the dearest run: seconds per unit of work differ with the size of a net.
    sample = [plan.job(rest[i][1]) for i in sorted({len(rest) // 8, len(rest) // 2, len(rest) - 1})]
    trained = [job for job in sample if isinstance(job, TrainJob)]
    if not trained:
        return ["  these runs train nothing, so that their cost is not known beforehand"]
    units = sum(w for w, _ in rest)
    seconds = units * _seconds_per_unit(trained)
    longest = duration(rest[-1][0] / units * seconds)
    return [
        f"  CPU time: at most {duration(seconds)}, if every run goes to the end of its budget;",
        f"  {duration(seconds / workers)} on {number_of(workers, 'worker')}, plus their start. "
        f"Calibrated on {len(trained)} of the runs.",
        f"  the longest run: at most {longest}, at {format_point(rest[-1][1])}",
    ]


def _seconds_per_unit(jobs: list[TrainJob]) -> float:
    """CPU seconds per unit of work, from the first moments of some runs."""
    spent = done = 0.0
    for job in jobs:
        seconds, steps = time_first_steps(job.setting, job.observe, job.save_at)
        spent += seconds
        done += job.work * steps / job.setting.budget
    return spent / done
