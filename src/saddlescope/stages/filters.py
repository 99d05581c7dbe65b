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
    line = _extended(values, before, size - before - 1, beyond)
    moved = line[size:] - line[:-size]
    first = np.cumsum(line[:size])[-1:]  # one after the other: `sum` adds in pairs
    return np.cumsum(np.concatenate([first, moved])) / size


def moving_median(values, size):
    """The median of `size` points, an odd number, around each."""
    middle = size // 2
    windows = sliding_window_view(_extended(values, middle, middle), size)
    parts = (windows[start : start + PIECE] for start in range(0, len(values), PIECE))
    return np.concatenate([np.partition(part, middle, axis=1)[:, middle] for part in parts])


def _extended(values, before, after, beyond=None):
    first, last = (values[0], values[-1]) if beyond is None else (beyond, beyond)
    return np.concatenate([np.full(before, first), values, np.full(after, last)])
