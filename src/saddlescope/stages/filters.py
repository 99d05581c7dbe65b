"""Filters of a row of numbers, in numpy alone: importing `scipy.ndimage` takes longer than most logs take to read.

They give the bits of scipy's `gaussian_filter1d`, `uniform_filter1d` and `median_filter`: sums are taken in the same
order. Beyond its ends a row goes on with its first and last value.
"""

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

PIECE = 1 << 14  # points that are worked on at a time: they stay in the cache


def gaussian(values, width):
    """The mean under a Gaussian of this width, cut off at four widths."""
    reach = int(4 * width + 0.5)
    weight = np.exp(-0.5 / (width * width) * np.arange(-reach, reach + 1) ** 2)
    weight = (weight / weight.sum())[reach:]
    line, out = _extended(values, reach, reach), values * weight[0]
    for start in range(0, len(values), PIECE):
        part, at = out[start : start + PIECE], start + reach
        for k in range(reach, 0, -1):  # from the outside in, as scipy adds
            pair = line[at - k : at - k + len(part)] + line[at + k : at + k + len(part)]
            pair *= weight[k]
            part += pair
    return out


def moving_mean(values, size, beyond=None):
    """The mean over `size` points around each. `beyond` is what counts outside the row, in place of its ends."""
    before = size // 2
    line, out = _extended(values, before, size - before - 1, beyond), np.empty(len(values))
    out[0] = np.cumsum(line[:size])[-1]  # one after the other: `sum` adds in pairs
    np.subtract(line[size:], line[:-size], out=out[1:])
    np.cumsum(out, out=out)
    out /= size
    return out


def moving_median(values, size):
    """The median of `size` points, an odd number, around each: the point itself where they only rise or only fall."""
    middle, rows, out = size // 2, max(1, PIECE // size), np.array(values)
    line = _extended(values, middle, middle)
    windows = sliding_window_view(line, size)
    turns = np.flatnonzero(_has_steps(line, size, 1) & _has_steps(line, size, -1))
    for start in range(0, len(turns), rows):
        part = turns[start : start + rows]
        out[part] = np.partition(windows[part], middle, axis=1)[:, middle]
    return out


def _has_steps(line, size, sign):
    """Whether any step of a window of `size` points goes that way."""
    before = np.concatenate([[0], np.cumsum(sign * np.diff(line) > 0)])
    return before[size - 1 :] > before[: len(before) - size + 1]


def _extended(values, before, after, beyond=None):
    first, last = (values[0], values[-1]) if beyond is None else (beyond, beyond)
    return np.concatenate([np.full(before, first), values, np.full(after, last)])
