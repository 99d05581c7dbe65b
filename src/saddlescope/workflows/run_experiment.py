"""Run one experiment into its folder, and judge it there.

The folder keeps every run, in the format of a sweep (see sweeps/folder.py). A run that is there is not done
again: more seeds train only the new ones, and the same command twice trains nothing the second time.
"""

import shlex
import time
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from saddlescope.claims import Verdict
from saddlescope.errors import number_of, require
from saddlescope.experiment import Experiment
from saddlescope.storage.result_folder import VERDICTS, folder_of, is_sealed, load_verdicts, make_folder
from saddlescope.sweeps.folder import Folder, is_prediction
from saddlescope.workflows.find import Scale, own_file
from saddlescope.workflows.judge import cpu_seconds, movies, write_report


@dataclass(frozen=True)
class Outcome:
    """What a run of an experiment gave.

    **Arguments:**

    - `folder`: where everything is.
    - `verdicts`: one per claim that could be tested.
    - `runs`: runs that the result consists of.
    - `new_runs`: those of them that were not in the folder before.
    """

    folder: Path
    verdicts: tuple[Verdict, ...]
    runs: int
    new_runs: int

    @property
    def reused(self) -> str:
        """A sentence about the runs that were there before; empty where there were none."""
        old = self.runs - self.new_runs
        if old <= 0:
            return ""
        if self.new_runs == 0 and self.runs == 1:
            return "nothing was trained: the run was in the folder; `--again` does it again"
        if self.new_runs == 0:
            return f"nothing was trained: all {self.runs} runs were in the folder; `--again` does them again"
        return f"{number_of(self.new_runs, 'new run')}; {old} {'was' if old == 1 else 'were'} in the folder before"


def run_experiment(
    key: str,
    experiment: Experiment,
    scale: Scale,
    out,
    *,
    workers: int = 1,
    quiet: bool = False,
    movie: bool = False,
    replace: bool = False,
    again: bool = False,
) -> Outcome:
    """Run what is missing of an experiment, judge it, and write results, tables, figure and page.

    **Arguments:**

    - `key`: the name of its folder below `out`.
    - `experiment`, `scale`: what is run, and how much of it.
    - `out`: the folder of all results.
    - `workers`: processes; one means this process.
    - `quiet`: whether to print no progress.
    - `movie`: whether to make the experiment's movie too.
    - `replace`: whether a finished result of more runs may be overwritten.
    - `again`: whether to delete these runs first, and do them again from the start.
    """
    folder = folder_of(out, key, scale.name)
    make_folder(folder)  # a place that cannot be written to is found out before the first run
    if not replace:
        _refuse_fewer(folder, scale.runs)
    place = Folder(folder)
    if again:
        _forget_runs(place, experiment, scale)
    before, wall, cpu = place.versions(), time.perf_counter(), time.process_time()
    results = experiment.run(scale.axes, workers=workers, quiet=quiet, folder=folder)
    own, trained = time.process_time() - cpu, cpu_seconds(results)
    new = [n for n, t in place.versions().items() if before.get(n) != t and not is_prediction(n)]
    about = {
        "key": key,
        "title": experiment.title,
        "where": experiment.source,
        "file": own_file(key),
        "runs": results.measured.sizes["run"],
        "wall_seconds": time.perf_counter() - wall,  # of this command
        "cpu_seconds": own + trained if workers > 1 else max(own, trained),
    }
    about |= describe_run(key, scale.name, _changed(experiment, scale))
    for old in movies(folder):
        old.unlink()
    verdicts = write_report(folder, experiment, scale, results, about, movie)
    return Outcome(folder, verdicts, about["runs"], len(new))


def _changed(experiment: Experiment, scale: Scale) -> dict:
    """The axes that are not the experiment's own."""
    own = getattr(experiment, scale.name)
    return {a: tuple(v) for a, v in scale.axes.items() if a not in own or list(own[a]) != list(v)}


def _refuse_fewer(folder, runs):
    """Refuse to overwrite the result of hours by one of minutes."""
    if not is_sealed(folder):
        return
    there = load_verdicts(folder / VERDICTS)[1]["runs"]
    require(
        runs >= there,
        f"{folder} holds a finished result of {number_of(there, 'run')}, and this would be one of {runs}: give another "
        "`--out`, or `--replace` to overwrite it.",
    )


def _forget_runs(place: Folder, experiment: Experiment, scale: Scale):
    """Delete the runs of this grid, and all predictions; other runs of the folder stay."""
    for name in {*experiment.plan(scale.axes).names, *filter(is_prediction, place.names())}:
        place.forget(name)


# ---- What made it ----


def describe_run(key: str, scale: str, axes) -> dict:
    """The command that makes a result, and the time in UTC."""
    words = ["saddlescope", "run", key, *["--quick"] * (scale == "quick")]
    for name, values in axes.items():
        words += ["--axis", f"{name}={','.join(map(_written, values))}"]
    return {"command": shlex.join(words), "date": now()}


def now() -> str:
    """The time in UTC, as results store it."""
    return datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC")


def _written(value) -> str:
    """As `--axis` reads it."""
    return str(value).lower() if isinstance(value, bool) else str(value)
