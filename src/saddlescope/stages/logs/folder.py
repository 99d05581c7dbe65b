"""The log in a folder, wherever a tool put it; several runs are named and not mixed."""

import os
import re
from dataclasses import replace
from fnmatch import fnmatch
from pathlib import Path

from saddlescope.errors import InvalidInput, number_of, require
from saddlescope.stages.logs.log import Log
from saddlescope.stages.logs.readers import read_file, reader_of

# In the order of choice. A run of TensorBoard or mlflow is a whole folder, the rest are files.
OF_TOOLS = ("results.nc", "trainer_state.json", "*.wandb", "*tfevents*", "metrics.csv")
STORES = ("mlflow.db", "mlruns", "*.db")
FILES = (*OF_TOOLS, *STORES, "*.jsonl", "*.csv", "*.tsv", "*.npz", "*.log")
WHOLE_FOLDER = ("*tfevents*",)
DEPTH, MOST = 5, 20_000  # folders below each other, and names looked at
CHECKPOINT = re.compile(r"checkpoint-(\d+)")


def read_inside(folder: Path) -> Log:
    """Read the one log in a folder; the log says which it was."""
    place = _find(folder)
    if place.is_file():
        log = read_file(place)
    else:
        reader = reader_of(place)
        if reader is None:
            raise InvalidInput(f"{place} is not a log that can be read: give another.")
        log = reader.read(place)
    if place == folder:
        return log
    inside = place.relative_to(folder).as_posix()
    return replace(log, notes=(f"It was read from {inside}.", *log.notes))


def _find(folder):
    """The file or folder of the one run in it."""
    names = _names_in(folder)
    for pattern in FILES:
        found = [path for path in names if fnmatch(path.name.removesuffix(".gz"), pattern)]
        if pattern in WHOLE_FOLDER:
            found = list(dict.fromkeys(path.parent for path in found))
        if pattern == "trainer_state.json":
            found = _last_checkpoints(found)
        if found:
            require(len(found) == 1, _several(folder, found))
            return found[0]
    nothing = f"The folder {folder} holds no curve: give a log file, or its folder."
    require(bool(names) and reader_of(folder) is not None, nothing)
    return folder  # such as that of one run of mlflow, whose files have any name


def _names_in(folder):
    """Files below a folder, and stores that are folders; not behind links, as `latest-run` is."""
    found, root = [folder] if folder.name == "mlruns" else [], len(folder.parts)
    whole_disk = str(folder) == folder.anchor
    for place, folders, files in os.walk("" if whole_disk else folder):
        here = Path(place)
        found += [here / name for name in sorted([*files, *(f for f in folders if f == "mlruns")])]
        deep = len(here.parts) - root >= DEPTH
        folders[:] = [] if deep else sorted(f for f in folders if f[0] != "." and f != "mlruns")
        if len(found) > MOST:
            break
    return found


def _last_checkpoints(states):
    """Each checkpoint of a run holds the history of those before it."""
    last: dict[Path, tuple[float, Path]] = {}
    for state in states:
        match = CHECKPOINT.fullmatch(state.parent.name)
        run = state.parent.parent if match else state.parent
        step = float(match[1]) if match else float("inf")
        last[run] = max(last.get(run, (-1.0, state)), (step, state))
    return [state for _, state in last.values()]


def _several(folder, found):
    names = [path.relative_to(folder).as_posix() for path in found]
    listed = ", ".join(names[:8]) + (f" and {len(names) - 8} more" if len(names) > 8 else "")
    return (
        f"The folder {folder} holds {number_of(len(found), 'run')}: {listed}. "
        "Give one of them, or several with --compare."
    )
