"""Series out of columns: each column gets the time that fits it."""

import re

import numpy as np

from saddlescope.stages.logs.log import Log, Series

# In the order of choice; the last part of a name counts, as in trainer/global_step.
STEP_NAMES = ("step", "steps", "global_step", "iteration", "iterations", "iter", "iters")
UPDATE_NAMES = ("update", "updates", "batch", "batches")
TIME_NAMES = (*STEP_NAMES, *UPDATE_NAMES, "epoch", "epochs", "time")
MANY = 0.1  # of the points: so often does a time that is not one of points repeat
Column = tuple[np.ndarray, np.ndarray]  # the number of the record, and the value in it


def time_rank(name: str) -> int | None:
    """The place of a name among those of times; None for other names."""
    last = re.split(r"[/ ]", name.lower())[-1].lstrip("_")
    return TIME_NAMES.index(last) if last in TIME_NAMES else None


def log_of_columns(
    kind,
    columns: dict[str, Column],
    notes=(),
    unreadable=None,
    clock=None,
    totals=None,
) -> Log:
    """A log of columns over common records.

    **Arguments:**

    - `kind`, `notes`, `unreadable`: as in a `Log`.
    - `columns`: name → column.
    - `clock`: the name of the time, where the format knows it.
    - `totals`: what a column counts to, by its name, where that is known.
    """
    known = sorted((rank, n) for n in columns if (rank := time_rank(n)) is not None)
    clocks = ([clock] if clock in columns else []) + [n for _, n in known if n != clock]
    series = {}
    for name, (rows, values) in columns.items():
        found = {c: _complete(c, rows, columns) for c in clocks if c != name}
        times = {c: time for c, time in found.items() if time is not None}
        time, time_name, note = _time_of(times, totals or {})
        series[name] = Series(time, values, time_name, rows, note)
    return Log(kind, series, tuple(notes), unreadable=dict(unreadable or {}))


def at_rows(column: Column, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The values of a column in these records, and in which of them it has one."""
    own, values = column
    place = np.minimum(np.searchsorted(own, rows), len(own) - 1)
    return values[place], own[place] == rows


def counts_steps(name: str) -> bool:
    """Whether a time is one of steps: then it has one value at each, unlike an epoch."""
    rank = time_rank(name)
    return rank is not None and rank < TIME_NAMES.index("epoch")


def repeats(time: np.ndarray) -> bool:
    """Whether a time that never goes back stays the same for many points, as an epoch does."""
    change = np.diff(time)
    return bool(np.all(change >= 0) and np.sum(change == 0) > MANY * len(change))


def _complete(name, rows, columns):
    """A column at each of these records; None where it has gaps."""
    if not len(rows):
        return None
    time, there = at_rows(columns[name], rows)
    return time if there.all() and np.all(np.isfinite(time)) else None


def _time_of(times, totals):
    """The first time that increases; else epoch and count; else one that a resumed run wrote."""
    for name, time in times.items():
        if np.all(np.diff(time) > 0):
            return time, name, ""
    epoch = next((name for name in times if "epoch" in name.lower()), None)
    for name, time in times.items():
        count = _count_within(time, times.get(epoch) if epoch else None, totals.get(name))
        if name != epoch and count is not None:
            whole = epoch or "epoch"
            said = f"{name} starts again in each {whole}: the time is {whole} plus the share done."
            return count, whole, said
    for name, time in times.items():
        if _could_be_resumed(name, time):
            return time, name, ""
    return None, "point", _why_none(times)


def _count_within(time, epochs, total):
    """Epoch plus share, where a count starts again in each epoch; None where it does not.

    Without epochs, a count that had nearly reached its total before is taken to start again, and
    the rounds are counted from 0.
    """
    back = np.diff(time) < 0
    if epochs is None:
        full = total is not None and np.all(time[:-1][back] > (1 - MANY) * total)
        epochs = np.append(0, np.cumsum(back)) if full else None
    if epochs is None or not back.any() or not np.all(np.diff(epochs)[back] > 0):
        return None
    share = time / (total or (time.max() + (time.min() <= 0)))
    together = epochs + share
    return together if np.all(np.diff(together) > 0) else None


def _could_be_resumed(name, time):
    """Whole numbers that mostly differ; an epoch that stays the same is not a time of points."""
    if repeats(time) and not counts_steps(name):
        return False
    return bool(np.all(time == np.round(time)) and len(np.unique(time)) >= len(time) / 2)


def _why_none(times):
    """Why points are numbered though a time is there."""
    name = next((n for n, time in times.items() if repeats(time)), None)
    if name is None:
        return ""
    said = f"{name} is the same for many points, which are numbered from 0 instead."
    return said if counts_steps(name) else f"{said} --time {name!r} spreads them evenly."
