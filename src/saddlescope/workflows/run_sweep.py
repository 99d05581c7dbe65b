"""From a sweep file or an experiment's key to a sweep that is run, and the words at its end."""

import os
from concurrent.futures import Executor
from pathlib import Path

from saddlescope.errors import InvalidInput, number_of, require
from saddlescope.report.sweep_folder import SHOWN
from saddlescope.storage.result_folder import folder_of, make_folder
from saddlescope.sweeps import Folder, Plan, TrainJob
from saddlescope.sweeps.axes import format_point, parse_axes
from saddlescope.sweeps.cluster import cluster_executor
from saddlescope.sweeps.progress import duration
from saddlescope.sweeps.running import check_axes, check_storable, processes
from saddlescope.sweeps.scheduler import Scheduler
from saddlescope.sweeps.tally import Tally
from saddlescope.workflows.find import check_axes as check_axis_names
from saddlescope.workflows.find import choose_scale, find_experiment, one_key
from saddlescope.workflows.sweep_file import is_sweep_file, read_sweep, sweep_name


def plan_sweep(what: str, axis: list[str], where: str | None, scale: str, out, results) -> tuple[Plan, Path]:
    """The plan of a file or key, and the folder it goes to.

    **Arguments:**

    - `what`: a sweep file, or the key of an experiment.
    - `axis`: axes as typed, such as "seed=0..4".
    - `where`: a filter on the points.
    - `scale`: "full" or "quick", for an experiment.
    - `out`: the sweep's folder; None for one of its own below `results`.
    """
    axes = parse_axes(axis)
    if is_sweep_file(what):
        require(scale == "full", "`--quick` is for experiments; a sweep file has its own axes.")
        plan = read_sweep(what, axes, where)
        return plan, Path(out) if out is not None else Path(results) / f"{sweep_name(what)}.sweep"
    name = one_key(what, "sweep")
    experiment = find_experiment(name)
    check_axis_names(name, experiment, axes)
    chosen = choose_scale(experiment, scale, axes).axes
    experiment.require_available(chosen)
    plan = experiment.plan(chosen, where)
    # The folder of `run`: either command finds the runs of the other.
    return plan, Path(out) if out is not None else folder_of(results, name, scale)


def run_sweep(
    plan: Plan,
    folder,
    workers: int,
    *,
    cluster: str | None = None,
    only_failed: bool = False,
    max_failures: int | None = None,
    quiet: bool = False,
) -> Tally:
    """Check the plan, then run what is missing of it.

    **Arguments:**

    - `plan`, `folder`: what is run, and where its runs are kept.
    - `workers`: processes; not used with `cluster`.
    - `cluster`: the address of a Dask scheduler.
    - `only_failed`, `max_failures`, `quiet`: as of `Scheduler`.
    """
    check_axes(plan)
    check_storable(plan)
    _check_different(plan)
    make_folder(folder)
    place = Folder(os.path.abspath(folder))  # workers may start elsewhere
    with processes(min(workers, len(plan.points))) if cluster is None else cluster_executor(cluster) as executor:
        _check_observables(plan, place, executor)
        options = {"only_failed": only_failed, "max_failures": max_failures, "quiet": quiet}
        return Scheduler(plan, place, executor, **options).loop()


def describe_end(tally: Tally, folder, retry: str) -> str:
    """What a sweep says at its end; `retry` is the command that does the failed runs again."""
    counts = {
        "were there before": tally.already,
        "done by another sweep": tally.elsewhere,
        "diverged": tally.diverged,
        "failed": len(tally.failed),
        "missing": tally.missing,
    }
    parts = [f"{tally.already + tally.done + tally.elsewhere} of {number_of(tally.asked, 'run')} done"]
    parts += [f"{count} {what}" for what, count in counts.items() if count]
    parts += [f"{duration(tally.cpu_seconds)} of CPU time"] if tally.cpu_seconds > 1 else []
    lines = [", ".join(parts)]
    for point, reason in list(tally.failed.values())[:SHOWN]:
        lines.append(f"  failed at {format_point(point)}: {reason}")
    if tally.failed:
        more = len(tally.failed) - SHOWN
        lines += [f"  and {more} more; `saddlescope ls {folder} --all` shows them"] if more > 0 else []
        lines.append(f"  to retry only these: {retry}")
    return "\n".join([*lines, f"collect: saddlescope collect {folder} -o sweep.nc --table runs.csv"])


def _check_observables(plan: Plan, folder: Folder, executor: Executor):
    """Read the observables off the first run, untrained: better one refusal now than ten thousand failures.

    It is done by a worker, which then has JAX running and the observables compiled.
    """
    job, name = plan.job(plan.points[0]), plan.names[0]
    if not isinstance(job, TrainJob) or not job.observe or folder.has(name):
        return
    try:
        reason = executor.submit(job.why_unreadable).result()
    except InvalidInput:  # no worker can be started
        raise
    except Exception:  # the worker died, or does not know the job: then the runs fail, with the reason
        return
    names = ", ".join(type(o).__name__ for o in job.observe)
    require(not reason, f"The observables ({names}) cannot be read off the first run: {reason}")


def _check_different(plan: Plan):
    """A folder holds a run once, so that two points must not stand for the same run."""
    seen: dict[str, dict] = {}
    for name, point in zip(plan.names, plan.points, strict=True):
        if name in seen:
            raise InvalidInput(
                f"The points ({format_point(seen[name])}) and ({format_point(point)}) are the same run: leave out "
                "the axis that changes nothing."
            )
        seen[name] = point
