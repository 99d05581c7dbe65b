"""What `show` prints: an experiment from its file, or a stored result. Nothing here imports an experiment or JAX."""

import json
from collections import Counter
from pathlib import Path

from saddlescope.errors import number_of
from saddlescope.report.catalogue import Entry
from saddlescope.report.overview import costs, finished_folder, number_of_runs
from saddlescope.report.record import recorded
from saddlescope.report.source_file import SourceFile
from saddlescope.results import TICKS, stages_of_curve
from saddlescope.storage import result_folder as store
from saddlescope.storage.netcdf import Raw


def describe_experiment(entry: Entry, said: SourceFile | None, out) -> str:
    """What it is, where its figure and page are, and its verdicts."""
    place = f" ({entry.source})" if entry.source else ""
    lines = [f"{entry.key}: {entry.title}{place}"]
    if said is not None:
        lines += [said.doc.strip()] if said.doc else []
        lines += [f"{scale}: {_axes(axes)}" for scale, axes in said.axes.items()]
        lines += [] if said.trains else ["It trains nothing: it measures."]
    lines += [f"cost: {costs(entry)}"] if entry.seconds else []
    lines += [f"run it: saddlescope run {entry.key} --quick"]
    folder = finished_folder(entry.key, out)
    if record := recorded(entry.key, "full"):
        lines += [f"recorded verdicts (full, {number_of_runs(record[1])}):", *(f"  {v}" for v in record[0])]
    if folder:
        lines += ["your own run:", describe_stored(folder)]
    return "\n".join(lines)


def describe_stored(path, setting=False) -> str:
    """What it is, figure and page, verdicts, stages of the first runs; the JSON of the first setting where asked."""
    if Path(path).is_dir():
        store.refuse_unfinished(path)
    file = store.results_file(path)
    folder, first = file.parent, []
    if setting or not _has_text(file):
        measured, about = store.load_arrays(file)
        about |= {"runs": measured.sizes["run"], "versions": json.loads(about.get("versions", "{}"))}
        said = runs_text(measured)
        first = [_first_setting(measured)] if setting and "setting" in measured else []
    else:
        about, said = _texts_beside(file)
    lines = [f"{about.get('key')} ({about.get('scale')}): {about.get('title')}, {number_of_runs(about)}"]
    lines += [f"{word}: {folder / name}" for word, name in FILES.items() if (folder / name).is_file()]
    lines += _verdict_lines(folder / store.VERDICTS)
    made = ", ".join(f"{name} {number}" for name, number in about.get("versions", {}).items())
    return "\n".join([*lines, said, f"made with {made}", *first])


FILES = {"figure": "figure.png", "page": "index.html"}


def _verdict_lines(file) -> list[str]:
    if not file.is_file():
        return []
    found, record = store.load_verdicts(file)
    untested = record.get("untested")
    lines = ["verdicts:", *(f"  {v}" for v in found)] if found else []
    return lines + ([f"  not tested, because runs are missing: {number_of(untested, 'claim')}"] if untested else [])


def _axes(axes) -> str:
    return "; ".join(f"{name} = {v if isinstance(v, str) else _span(v)}" for name, v in axes.items())


def _span(values) -> str:
    shown = [str(v) for v in values]
    return ", ".join(shown) if len(shown) < 12 else f"{shown[0]}, {shown[1]}, … {shown[-1]} ({len(shown)})"


# ---- Its runs ----


def _has_text(file) -> bool:
    """Whether results.nc need not be read: its folder is finished, and says in words what is in it."""
    beside = [file.with_name(name).is_file() for name in (store.VERDICTS, store.RUNS)]
    return file.name == store.RESULTS and store.is_sealed(file.parent) and all(beside)


def _texts_beside(file) -> tuple[dict, str]:
    """What is said about a result, and about its runs. A damaged file is refused all the same."""
    for name in (store.RESULTS, store.RUNS):
        store.check_file(file.with_name(name))
    return store.load_verdicts(file.with_name(store.VERDICTS))[1], file.with_name(store.RUNS).read_text("utf-8")


def runs_text(measured: Raw) -> str:
    """How many runs are not finite, the stages of the first, and how many drops all have."""
    return "\n".join([f"not finite: {int((~measured['finite']).sum())}", *_stage_lines(measured)])


def _first_setting(measured: Raw) -> str:
    return f"first setting:\n{json.dumps(json.loads(str(measured['setting'][0])), indent=1)}"


def _stage_lines(measured: Raw, most=3) -> list[str]:
    """The stages of the first few runs, and how many drops the others have."""
    dims, losses = measured.columns.get("loss", ((), ()))
    if dims[1:] not in [(tick,) for tick in TICKS]:
        return []
    stages = [stages_of_curve(loss[:n]) for loss, n in zip(losses, measured["length"], strict=True)]
    axes = [name for name in measured.coords if measured.columns[name][0] == ("run",)]
    lines = []
    for i, found in enumerate(stages[:most]):
        label = ", ".join(f"{axis} = {measured[axis][i]}" for axis in axes) or "the run"
        ended = f" ({measured['status'][i]})" if "status" in measured else ""
        lines.append(f"stages of {label}{ended}:\n{found}")
    counts = Counter(found.n_drops for found in stages)
    spread = ", ".join(f"{drops} in {number_of(n, 'run')}" for drops, n in sorted(counts.items()))
    return [*lines, f"drops over all {number_of(len(stages), 'run')}: {spread}"]
