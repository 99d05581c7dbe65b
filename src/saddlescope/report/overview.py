"""What `list` and `show` print."""

import json
from pathlib import Path

import numpy as np

from saddlescope.claims import tally
from saddlescope.errors import InvalidInput, require
from saddlescope.report.record import recorded
from saddlescope.results import Results
from saddlescope.storage import result_folder as store
from saddlescope.sweeps import grid
from saddlescope.workflows.find import find, matching


def overview(key, experiment, out, wide) -> str:
    """Two lines: key, title and place; then cost and verdicts. The titles stand in column `wide`."""
    costs = [f"{scale} {cost(recorded(key, scale))}" for scale in ("quick", "full")]
    return f"{key:<{wide}}{experiment.title} ({experiment.source})\n{'':<{wide}}{', '.join(costs)}; {latest(key, out)}"


def cost(record) -> str:
    return f"{record[1]['cpu_seconds']:.0f} s CPU" if record else "not yet recorded"


def latest(key, out) -> str:
    """The verdicts of the user's own last run, else the recorded ones."""
    found, whose = recorded(key, "full"), "recorded"
    if folder := finished(key, out):
        try:
            found, whose = store.load_verdicts(folder / store.VERDICTS), "yours"
        except InvalidInput as error:
            return str(error)
    if found is None:
        return "no verdicts stored yet"
    verdicts, about = found
    return f"{tally(verdicts)} ({whose}, {about['scale']}, {about['runs']} runs)"


def finished(key, out):
    """The folder of the user's own last run of an experiment, full before quick, if it is whole."""
    folders = [store.folder_of(out, key, scale) for scale in ("full", "quick")]
    return next(filter(store.is_sealed, folders), None)


def describe_key(key, out) -> str:
    """Setting of the first point, axes and recorded verdicts of an experiment."""
    names = matching(key)
    require(len(names) == 1, f"`show` takes one experiment, {key!r} names {len(names)}: {', '.join(names)}.")
    experiment = find(names[0])
    lines = [f"{names[0]}: {experiment.title} ({experiment.source})"]
    for scale in ("full", "quick"):
        axes = {name: list(values) for name, values in getattr(experiment, scale).items()}
        lines.append(f"{scale}: {', '.join(f'{name} = {span(values)}' for name, values in axes.items())}")
    if experiment.setting is not None:
        lines.append(f"first setting:\n{experiment.setting(**grid(**experiment.full)[0])}")
    if record := recorded(names[0], "full"):
        lines += ["recorded verdicts (full):", *(f"  {v}" for v in record[0])]
    if folder := finished(names[0], out):
        lines += [f"your run in {folder}:", *stage_lines(store.load_results(folder))]
    return "\n".join(lines)


def span(values):
    shown = [str(v) for v in values]
    return ", ".join(shown) if len(shown) < 6 else f"{shown[0]}, {shown[1]}, … {shown[-1]} ({len(shown)})"


def describe_stored(path) -> str:
    """Provenance, runs, stages of each run with a loss curve, and verdicts of a stored result."""
    if Path(path).is_dir():
        store.refuse_unfinished(path)
    about, results = store.attributes(path), store.load_results(path)
    measured = results.measured
    lines = [f"{about.get('key')} ({about.get('scale')}): {about.get('title')}, {measured.sizes['run']} runs"]
    lines += [f"not finite: {int((~measured.finite).sum())}", f"made with {versions(about)}"]
    if "setting" in measured:
        lines.append(f"first setting:\n{json.dumps(json.loads(str(measured.setting.values[0])), indent=1)}")
    lines += stage_lines(results)
    verdicts = store.results_file(path).parent / store.VERDICTS
    if verdicts.is_file():
        found, record = store.load_verdicts(verdicts)
        lines += ["verdicts:", *(f"  {v}" for v in found)]
        lines += [f"  not tested, for want of runs: {record['untested']} claims"] if record.get("untested") else []
    return "\n".join(lines)


def versions(about) -> str:
    return ", ".join(f"{name} {number}" for name, number in json.loads(about.get("versions", "{}")).items())


def stage_lines(results: Results, most=3):
    """The stages of the first few runs, and how many drops the others have."""
    if "length" not in results.measured:
        return []
    runs = [m for m in results.runs()]
    axes = [c for c in results.measured.coords if results.measured[c].dims == ("run",)]
    lines = []
    for run in runs[:most]:
        label = ", ".join(f"{a} = {run[a].values}" for a in axes)
        lines.append(f"stages of {label} ({run.status.values}):\n{run.stages}")
    counts, runs_with = np.unique([run.stages.n_drops for run in runs], return_counts=True)
    spread = ", ".join(f"{c} in {n} run{'s' if n > 1 else ''}" for c, n in zip(counts, runs_with, strict=True))
    return [*lines, f"drops over all {len(runs)} runs: {spread}"]
