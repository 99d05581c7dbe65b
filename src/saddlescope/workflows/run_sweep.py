"""From a file or key to a sweep that is run: its plan, what it will cost, how it ended."""

import os
from pathlib import Path

from saddlescope.errors import InvalidInput, reason_of, require
from saddlescope.report.sweep_folder import SHOWN
from saddlescope.storage.result_folder import make_folder
from saddlescope.sweeps import Folder, Plan, TrainJob
from saddlescope.sweeps.axes import parse_axes, spelled
from saddlescope.sweeps.board import duration
from saddlescope.sweeps.cluster import cluster_executor
from saddlescope.sweeps.cost import seconds_for
from saddlescope.sweeps.running import check_axes, check_storable, processes
from saddlescope.sweeps.scheduler import Tally, conduct
from saddlescope.training.driver import Run
from saddlescope.workflows.find import check_axes as check_axis_names
from saddlescope.workflows.find import find_experiment, one_key
from saddlescope.workflows.sweep_file import is_sweep_file, read_sweep, sweep_name

OUT = "saddlescope-results"


def plan_of(what, axis, where, scale, out) -> tuple[Plan, Path]:
    """The plan of a file or key, and the folder it goes to."""
    axes = parse_axes(axis)
    if is_sweep_file(what):
        require(scale == "full", "`--quick` is for experiments; a sweep file has its own axes.")
        plan, name = read_sweep(what, axes, where), "" if out is not None else sweep_name(what)
    else:
        name = one_key(what, "sweep")
        experiment = find_experiment(name)
        check_axis_names(name, experiment, axes)
        plan = experiment.plan({**getattr(experiment, scale), **axes}, where)
    return plan, Path(out) if out is not None else Path(OUT) / f"{name}.sweep"


def run_sweep(plan, folder, workers, cluster=None, again=False, max_failures=None, quiet=False) -> Tally:
    check_axes(plan)
    check_storable(plan)
    check_observables(plan)
    check_different(plan)
    make_folder(folder)
    place = Folder(os.path.abspath(folder))
    hands = processes(min(workers, len(plan.points))) if cluster is None else cluster_executor(cluster)
    with hands as executor:
        return conduct(plan, place, executor, again=again, max_failures=max_failures, quiet=quiet)


def check_observables(plan: Plan):
    """What cannot be read off the first run is found out before ten thousand fail for it."""
    job = plan.job(plan.points[0])
    if not isinstance(job, TrainJob) or not job.observe:
        return
    try:
        Run(job.setting, job.observe, job.save_at)
    except (InvalidInput, KeyError, TypeError, ValueError, AttributeError, IndexError) as error:
        names = ", ".join(type(o).__name__ for o in job.observe)
        raise InvalidInput(f"The observables ({names}) cannot be read off the first run: {reason_of(error)}") from None


def check_different(plan: Plan):
    """In a folder a run is there once, so that two points must not stand for the same."""
    seen: dict[str, dict] = {}
    for name, point in zip(plan.names, plan.points, strict=True):
        if name in seen:
            raise InvalidInput(
                f"The points ({spelled(seen[name])}) and ({spelled(point)}) are the same run: leave out the axis that "
                "changes nothing."
            )
        seen[name] = point


def ending(tally: Tally, folder, again) -> str:
    """What a sweep says at its end."""
    parts = [f"{tally.already + tally.done + tally.elsewhere} of {tally.asked} runs done"]
    parts += [f"{tally.already} were there before"] if tally.already else []
    parts += [f"{tally.elsewhere} done by another sweep"] if tally.elsewhere else []
    parts += [f"{tally.diverged} diverged"] if tally.diverged else []
    parts += [f"{len(tally.failed)} failed"] if tally.failed else []
    parts += [f"{tally.missing} missing"] if tally.missing else []
    parts += [f"{duration(tally.cpu_seconds)} of CPU time"] if tally.cpu_seconds > 1 else []
    lines = [", ".join(parts)]
    for point, reason in list(tally.failed.values())[:SHOWN]:
        lines.append(f"  failed at {spelled(point)}: {reason}")
    if tally.failed:
        more = len(tally.failed) - SHOWN
        lines += [f"  and {more} more; `saddlescope ls {folder} --all` shows them"] if more > 0 else []
        lines.append(f"  to do only these again: {again}")
    return "\n".join([*lines, f"collect: saddlescope collect {folder} -o sweep.nc --table runs.csv"])


# ---- Estimate ----


def estimate(plan: Plan, folder, workers) -> str:
    """Number of runs, what is there, and the cost of the rest from a short calibration on this machine."""
    place = Folder(os.path.abspath(folder))
    there = place.names() & set(plan.names)
    failed = set(place.failures()) & set(plan.names) - there
    work = {name: (w, point) for point, (name, w) in zip(plan.points, plan.surveyed, strict=True)}
    rest = [work[name] for name in work if name not in there | failed]
    lines = [f"{plan.title}: {len(work)} runs, into {folder}"]
    lines += [f"  {len(there)} done already, {len(failed)} failed before, {len(rest)} to do"]
    if not rest:
        return "\n".join(lines)
    rest.sort(key=lambda x: x[0])
    sample = [plan.job(rest[i][1]) for i in sorted({len(rest) // 8, len(rest) // 2, len(rest) - 1})]
    trained = [(job.setting, job.observe, job.save_at) for job in sample if isinstance(job, TrainJob)]
    if not trained:
        return "\n".join([*lines, "  these runs train nothing; what they cost is not known before"])
    seconds = sum(w for w, _ in rest) * seconds_for(trained)
    lines.append(f"  CPU time at most {duration(seconds)}, if every run goes to the end of its budget;")
    wall = duration(seconds / workers)
    lines.append(f"  {wall} on {workers} workers, beside their start. Calibrated on {len(trained)} of the runs.")
    longest = rest[-1][0] * seconds / sum(w for w, _ in rest)
    return "\n".join([*lines, f"  the longest run: at most {duration(longest)}, at {spelled(rest[-1][1])}"])
