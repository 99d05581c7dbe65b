"""What `list` prints. Nothing here imports an experiment; numpy is imported where there are results to read."""

import textwrap
from pathlib import Path

from saddlescope.errors import InvalidInput, number_of
from saddlescope.report.catalogue import Entry
from saddlescope.storage import result_folder as store

NARROW = 30  # columns that a title needs beside its key
WIDE = 10_000  # columns where the output is not a terminal


def overview(entries: list[Entry], out, columns: int | None) -> str:
    """Per experiment its key, title and place; then cost and verdicts, wrapped to so many columns."""
    width = columns or WIDE
    indent = max((len(e.key) for e in entries), default=0) + 2
    stacked = indent + NARROW > width  # a narrow terminal: the key on its own line
    lines = []
    for entry in entries:
        place = f" ({entry.source})" if entry.source else ""
        lines.append(_hung(entry.key, f"{entry.title}{place}", indent, width, stacked))
        facts = "; ".join(filter(None, (costs(entry), _latest(entry, out))))
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
            "verdicts": _latest(e, out),
        }
        for e in entries
    ]


def results_in(folder) -> list[str]:
    """A line per finished result in a folder."""
    from saddlescope.claims import tally

    lines = []
    for file in sorted(Path(folder).glob(f"*/{store.VERDICTS}")):
        try:
            verdicts, about = store.load_verdicts(file)
        except InvalidInput as error:
            lines.append(str(error))
            continue
        said = f": {tally(verdicts)}" if verdicts else ""
        lines.append(f"{file.parent}  {about.get('title', '')} ({about.get('scale')}, {number_of_runs(about)}){said}")
    return lines


def _hung(head, text, indent, width, stacked) -> str:
    """Text beside its head, or below it where there is no room beside."""
    start, rest = (head, "  ") if stacked else (f"{head:<{indent}}", " " * indent)
    first = f"{start}\n{rest}" if stacked and head else rest if stacked else start
    wrapped = textwrap.wrap(text, max(width - len(rest), 10), break_on_hyphens=False) or [""]
    return first + f"\n{rest}".join(wrapped)


def costs(entry: Entry) -> str:
    """`quick 3 s CPU, full 80 s CPU`."""
    return ", ".join(f"{scale} {seconds:.0f} s CPU" for scale, seconds in entry.seconds.items())


def _latest(entry: Entry, out) -> str:
    """The verdicts of the user's own last run, else the recorded ones."""
    folder = finished_folder(entry.key, out)
    if folder is None:
        return entry.verdicts or "not yet run"
    from saddlescope.report.record import in_one_line

    try:
        return in_one_line(*store.load_verdicts(folder / store.VERDICTS), "yours")
    except InvalidInput as error:
        return str(error)


def finished_folder(key, out):
    """The folder of the user's own last run of an experiment, full before quick, if it is whole."""
    name = Path(key).stem if key.endswith(".py") else key
    folders = [store.folder_of(out, name, scale) for scale in ("full", "quick")]
    return next(filter(store.is_sealed, folders), None)


def number_of_runs(about) -> str:
    """Of a record or a result, by what is said about it."""
    return number_of(int(about.get("runs") or 0), "run")
