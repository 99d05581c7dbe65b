"""Records of names and numbers, as JSON holds them, made into a log."""

import numpy as np

from saddlescope.stages.logs.clock import log_of_columns, time_rank
from saddlescope.stages.logs.log import Log

SPLIT_KEYS = ("mode", "split", "phase")  # which data a record is about
TRAINING = frozenset(["train", "training"])
HELD_OUT = frozenset(["val", "valid", "validation", "test", "eval", "evaluation", "dev", "holdout"])


def log_of_records(kind, records, notes=()) -> Log:
    """A log of dicts with floats, one per record; a dict inside gives names such as train/loss."""
    found: dict[str, tuple[list, list]] = {}
    for i, record in enumerate(records):
        for name, value in _numbers(record, _split(record)):
            rows, values = found.setdefault(name, ([], []))
            rows.append(i)
            values.append(value)
    columns = {n: (np.array(rows), np.array(v, float)) for n, (rows, v) in found.items()}
    return log_of_columns(kind, columns, notes)


def _split(record):
    """The prefix for a record that says whether it is of training or validation."""
    said = (str(record.get(key, "")).lower() for key in SPLIT_KEYS)
    split = next((s for s in said if s in TRAINING | HELD_OUT), None)
    return f"{split}/" if split else ""


def _numbers(record, split, inside=""):
    for key, value in record.items():
        name = f"{inside}{key}"
        if isinstance(value, dict):
            yield from _numbers(value, split, f"{name}/")
        elif isinstance(value, float):
            yield (name if time_rank(name) is not None else split + name), value
