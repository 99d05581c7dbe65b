"""Offline runs of Weights & Biases: `run-*.wandb`, every logged step.

A file has a head of 7 bytes, then records in the frame of LevelDB's log. Each record is a protobuf
message. Those of the history hold items: a name, which may be nested, and a value as JSON.
"""

import struct
from pathlib import Path

import numpy as np

from saddlescope.errors import InvalidInput, require
from saddlescope.stages.logs.leveldb_log import read_records
from saddlescope.stages.logs.log import Log, require_begun
from saddlescope.stages.logs.many_runs import log_of_parts
from saddlescope.stages.logs.protobuf import BYTES, VARINT, read_fields

KIND = "W&B offline run"
NAME, MAGIC, VERSION = b":W&B", 0xBEE1, 0
HEAD = 7  # bytes
HISTORY, EXIT = 2, 18  # fields of a record


def fits(path: Path) -> bool:
    """Whether this is an offline run, or a folder that holds some."""
    path = Path(path)
    if path.is_dir() or not path.is_file():
        return bool(_run_files(path))
    with open(path, "rb") as file:
        return path.suffix == ".wandb" or file.read(len(NAME)) == NAME


def read(path: Path) -> Log:
    """All numbers of a run's history; of several runs in a folder, under `run/metric`."""
    path = Path(path)
    notes, parts = [], []
    for file in _run_files(path) or [path]:
        run = file.stem.removeprefix("run-")
        found = _read_file(file, notes)
        parts += [(run, name, *zip(*points, strict=True)) for name, points in found.items()]
    sentence = " ".join([f"{path} holds no number: give a run with a loss.", *notes])
    require_begun(bool(parts), sentence)
    return log_of_parts(KIND, parts, notes)


def _run_files(folder):
    """Run files below a folder; `latest-run` is a link to one of them."""
    found = folder.rglob("run-*.wandb") if folder.is_dir() else ()
    return sorted({file.resolve() for file in found})


def _read_file(file, notes):
    raw = file.read_bytes()
    if not raw:
        notes.append(f"{file.name} is empty.")
        return {}
    _check_head(raw, file)
    try:
        return _history(read_records(raw, HEAD, file.name, notes), file, notes)
    except InvalidInput:
        raise
    except (ValueError, OverflowError) as error:
        sentence = f"{file} holds records that are not those of W&B ({error}): give another file."
        raise InvalidInput(sentence) from None


def _check_head(raw, file):
    known = len(raw) >= HEAD and raw[:4] == NAME
    require(known, f"{file} is not a W&B offline run: such a file starts with {NAME.decode()!r}.")
    magic, version = struct.unpack("<HB", raw[4:HEAD])
    require(
        (magic, version) == (MAGIC, VERSION),
        f"{file} is of a W&B version that is not known here ({magic:#x}, {version}), "
        f"only ({MAGIC:#x}, {VERSION}) is: export the run as CSV instead.",
    )


def _history(records, file, notes):
    """Name → points (step, value), in the order of writing."""
    ends = np.cumsum([len(record) for record in records], dtype=np.int64)
    raw = b"".join(records)
    data = np.frombuffer(raw, np.uint8)
    fields = read_fields(data, np.append(0, ends[:-1])[: len(ends)], ends)
    said = any(note.startswith(file.name) for note in notes)
    if not said and not (fields.number == EXIT).any():
        notes.append(f"{file.name} has no record of the end: the run goes on, or was killed.")
    histories = fields.select(HISTORY, BYTES)
    inner = read_fields(data, histories.begin, histories.end)
    items = inner.select(1, BYTES)
    names, texts = _items(raw, data, items, file)
    steps = _steps(data, inner, len(histories.message))
    _take_own_steps(steps, items.message, names, texts)
    return _points(names, texts, steps[items.message].tolist())


def _items(raw, data, items, file):
    """Name and JSON text of each item; nested names are joined by dots, as W&B shows them."""
    fields = read_fields(data, items.begin, items.end)
    names, texts = [b""] * len(items.message), [b""] * len(items.message)
    columns = (fields.message, fields.number, fields.begin, fields.end)
    for item, number, begin, end in zip(*(column.tolist() for column in columns), strict=True):
        if number in (1, 2):
            names[item] += (b"." if names[item] else b"") + raw[begin:end]
        elif number == 16:
            texts[item] = raw[begin:end]
    known = not texts or any(texts)
    require(known, f"{file} has values in an unknown form: export the run as CSV instead.")
    return names, texts


def _steps(data, inner, n):
    """The step that each history record states for itself."""
    steps = np.zeros(n, np.int64)
    stated = inner.select(2, BYTES).last()
    numbers = read_fields(data, stated.begin, stated.end).select(1, VARINT).last()
    steps[stated.message[numbers.message]] = numbers.value.view(np.int64)
    return steps


def _take_own_steps(steps, owners, names, texts):
    """`_step` among the items wins over what the record states."""
    for owner, name, text in zip(owners.tolist(), names, texts, strict=True):
        if name == b"_step":
            steps[owner] = int(float(text))


def _points(names, texts, steps):
    """Numbers alone: W&B's own items (`_runtime` …), texts and media are left out."""
    found: dict[bytes, list] = {}
    for name, text, step in zip(names, texts, steps, strict=True):
        if not name.startswith(b"_") and (value := _number(text)) is not None:
            found.setdefault(name, []).append((step, value))
    return {name.decode(errors="replace"): points for name, points in found.items()}


def _number(text):
    """A JSON number, or the bare NaN and Infinity that W&B writes; None for all else."""
    try:
        return float(text)
    except ValueError:
        return None
