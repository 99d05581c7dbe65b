"""Lines through stretches of a curve, by least squares over time.

A curve is summed once over cells of points; a line through neighbouring cells then needs their sums alone. Each sum is
taken around the middle of what it is a sum of, so that nothing is lost far from the start of a long curve.
"""

from typing import NamedTuple

import numpy as np

CELLS = 10  # of a flank


class Line(NamedTuple):
    """One line, or many as arrays.

    **Arguments:**

    - `centre`, `mean`: the mean of the times and of the losses.
    - `slope`: per unit of time.
    - `moment`: Σ (t − centre)².
    - `points`: how many it goes through.
    """

    centre: np.ndarray
    mean: np.ndarray
    slope: np.ndarray
    moment: np.ndarray
    points: int

    def value(self, time):
        """Its value at a time."""
        return self.mean + self.slope * (time - self.centre)

    def variance(self, time):
        """The variance of its value there, for points of variance one: that of its mean, and that of its slope."""
        return 1 / self.points + (time - self.centre) ** 2 / self.moment

    def at(self, index) -> "Line":
        """Those at the given places, of many."""
        return Line(self.centre[index], self.mean[index], self.slope[index], self.moment[index], self.points)


def line_through(loss, clock) -> Line:
    """The line through all of these points."""
    centre, mean = clock.mean(), loss.mean()
    off = clock - centre
    moment = np.sum(off * off)
    return Line(centre, mean, np.sum(off * (loss - mean)) / max(moment, 1e-300), moment, len(loss))


class Lines:
    """The lines through all stretches of one length that begin at a cell.

    **Arguments:**

    - `loss`, `clock`: the curve and its times.
    - `length`: how many points each line goes through; it is rounded down to whole cells.
    """

    def __init__(self, loss, clock, length):
        self.cell = max(1, length // CELLS)
        self.cells = length // self.cell
        self.length = self.cell * self.cells
        whole = len(loss) // self.cell * self.cell
        self.time, self.mean, moment, product = _cells(loss[:whole], clock[:whole], self.cell)
        centre, mean = self._summed(self.time) / self.cells, self._summed(self.mean) / self.cells
        moment, product = self._summed(moment), self._summed(product)
        for k in range(self.cells):
            off = self._shifted(self.time, k) - centre
            moment = moment + self.cell * off * off
            product = product + self.cell * off * (self._shifted(self.mean, k) - mean)
        self.lines = Line(centre, mean, product / np.maximum(moment, 1e-300), moment, self.length)

    def _shifted(self, values, k):
        return values[k : len(values) - self.cells + 1 + k]

    def _summed(self, values) -> np.ndarray:
        return np.sum([self._shifted(values, k) for k in range(self.cells)], axis=0)

    def scatter(self, starts):
        """The variance of a point that the quarters of each line show, with about two degrees of freedom.

        Of four means, a line takes one degree for its mean, and for its slope the share of the moment that lies between
        the quarters.
        """
        line, found, between = self.lines.at(starts), 0.0, 0.0
        for part in np.array_split(np.arange(self.cells), 4):
            cells = starts[:, None] + part
            points, time = self.cell * len(part), self.time[cells].mean(axis=1)
            found = found + points * (self.mean[cells].mean(axis=1) - line.value(time)) ** 2
            between = between + points * (time - line.centre) ** 2
        return found / (3 - between / line.moment)


def _cells(loss, clock, size):
    """Of every cell: the means of time and loss, and the sums of squares and products around them."""
    if size == 1:
        none = np.zeros(len(loss))
        return clock, loss, none, none
    time, values = clock.reshape(-1, size), loss.reshape(-1, size)
    middle, mean = time.mean(axis=1), values.mean(axis=1)
    off = time - middle[:, None]
    return middle, mean, np.einsum("ij,ij->i", off, off), np.einsum("ij,ij->i", off, values - mean[:, None])
