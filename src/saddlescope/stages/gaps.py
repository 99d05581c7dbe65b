"""Drops of a noisy curve: gaps between the trends on two sides.

A window has two flanks of L points and some points between them. A line through each flank, drawn to the middle, gives
two values; the drop is their gap. On a straight fall the lines meet, so that a slow fall has no gap, however far it
goes, and neither has a fall in a time without points. A gap counts if it is large against its own deviation, against
the level and against rounding, and if the curve falls faster between the flanks than in them by a factor of
`prominence`. The narrowest windows go first; later ones may not touch a drop that is known. (Narrowest over threshold:
Baranowski, Chen and Fryzlewicz, 2019.)
"""

from bisect import bisect, insort
from dataclasses import dataclass
from operator import attrgetter
from typing import NamedTuple

import numpy as np

from saddlescope.stages.level import Level
from saddlescope.stages.lines import CELLS, Lines
from saddlescope.stages.views import OfLogLoss, OfLoss

SHORTEST, LONGER = 6, 1.4  # points of a flank: the least, and the factor to the next
FINEST = 20_000  # flanks that a curve is divided into, at most
BETWEEN = (0, 1 / 4, 1 / 2, 1, 2)  # points between the flanks, as a share of L
SURE = 1.35  # × √(2 log n): the deviations that chance does not reach in n points
PRIOR = 2.0  # degrees of freedom that the noise of the whole curve counts for, beside the four of the flanks
LISTED = 2.0  # the factor by which a shoulder stands out


@dataclass(frozen=True)
class Gap:
    """A drop between two flanks, in points.

    **Arguments:**

    - `first`, `last`: the points that it lies between, or on.
    - `flank`: the points of each flank, L.
    - `deviations`: how far the lines lie apart, over the deviation of that.
    """

    first: int
    last: int
    flank: int
    deviations: float

    @property
    def at(self) -> int:
        """Its middle."""
        return (self.first + self.last) // 2


class Known:
    """Gaps that touch no other, in the order of time."""

    def __init__(self):
        self.gaps: list[Gap] = []

    def add(self, gap):
        insort(self.gaps, gap, key=attrgetter("first"))

    def touches(self, first, last):
        """Whether each stretch from one point to another touches one of them."""
        starts = np.array([gap.first for gap in self.gaps])
        ends = np.array([-1, *(gap.last for gap in self.gaps)])
        return ends[np.searchsorted(starts, last, side="right")] >= first


def least_deviations(n) -> float:
    """How many deviations a fall needs, so that chance does not reach it anywhere in n points."""
    return float(SURE * np.sqrt(2 * np.log(n)))


def find_gaps(loss, clock, level: Level, noise, grain, min_fall, prominence) -> tuple[list[Gap], list[Gap]]:
    """Drops, and shoulders that stand out less, in the order of time: those of the loss and of its logarithm.

    `grain` is the step of rounding.
    """
    drops, weaker = Known(), []
    views = OfLoss(loss, level, min_fall, grain), OfLogLoss(loss, level, min_fall, grain)
    lines, least = [_LinesByLength(view.values, clock) for view in views], least_deviations(len(loss))
    for length, between in windows(len(loss)):
        for view, of in zip(views, lines, strict=True):
            window = _Window(of[length], between)
            starts = window.starts[~drops.touches(*window.reach(window.starts))]
            starts = _falling(window, starts, clock, view)
            if not starts.size:  # most windows end here
                continue
            places = _large(window, _measured(window, starts, clock, view, noise), least)
            if not places.start.size:  # and nearly all others here
                continue
            for gap in _surest(window, places.where(places.ratio > prominence)):
                drops.add(gap)
            weaker += _surest(window, places.where((places.ratio <= prominence) & (places.trend < 0)))
    return drops.gaps, _apart(weaker, drops)


def _falling(window, starts, clock, view):
    """Those where the curve falls as far as a drop must."""
    lines = window.lines.lines
    left, right = lines.at(starts), lines.at(starts + window.shift)
    middle = 0.5 * sum(window.ends(starts, clock))
    return starts[left.value(middle) - right.value(middle) > view.least(left.mean)]


def _large(window, places, least):
    """Those that lie so many deviations apart, against the noise of the curve and that of their own flanks."""
    places = places.where((places.fall > least * places.deviation) & (places.ratio > LISTED))
    if not places.start.size:  # the scatter of no places takes as long as that of a hundred
        return places
    places = _with_scatter(window, places)
    return places.where(places.fall > least * places.deviation)


class _LinesByLength(dict):
    """The lines through a curve, by the length of a flank."""

    def __init__(self, values, clock):
        super().__init__()
        self.values_and_clock = values, clock

    def __missing__(self, length):
        self[length] = Lines(*self.values_and_clock, length)
        return self[length]


def _apart(weaker, drops: Known) -> list[Gap]:
    """Those, the narrowest first, that touch no drop and no other."""
    kept, first, last = (
        Known(),
        *np.array([(g.first - g.flank, g.last + g.flank) for g in weaker], int).reshape(-1, 2).T,
    )
    for i in np.flatnonzero(~drops.touches(first, last)):
        if not kept.touches(first[i], last[i]):
            kept.add(weaker[i])
    return kept.gaps


def windows(n) -> list[tuple[int, int]]:
    """Lengths of a flank and of what lies between two, the narrowest first; they fit into n points."""
    lengths = [max(SHORTEST, n // FINEST)]
    while lengths[-1] * LONGER <= n / 3:
        lengths.append(max(lengths[-1] + 1, int(lengths[-1] * LONGER)))
    pairs = {(length, max(1, round(length * share))) for length in lengths for share in BETWEEN}
    return sorted((p for p in pairs if 2 * p[0] + p[1] < n), key=lambda p: (2 * p[0] + p[1], p))


class _Window:
    """Two flanks and what lies between them, to be moved along the curve."""

    def __init__(self, lines: Lines, between):
        self.lines, self.flank = lines, lines.length
        between = round(between / lines.cell)  # cells
        self.shift = lines.cells + between  # from flank to flank
        places = np.arange(max(0, len(lines.time) - lines.cells - self.shift + 1))
        self.starts = places[:: max(1, (lines.cells + between // 2) // CELLS)]

    def between(self, starts):
        """The first and the last point between the flanks; of none, the two that meet."""
        first = starts * self.lines.cell + self.flank
        return first, np.maximum((starts + self.shift) * self.lines.cell - 1, first)

    def ends(self, starts, clock):
        """The times at which the left flank ends and the right one begins."""
        first = starts * self.lines.cell + self.flank
        return clock[first - 1], clock[(starts + self.shift) * self.lines.cell]

    def reach(self, starts):
        """The first and the last point of the whole window."""
        first, last = self.between(starts)
        return first - self.flank, last + self.flank


class _Places(NamedTuple):
    """What a window measures at each of its places.

    `trend` is the mean slope of the flanks: those of a shoulder fall. `left` and `right` are the variances of the two
    lines in the middle, for points of variance one.
    """

    start: np.ndarray
    fall: np.ndarray
    deviation: np.ndarray
    ratio: np.ndarray
    trend: np.ndarray
    left: np.ndarray
    right: np.ndarray

    def where(self, chosen) -> "_Places":
        return _Places(*(values[chosen] for values in self))


def _measured(window: _Window, starts, clock, view, noise) -> _Places:
    lines, half = window.lines, window.flank // 2
    left, right = lines.lines.at(starts), lines.lines.at(starts + window.shift)
    first, begin = starts * lines.cell + window.flank, (starts + window.shift) * lines.cell
    inner, outer = window.ends(starts, clock)
    middle = 0.5 * (inner + outer)
    share = np.maximum(noise.of_means(window.flank, first - half), noise.of_means(window.flank, begin + half))
    shape = left.variance(middle), right.variance(middle)
    variance = sum(v * view.variance(share, line.mean) for v, line in zip(shape, (left, right), strict=True))
    inside = (left.value(inner) - right.value(outer)) / (outer - inner)
    beside = np.maximum(np.maximum(np.abs(left.slope), np.abs(right.slope)), 1e-300)
    fall = left.value(middle) - right.value(middle)
    trend = 0.5 * (left.slope + right.slope)
    return _Places(starts, fall, np.sqrt(variance) + 1e-300, inside / beside, trend, *shape)


def _with_scatter(window: _Window, places: _Places) -> _Places:
    """The deviation, not below what the flanks themselves show: where a long fall hides noise, it does not rise."""
    scatter = window.lines.scatter
    own = places.left * scatter(places.start) + places.right * scatter(places.start + window.shift)
    shown = np.sqrt((PRIOR * places.deviation**2 + 4 * own) / (PRIOR + 4))
    return places._replace(deviation=np.maximum(places.deviation, shown))


def _surest(window: _Window, places: _Places) -> list[Gap]:
    """The surest first; none lies within a flank of another."""
    deviations, chosen, found = places.fall / places.deviation, [], []
    for i in np.argsort(-deviations, kind="stable"):
        start = int(places.start[i])
        k = bisect(chosen, start)
        if all(abs(start - other) > window.shift for other in chosen[max(k - 1, 0) : k + 1]):
            chosen.insert(k, start)
            first, last = map(int, window.between(start))
            found.append(Gap(first, last, window.flank, float(deviations[i])))
    return found
