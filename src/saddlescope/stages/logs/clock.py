"""Series out of columns: each column gets the time that fits it."""

import re

import numpy as np

from saddlescope.stages.logs.log import Log, Series

# In the order of choice; the last part of a name counts, as in trainer/global_step.
STEP_NAMES = ("step", "steps", "global_step", "iteration", "iterations", "iter", "iters")
TIME_NAMES = (*STEP_NAMES, "update", "updates", "epoch", "epochs", "time")
Column = tuple[np.ndarray, np.ndarray]  # the number of the record, and the value in it


def time_rank(name: str) -> int | None:
    """The place of a name among those of times; None for other names."""
    last = re.split(r"[/ ]", name.lower())[-1].lstrip("_")
    return TIME_NAMES.index(last) if last in TIME_NAMES else None


def log_of_columns(kind, columns: dict[str, Column], notes=(), unreadable=None, clock=None) -> Log:
    """A log of columns over common records. `clock` names the time where the format knows it."""
    ranked = {name: time_rank(name) for name in columns}
    known = sorted((r, name) for name, r in ranked.items() if r is not None)
    clocks = ([clock] if clock in columns else []) + [n for _, n in known if n != clock]
    series = {}
    for name, (rows, values) in columns.items():
        time, time_name = _time_of(rows, [c for c in clocks if c != name], columns)
        series[name] = Series(time, values, time_name, rows)
    return Log(kind, series, tuple(notes), unreadable=dict(unreadable or {}))


def at_rows(column: Column, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The values of a column in these records, and in which of them it has one."""
    own, values = column
    place = np.minimum(np.searchsorted(own, rows), len(own) - 1)
    return values[place], own[place] == rows


def _time_of(rows, clocks, columns):
    """The first column that increases; else the first that a resumed run could have written."""
    resumed = None, "point"
    epochs = _complete(next((c for c in clocks if "epoch" in c.lower()), None), rows, columns)
    for name in clocks:
        time = _complete(name, rows, columns)
        if time is None:
            continue
        if np.all(np.diff(time) > 0):
            return time, name
        if resumed[0] is None and _could_be_resumed(time, epochs):
            resumed = time, name
    return resumed


def _complete(name, rows, columns):
    if name is None or not len(rows):
        return None
    time, there = at_rows(columns[name], rows)
    return time if there.all() and np.all(np.isfinite(time)) else None


def _could_be_resumed(time, epochs):
    """Whole numbers that mostly differ. A count that starts again in each epoch is not a time."""
    back = np.flatnonzero(np.diff(time) < 0)
    if epochs is not None and len(back) and np.all(np.diff(epochs)[back] > 0):
        return False
    return bool(np.all(time == np.round(time)) and len(np.unique(time)) >= len(time) / 2)
