"""Curves that were rounded, and logs that repeat their values."""

import numpy as np

FEWEST, MANY = 6, 20  # changes of a rounded curve
ROUNDED = 1e-9  # of the whole range: a finer step is that of floating point
RUNS = 20  # of equal values, at least, in a log that repeats them


def quantum(loss):
    """The step that all values are multiples of, if they were rounded; else 0.

    Few changes show it only if most of them are by one step.
    """
    moved = np.abs(np.diff(loss))
    moved = moved[moved > 1e-300]
    if not FEWEST <= len(moved) <= 0.9 * len(loss):
        return 0.0
    step = float(moved.min())
    coarse = step > ROUNDED * np.ptp(loss)  # not the last bits of a float
    if not coarse or (len(moved) < MANY and np.median(moved) > 1.5 * step):
        return 0.0
    whole = all(
        np.all(np.abs(v / step - np.rint(v / step)) < 1e-3 * np.maximum(v / step, 1)) for v in (moved, np.abs(loss))
    )
    return step if whole else 0.0


def unrounded(loss, step):
    """A rounded curve from the middle of each run of equal values to the middle of the next, if that is one step away.

    Over a larger change the two values stay where they are. Beyond the last middle the curve goes on as it did, by half
    a run.
    """
    first = _starts_of_runs(loss)
    if len(first) < 2:
        return loss
    last = np.concatenate([first[1:] - 1, [len(loss) - 1]])
    middle, value = 0.5 * (first + last), loss[first]
    half = 0.5 * np.clip(np.diff(value), -step, step)
    sudden = np.flatnonzero(np.abs(np.diff(value)) > 1.5 * step)
    places = np.concatenate([[-0.5], middle, last[sudden], first[sudden + 1], [len(loss) - 0.5]])
    values = np.concatenate([[value[0] - half[0]], value, value[sudden], value[sudden + 1], [value[-1] + half[-1]]])
    order = np.argsort(places, kind="stable")
    return np.interp(np.arange(len(loss)), places[order], values[order])


def _starts_of_runs(loss):
    """Where each run of equal values begins."""
    return np.concatenate([[0], np.flatnonzero(loss[1:] != loss[:-1]) + 1])


def logged_once(loss):
    """The places of the points that are left if a log repeats each value; all places, if it does not.

    It does if it has many runs of equal values, nearly all of them as long as the median one, or a multiple of it.
    """
    first = _starts_of_runs(loss)
    lengths = np.diff([*first, len(loss)])
    usual = int(np.median(lengths))
    if len(first) < RUNS or usual < 2 or np.mean(lengths % usual == 0) < 0.9:
        return np.arange(len(loss))
    since = np.arange(len(loss)) - np.repeat(first, lengths)
    return np.flatnonzero(since % usual == 0)
