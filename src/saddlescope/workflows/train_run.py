"""One run from what the user names to a folder: a setting file, a point of an experiment, or a paper's own name."""

import json
import re
import shlex
import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import xarray as xr

from saddlescope.errors import InvalidInput, require
from saddlescope.experiment import Experiment
from saddlescope.report.describe import runs_text
from saddlescope.report.page import page
from saddlescope.report.page_data import read_page_data
from saddlescope.results import Results, Run, collect
from saddlescope.serialization.own_code import is_file_name
from saddlescope.storage.files import write_bytes
from saddlescope.storage.result_folder import (
    RESULTS,
    RUNS,
    VERDICTS,
    make_folder,
    save_results,
    save_verdicts,
    seal,
    unseal,
)
from saddlescope.sweeps import Plan, TrainJob
from saddlescope.sweeps.analysed import AnalysedJob
from saddlescope.sweeps.axes import format_point
from saddlescope.training import SaveAt, log_spaced, log_spaced_epochs, train
from saddlescope.workflows.find import check_axes, find_experiment, one_key, paper_packages
from saddlescope.workflows.judge import write_contents, write_tables
from saddlescope.workflows.run_experiment import now
from saddlescope.workflows.sweep_file import is_sweep_file, read_sweep, sweep_name

CHECKPOINT = "checkpoint.npz"
PNG, BOTH = ("png",), ("png", "pdf")  # kinds of files that a figure is written as
SAVED = 40  # instants at which a run is observed unless the user says otherwise


@dataclass(frozen=True)
class OneRun:
    """One run to be trained, and how it is shown.

    **Arguments:**

    - `name`: a word for the folder, before the setting's hash.
    - `experiment`: what it is a point of; a setting file makes one of its own.
    - `point`: the value of each axis.
    - `job`: the setting, and what is observed when.
    - `draw`: makes the figure from the results.
    - `summarise`: says more about the run than `_summed_up` does.
    """

    name: str
    experiment: Experiment
    point: dict[str, Any]
    job: TrainJob
    draw: Callable[[Results], Any]
    summarise: Callable[[Run], dict] = lambda run: {}

    @property
    def folder_name(self) -> str:
        """The name for people, the hash for the rest."""
        words = [self.name, *(f"{axis}-{value}" for axis, value in self.point.items())]
        word = re.sub(r"[^\w.+-]+", "-", "_".join(words))[:120]
        return f"{word}_{self.job.setting.hash[:8]}"


# ---- What is to be trained ----


def find_run(what: str, axes: dict) -> OneRun:
    """The run that a word and its axes name."""
    if is_sweep_file(what):
        return _run_of_file(what, axes)
    for _, package in paper_packages():
        if hasattr(package, "train_by_name") and package.RUN_NAME.fullmatch(what):
            experiment, summarise = package.train_by_name(what)
            return _point_of(what, experiment, axes, experiment.draw, summarise)
    key = _key_of(what)
    experiment = find_experiment(key)
    require(experiment.setting is not None, f"{key} trains nothing: `saddlescope run {key}` measures it.")
    return _point_of(key, experiment, axes, partial(_draw_one_run, title=experiment.title), what=what)


def _key_of(what: str) -> str:
    try:
        return one_key(what, "train")
    except InvalidInput as error:
        if is_file_name(what):
            raise
        examples = [p.RUN_EXAMPLE for _, p in paper_packages() if hasattr(p, "train_by_name")]
        raise InvalidInput(f"{error} A run by its name is written such as {', '.join(examples)}.") from None


def _point_of(key, experiment, axes, draw, summarise=lambda run: {}, what=None) -> OneRun:
    check_axes(key, experiment, axes)
    plan = experiment.plan({**experiment.full, **axes})
    _refuse_many(plan, what or key, axes, f"saddlescope run {what or key}")
    job = _trained_job(plan.job(plan.points[0]), key)
    return OneRun(key, experiment, dict(plan.points[0]), _observed(job), draw, summarise)


def _trained_job(job, key) -> TrainJob:
    """The one run of a point, without the experiment's analysis."""
    if isinstance(job, AnalysedJob):
        names = [name for name, _ in job.runs]
        require(
            len(names) == 1,
            f"A point of {key} has {len(names)} runs ({', '.join(names)}): `saddlescope run {key}` trains them.",
        )
        return job.runs[0][1]
    return job


def _run_of_file(path, axes) -> OneRun:
    plan = read_sweep(path, axes)
    _refuse_many(plan, path, axes, f"saddlescope sweep {path}")
    point, job = dict(plan.points[0]), plan.job(plan.points[0])
    if not isinstance(job, TrainJob):
        raise InvalidInput(f"{path} trains nothing: `saddlescope sweep {path}` measures it.")
    experiment = Experiment(
        title=plan.title,
        source=f"setting of {Path(path).name}",
        setting=lambda: job.setting,
        full={},
        quick={},
        draw=partial(_draw_one_run, title=plan.title),
        claims=(),
    )
    return OneRun(sweep_name(path), experiment, point, _observed(job), experiment.draw)


def _draw_one_run(results, title):
    from saddlescope.figures.one_run import draw_one_run  # brings matplotlib, which `--no-figure` does without

    return draw_one_run(results, title)


def _instants(setting) -> SaveAt:
    if setting.batch is None:
        return log_spaced(SAVED, setting.budget)
    return log_spaced_epochs(SAVED, setting.epochs)


def _refuse_many(plan: Plan, what, axes, command):
    """`train` takes one point; say which axes are left, and which command takes all."""
    if len(plan.points) == 1:
        return
    first = plan.points[0]
    several = [a for a in first if len({repr(p.get(a)) for p in plan.points}) > 1]
    one = [word for a in several for word in ("--axis", f"{a}={first[a]}")]
    choose = shlex.join(["saddlescope", "train", str(what), *one])
    given = shlex.join(w for a, v in axes.items() for w in ("--axis", f"{a}={','.join(map(str, v))}"))
    raise InvalidInput(
        f"`train` takes one run, and {what} has {len(plan.points):,} here: give one value of {', '.join(several)}, as "
        f"in `{choose}`, or run them all: `{' '.join(filter(None, (command, given)))}`."
    )


def _observed(job: TrainJob) -> TrainJob:
    """Where observables are wanted but no times for them, they are read at log-spaced times."""
    if job.observe and job.save_at == SaveAt():
        return replace(job, save_at=_instants(job.setting))
    return job


# ---- Training it ----


def folder_of_run(run: OneRun, out) -> Path:
    return Path(out) / run.folder_name


def train_to_folder(one: OneRun, out, quiet=False, figure=PNG) -> tuple[Path, Run, dict]:
    """Train, resuming from the folder's checkpoint if there is one; the folder, the run and its summary.

    `figure` says as which kinds of file it is drawn: `PNG`, `BOTH` or `()`.
    """
    folder, job = folder_of_run(one, out), one.job
    make_folder(folder)
    observe = job.setting, job.observe, job.save_at
    dataset = train(*observe, checkpoint=folder / CHECKPOINT, per_step=job.per_step, quiet=quiet)
    measured = collect([dataset], [one.point])
    results = Results(measured, collect([_predicted(one)], [one.point]))
    run = next(iter(results.runs()))
    summary = {"name": one.name, "title": f"{one.name}: {one.experiment.title}", "notes": []}
    summary |= {"point": one.point} | _summed_up(run, job.setting) | one.summarise(run)
    _write(folder, one, results, summary, figure)
    (folder / CHECKPOINT).unlink(missing_ok=True)
    seal(folder)
    write_contents(out)
    return folder, run, summary


def _predicted(one: OneRun) -> xr.Dataset:
    if not one.experiment.predict:
        return xr.Dataset()
    return one.experiment.prediction(one.point).run(None)


def _summed_up(run: Run, setting) -> dict:
    """What is true of any run. A number that is not finite is None: JSON has no word for it."""
    loss = run["loss"].values
    finite = loss[np.isfinite(loss)]
    whole = finite.size == loss.size
    return {
        "hash": setting.hash,
        "engine": str(run["engine"].values),
        "precision": setting.precision,
        "status": str(run.status.values),
        f"{setting.loss_axis}s": len(loss) - (setting.batch is None),
        "first_loss": _number(loss[0]),
        "last_loss": _number(loss[-1]),
        "min_loss": _number(finite.min(initial=np.inf)),
        "cuts": len(run.cuts),
        "drops": run.stages.n_drops if whole else None,
        "stages": run.stages.rows() if whole else [],
        "cpu_seconds": round(float(run.cpu_seconds), 3),
    }


def _number(x) -> float | None:
    return float(x) if np.isfinite(x) else None


def _write(folder, one: OneRun, results, summary, figure):
    """Everything but the checkpoint: results, summary, table, figure and page."""
    unseal(folder)
    about = {
        "key": one.name,
        "scale": "train",
        "title": summary["title"],
        "where": format_point(one.point) if one.point else one.experiment.source,
        "runs": 1,
        "wall_seconds": float(results.measured.wall_seconds.sum()),
        "cpu_seconds": float(results.measured.cpu_seconds.sum()),
        "trains": True,
        "command": shlex.join(["saddlescope", *sys.argv[1:]]) if "train" in sys.argv else "",
        "date": now(),
    }
    stored = save_results(folder / RESULTS, results, **about)
    save_verdicts(folder / VERDICTS, (), **about)
    write_bytes(folder / "summary.json", json.dumps(summary, indent=1).encode())
    write_bytes(folder / RUNS, runs_text(stored["measured"]).encode())
    write_tables(folder, results, ())
    for kind in BOTH:  # one that an earlier command drew is not of these results
        (folder / f"figure.{kind}").unlink(missing_ok=True)
    if figure:
        _write_figure(folder, one, results, pdf="pdf" in figure)
    write_bytes(folder / "index.html", page(read_page_data(folder, stored)).encode())


def _write_figure(folder, one: OneRun, results, pdf):
    from saddlescope.figures import save_figure, style

    with style():
        save_figure(one.draw(results), folder, pdf)
