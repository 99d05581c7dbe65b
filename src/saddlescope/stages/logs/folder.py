"""The log in a folder, wherever a tool put it; several runs are named and not mixed."""

import os
import re
from dataclasses import replace
from fnmatch import fnmatch
from pathlib import Path

from saddlescope.errors import InvalidInput, number_of, require
from saddlescope.stages.logs.log import Log, require_begun
from saddlescope.stages.logs.readers import read_file, reader_of

# In the order of choice. A run of TensorBoard or mlflow is a whole folder, the rest are files.
OURS = "results.nc"
OF_TOOLS = (OURS, "trainer_state.json", "*.wandb", "*tfevents*", "metrics.csv")
STORES = ("mlflow.db", "mlruns", "*.db")
FILES = (*OF_TOOLS, *STORES, "*.jsonl", "*.csv", "*.tsv", "*.npz", "*.log")
WHOLE_FOLDER = ("*tfevents*",)
DEPTH, MOST = 5, 20_000  # folders below each other, and names looked at
SHOWN = 8  # names in a sentence
CHECKPOINT = re.compile(r"checkpoint-(\d+)")


def read_inside(folder: Path) -> Log:
    """Read the one log in a folder; the log says which it was, and what else there is."""
    place, others = _find(folder)
    if place.is_file():
        log = read_file(place)
    else:
        reader = reader_of(place)
        if reader is None:
            raise InvalidInput(f"{place} is not a log that can be read: give another.")
        log = reader.read(place)
    notes = () if place == folder else (f"It was read from {_inside(place, folder)}.",)
    if others:
        one = len(others) == 1
        what = "another file that may be a log" if one else "other files that may be logs"
        notes += (f"The folder holds {what}; give its path to read it: {_listed(others)}.",)
    return replace(log, notes=(*notes, *log.notes))


def _find(folder):
    """The file or folder of the one run in it, and what else may be a log."""
    names = _names_in(folder)
    candidates = {pattern: found for pattern in FILES if (found := _matches(names, pattern))}
    if candidates:
        first, *rest = candidates.values()
        require(len(first) == 1, _several(folder, first))
        rest = [] if OURS in candidates else rest  # tables beside our results are not logs
        others = dict.fromkeys(place for found in rest for place in found if place != first[0])
        return first[0], [_named(place, folder, names) for place in others]
    nothing = f"The folder {folder} holds no curve: give a log file, or its folder."
    require_begun(bool(names) and reader_of(folder) is not None, nothing)
    return folder, []  # such as that of one run of mlflow, whose files have any name


def _matches(names, pattern):
    """What a pattern finds: files, or the folders of event files."""
    found = [path for path in names if fnmatch(path.name.removesuffix(".gz"), pattern)]
    if pattern in WHOLE_FOLDER:
        return list(dict.fromkeys(path.parent for path in found))
    return _last_checkpoints(found) if pattern == "trainer_state.json" else found


def _is_part(path):
    """Whether a file belongs to a run that is a whole folder."""
    return any(fnmatch(path.name, pattern) for pattern in WHOLE_FOLDER)


def _named(place, folder, names):
    """A path that reads this log alone: of the folder itself, the event file in it."""
    return next(n for n in names if _is_part(n)) if place == folder else place


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
    listed = _listed([_inside(path, folder) for path in found])
    return (
        f"The folder {folder} holds {number_of(len(found), 'run')}: {listed}. "
        "Give one of them, or several with --compare."
    )


def _inside(path, folder):
    return path.relative_to(folder).as_posix()


def _listed(places):
    more = f" and {len(places) - SHOWN} more" if len(places) > SHOWN else ""
    return ", ".join(map(str, places[:SHOWN])) + more
