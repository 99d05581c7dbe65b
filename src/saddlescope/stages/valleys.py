"""Where the rate of fall is smallest, between two peaks or at an end."""

from itertools import pairwise

import numpy as np


class Valleys:
    """The valleys of a rate. They can be joined where a peak between two of them is taken away.

    A valley is an index, or None at an end of the curve that has no plateau.

    **Arguments:**

    - `log_rate`: The logarithm of the rate of fall.
    - `quiet`: Where nothing but noise is left of the rate.
    - `low`: Where the loss lies on its record lows, not above them on a rise.
    - `depth`: The logarithm of the prominence that is asked for.
    """

    def __init__(self, log_rate, quiet, low, depth):
        self.log_rate, self.low, self.depth = log_rate, low, depth
        self.quiet = np.flatnonzero(quiet)
        order = np.lexsort((log_rate, ~low))  # equal rates side by side, in the order of time; the low ones first
        new = (np.diff(log_rate[order]) != 0) | (np.diff(low[order].astype(int)) != 0)
        group = np.concatenate([[0], np.cumsum(new)])
        self.order, self.starts = order, np.searchsorted(group, np.arange(group[-1] + 2))
        self.group = np.empty(len(order), int)
        self.group[order] = group

    def lowest(self, a, b) -> int:
        """The middle of where nothing but noise is left, or else where the rate is smallest, from point a to b."""
        middle = self._middle_of(self.quiet, a, b)
        if middle is not None:
            return middle
        part, low = self.log_rate[a : b + 1], self.low[a : b + 1]
        return self._middle_of_ties(a + int(np.argmin(np.where(low, part, np.inf) if low.any() else part)), a, b)

    def joined(self, left, right, a, b) -> int:
        """The valley from a to b, of the valleys of two parts of it."""
        middle = self._middle_of(self.quiet, a, b)
        if middle is not None:
            return middle
        lower = min((left, right), key=lambda v: (not self.low[v], self.log_rate[v]))
        return self._middle_of_ties(lower, a, b)

    def _middle_of_ties(self, v, a, b) -> int:
        g = self.group[v]
        found = self._middle_of(self.order[self.starts[g] : self.starts[g + 1]], a, b)
        return int(v) if found is None else found

    def _middle_of(self, places, a, b) -> int | None:
        """The middle one of the places from a to b, if there is any."""
        first, end = np.searchsorted(places, (a, b + 1))
        return int(places[first + (end - first) // 2]) if end > first else None

    def between(self, peaks) -> list[int]:
        """Where the rate is smallest before, between and after the peaks, plateau or not."""
        return [self.lowest(a, b) for a, b in pairwise([0, *peaks, len(self.log_rate) - 1])]

    def around(self, peaks, between=None) -> list[int | None]:
        """One valley before, between and after the peaks."""
        found: list[int | None] = list(self.between(peaks) if between is None else between)
        if peaks:
            found[0], found[-1] = self.at_start(found[0], peaks[0]), self.at_end(found[-1], peaks[-1])
        return found

    def at_start(self, valley, peak) -> int | None:
        """None where the curve begins in a fall."""
        return self._if_plateau(valley, peak, np.searchsorted(self.quiet, peak), peak)

    def at_end(self, valley, peak) -> int | None:
        """None where the curve ends in a fall."""
        after = len(self.quiet) - np.searchsorted(self.quiet, peak + 1)
        return self._if_plateau(valley, peak, after, len(self.log_rate) - peak - 1)

    def _if_plateau(self, valley, peak, quiet, points):
        """An end is a plateau if the rate there lies far below the peak's. Where noise is nearly as fast as the drop it
        cannot: then the end is a plateau if most of it is nothing but noise."""
        falls = self.log_rate[valley] > self.log_rate[peak] - self.depth
        return None if falls and quiet <= points / 2 else valley
