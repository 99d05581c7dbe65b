"""What `list` and `show` print. Nothing here imports an experiment or JAX."""

import json
import textwrap
from pathlib import Path

import numpy as np

from saddlescope.claims import tally
from saddlescope.errors import InvalidInput, number_of
from saddlescope.report.catalogue import Entry
from saddlescope.report.record import recorded
from saddlescope.report.source_file import SourceFile
from saddlescope.results import Results
from saddlescope.storage import result_folder as store

NARROW = 30  # columns that a title needs beside its key
WIDE = 10_000  # columns where the output is not a terminal

# ---- list ----


def overview(entries: list[Entry], out, columns: int | None) -> str:
    """Per experiment its key, title and place; then cost and verdicts, wrapped to so many columns."""
    width = columns or WIDE
    indent = max((len(e.key) for e in entries), default=0) + 2
    stacked = indent + NARROW > width  # a narrow terminal: the key on its own line
    lines = []
    for entry in entries:
        place = f" ({entry.source})" if entry.source else ""
        lines.append(_hung(entry.key, f"{entry.title}{place}", indent, width, stacked))
        facts = "; ".join(filter(None, (_costs(entry), _latest(entry.key, out))))
        lines.append(_hung("", facts, indent, width, stacked))
    return "\n".join(lines)


def overview_facts(entries: list[Entry], out) -> list[dict]:
    """The same for programs."""
    return [
        {
            "key": e.key,
            "title": e.title,
            "source": e.source,
            "cpu_seconds": e.seconds,
            "verdicts": _latest(e.key, out),
        }
        for e in entries
    ]


def results_in(folder) -> list[str]:
    """A line per finished result in a folder."""
    lines = []
    for file in sorted(Path(folder).glob(f"*/{store.VERDICTS}")):
        try:
            verdicts, about = store.load_verdicts(file)
        except InvalidInput as error:
            lines.append(str(error))
            continue
        said = f": {tally(verdicts)}" if verdicts else ""
        lines.append(f"{file.parent}  {about.get('title', '')} ({about.get('scale')}, {_runs(about)}){said}")
    return lines


def _hung(head, text, indent, width, stacked) -> str:
    """Text beside its head, or below it where there is no room beside."""
    start, rest = (head, "  ") if stacked else (f"{head:<{indent}}", " " * indent)
    first = f"{start}\n{rest}" if stacked and head else rest if stacked else start
    wrapped = textwrap.wrap(text, max(width - len(rest), 10), break_on_hyphens=False) or [""]
    return first + f"\n{rest}".join(wrapped)


def _costs(entry: Entry) -> str:
    return ", ".join(f"{scale} {seconds:.0f} s CPU" for scale, seconds in entry.seconds.items())


def _latest(key, out) -> str:
    """The verdicts of the user's own last run, else the recorded ones."""
    found, whose = recorded(key, "full"), "recorded"
    if folder := _finished(key, out):
        try:
            found, whose = store.load_verdicts(folder / store.VERDICTS), "yours"
        except InvalidInput as error:
            return str(error)
    if found is None:
        return "not yet run"
    verdicts, about = found
    return f"{tally(verdicts)} ({whose}, {about['scale']}, {_runs(about)})"


def _finished(key, out):
    """The folder of the user's own last run of an experiment, full before quick, if it is whole."""
    name = Path(key).stem if key.endswith(".py") else key
    folders = [store.folder_of(out, name, scale) for scale in ("full", "quick")]
    return next(filter(store.is_sealed, folders), None)


def _runs(about) -> str:
    return number_of(int(about.get("runs") or 0), "run")


# ---- show ----


def describe_experiment(entry: Entry, said: SourceFile | None, out) -> str:
    """What it is, where its figure and page are, and its verdicts."""
    place = f" ({entry.source})" if entry.source else ""
    lines = [f"{entry.key}: {entry.title}{place}"]
    if said is not None:
        lines += [said.doc.strip()] if said.doc else []
        lines += [f"{scale}: {_axes(axes)}" for scale, axes in said.axes.items()]
        lines += [] if said.trains else ["It trains nothing: it measures."]
    lines += [f"cost: {_costs(entry)}"] if entry.seconds else []
    lines += [f"run it: saddlescope run {entry.key} --quick"]
    folder = _finished(entry.key, out)
    if record := recorded(entry.key, "full"):
        lines += [f"recorded verdicts (full, {_runs(record[1])}):", *(f"  {v}" for v in record[0])]
    if folder:
        lines += ["your own run:", describe_stored(folder)]
    return "\n".join(lines)


def describe_stored(path, setting=False) -> str:
    """What it is, figure and page, verdicts, stages of the first runs; the JSON of the first setting where asked."""
    if Path(path).is_dir():
        store.refuse_unfinished(path)
    results, about = store.load_with_facts(path)
    measured, folder = results.measured, store.results_file(path).parent
    runs = _runs({"runs": measured.sizes["run"]})
    lines = [f"{about.get('key')} ({about.get('scale')}): {about.get('title')}, {runs}"]
    lines += [f"{word}: {folder / name}" for word, name in FILES.items() if (folder / name).is_file()]
    lines += _verdict_lines(folder / store.VERDICTS)
    lines += [f"not finite: {int((~measured.finite).sum())}", *_stage_lines(results), f"made with {_versions(about)}"]
    if setting and "setting" in measured:
        lines.append(f"first setting:\n{json.dumps(json.loads(str(measured.setting.values[0])), indent=1)}")
    return "\n".join(lines)


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


def _versions(about) -> str:
    return ", ".join(f"{name} {number}" for name, number in json.loads(about.get("versions", "{}")).items())


def _stage_lines(results: Results, most=3) -> list[str]:
    """The stages of the first few runs, and how many drops the others have."""
    if "length" not in results.measured:
        return []
    runs = list(results.runs())
    axes = [str(c) for c in results.measured.coords if results.measured[c].dims == ("run",)]
    lines = []
    for run in runs[:most]:
        label = ", ".join(f"{a} = {run[a].values}" for a in axes) or "the run"
        lines.append(f"stages of {label} ({run.status.values}):\n{run.stages}")
    counts, runs_with = np.unique([run.stages.n_drops for run in runs], return_counts=True)
    spread = ", ".join(f"{c} in {number_of(n, 'run')}" for c, n in zip(counts, runs_with, strict=True))
    return [*lines, f"drops over all {number_of(len(runs), 'run')}: {spread}"]
