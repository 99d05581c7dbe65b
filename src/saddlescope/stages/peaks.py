"""Maxima of a rate that stand out."""

import numpy as np


def peaks_of(log_rate, depth):
    """Maxima that stand out, the two ends included: beyond them the rate counts as nothing. Ties are one peak.

    A walk that remembers the highest point since the last valley, and the lowest since the last peak:
    a peak is sure when the curve has gone down by `depth` after it, and came up by as much before.
    """
    peaks: list[int] = []
    top, bottom, rising = 0, -np.inf, True
    turns = np.flatnonzero(np.diff(np.sign(np.diff(log_rate))) != 0) + 1
    for i in [0, *turns.tolist(), len(log_rate) - 1]:
        value = log_rate[i]
        if rising:
            if value > log_rate[top]:
                top = i
            elif value < log_rate[top] - depth:
                peaks.append(_middle_of_tie(log_rate, top))
                rising, bottom = False, value
        elif value < bottom:
            bottom = value
        elif value > bottom + depth:
            rising, top = True, i
    return [*peaks, _middle_of_tie(log_rate, top)] if rising else peaks


def _middle_of_tie(log_rate, i):
    """The middle of the points from i on that are as high as it."""
    last = i
    while last + 1 < len(log_rate) and log_rate[last + 1] == log_rate[i]:
        last += 1
    return (i + last) // 2
