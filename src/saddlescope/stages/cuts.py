"""A curve cut into falls at the peaks of its rate, and plateaus at the valleys between."""

from dataclasses import replace
from itertools import pairwise

import numpy as np

from saddlescope.stages.gaps import LISTED
from saddlescope.stages.noise import RESOLUTION, blurred, level_of, quantum
from saddlescope.stages.plateaus import Stretch
from saddlescope.stages.value import Drop


def _peaks_of(log_rate, depth):
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


REACH = 2  # smoothing widths


class Cuts:
    """The curve cut at the valleys of its rate: one valley on each side of each peak.

    A valley is an index, or None at an end of the curve that has no plateau.

    **Arguments:**

    - `loss`: The curve, as a share of its largest size.
    - `curve`: The same, smoothed, from record low to record low.
    - `clock`: The time of each point, or its logarithm.
    - `width`: The width of the smoothing, in points.
    - `quiet`: Where nothing but noise is left of the rate.
    - `low`: Where the loss lies on its record lows, not above them on a rise.
    - `log_rate`: The logarithm of the rate of fall.
    - `depth`: The logarithm of the prominence that is asked for.
    """

    def __init__(self, loss, curve, clock, width, quiet, low, log_rate, depth):
        self.loss, self.curve, self.clock, self.width = loss, curve, clock, width
        self.quiet, self.low, self.log_rate = quiet, low, log_rate
        self.peaks, self.depth = _peaks_of(log_rate, depth), depth
        self.ends = curve[0], curve[-1]

    def valleys(self):
        """One valley before, between and after the peaks."""
        ends = [0, *self.peaks, len(self.log_rate) - 1]
        found: list[int | None] = [self.valley(a, b) for a, b in pairwise(ends)]
        # An end is a plateau if the rate there lies far below the peak's. Where noise is nearly as fast
        # as the drop it cannot: then the end is a plateau if most of it is nothing but noise.
        for side, p in ((0, self.peaks[0]), (-1, self.peaks[-1])) if self.peaks else ():
            part = slice(0, p) if side == 0 else slice(p + 1, None)
            still = self.quiet[part].sum() > self.quiet[part].size / 2
            if self.log_rate[found[side]] > self.log_rate[p] - self.depth and not still:
                found[side] = None
        return found

    def valley(self, a, b):
        """The middle of where nothing but noise is left, or else where the rate is smallest."""
        part, quiet, low = self.log_rate[a : b + 1], self.quiet[a : b + 1], self.low[a : b + 1]
        part = np.where(low, part, np.inf) if low.any() else part
        lowest = a + np.flatnonzero(quiet if quiet.any() else part == part.min())
        return int(lowest[len(lowest) // 2])

    def levels(self, valleys):
        """The loss in each valley, the median over the smoothing's reach; at an end without plateau, the end."""
        reach = round(2 * self.width)
        return [
            self.ends[i > 0] if v is None else float(np.median(self.loss[max(v - reach, 0) : v + reach + 1]))
            for i, v in enumerate(valleys)
        ]

    def drop_small_falls(self, min_fall, noise):
        """Take away the weakest peak until every fall is large against its level, the noise, rounding and the whole.

        At an end without plateau the level is one point, and asks for more against the noise.
        """
        least, level = max(RESOLUTION * np.ptp(self.curve), 2 * quantum(self.loss), 1e-300), level_of(self.curve)
        while self.peaks:
            valleys, falls = self.valleys(), []
            for i, p in enumerate(self.peaks):
                start, end = valleys[i : i + 2]
                sure = 5 if start is not None and end is not None else 12  # deviations of noise
                start, end = 0 if start is None else start, -1 if end is None else end
                fall = self.curve[start] - self.curve[end]
                falls.append(fall / max(min_fall * level[start], sure * noise[p], least))
            if min(falls) > 1:
                joined = self.no_plateau_between(valleys)
                if joined is None:
                    return
                slower = int(self.log_rate[self.peaks[joined]] > self.log_rate[self.peaks[joined + 1]])
                del self.peaks[joined + slower]  # one long fall, known by where it is fastest
                continue
            del self.peaks[int(np.argmin(falls))]

    def no_plateau_between(self, valleys):
        """The first of two drops with no plateau between them but a dip that noise made in the rate of a long fall.

        Over two smoothing widths to each side of the valley (at most a third of the way between the drops) the loss
        still falls at more than their rate over `prominence`. A clean curve has no such dips.
        """
        for i, (p, q) in enumerate(pairwise(self.peaks) if self.width else ()):
            reach = 1 + int(min(REACH * self.width, (q - p) / 6))
            a, b = max(valleys[i + 1] - reach, p), min(valleys[i + 1] + reach, q)
            mean = (self.curve[a] - self.curve[b]) / (self.clock[b] - self.clock[a])
            if np.log(max(mean, 1e-300)) > min(self.log_rate[p], self.log_rate[q]) - self.depth:
                return i
        return None

    def span(self, valleys):
        """From a tenth to nine tenths of the fall between two valleys."""
        first, last = (end if v is None else v for v, end in zip(valleys, (0, len(self.curve) - 1), strict=True))
        part, fall = self.curve[first : last + 1], self.curve[first] - self.curve[last]
        start = first + int(np.flatnonzero(part >= self.curve[first] - 0.1 * fall)[-1])
        return start, first + int(np.argmax(part <= self.curve[first] - 0.9 * fall))

    def stages(self, time, min_fall):
        """All falls, all plateaus, and the trends beside them."""
        valleys = self.valleys()
        levels = self.levels(valleys)
        drops = tuple(self.drop(p, valleys[i : i + 2], levels[i : i + 2], time) for i, p in enumerate(self.peaks))
        spans = [self.span(valleys[i : i + 2]) for i in range(len(self.peaks))]
        plateaus, trends = [], []
        for i, v in enumerate(valleys):
            if v is not None:
                near = [self.log_rate[p] for p in self.peaks[max(i - 1, 0) : i + 1]]
                flatness = float(np.exp(self.log_rate[v] - np.mean(near))) if near else self.spread()
                first = spans[i - 1][1] if i else 0
                last = spans[i][0] if i < len(spans) else len(self.loss) - 1
                stretch = Stretch(self.loss, time, min(first, v), max(last, v), None, min_fall)
                plateau, beside = stretch.plateau(v, levels[i])
                plateaus.append(replace(plateau, flatness=flatness))
                trends.extend(beside)
        falls = sorted((*drops, *self.shoulders(time, min_fall)), key=lambda d: d.at)
        return tuple(falls), tuple(plateaus), tuple(trends)

    def shoulders(self, time, min_fall):
        """Falls whose rate stands out by `LISTED` or more, but by less than was asked for."""
        listed = _peaks_of(self.log_rate, np.log(LISTED)) if self.depth > np.log(LISTED) else []
        peaks = sorted({*listed, *self.peaks})
        edges = [0, *peaks, len(self.log_rate) - 1]
        valleys = [self.valley(a, b) for a, b in pairwise(edges)]
        level, found = level_of(self.curve), []
        for i, p in enumerate(peaks):
            a, b = valleys[i : i + 2]
            inner = 0 < p < len(self.log_rate) - 1 and p not in self.peaks
            if inner and self.curve[a] - self.curve[b] > min_fall * level[a]:
                drop = self.drop(p, [a, b], [float(self.curve[a]), float(self.curve[b])], time)
                found.append(replace(drop, kind="shoulder"))
        return found

    def spread(self):
        """Without any drop: how far the smoothed loss moves, as a share of its level."""
        smooth = blurred(self.loss, self.width)
        return float(np.ptp(smooth) / level_of(smooth).mean())

    def drop(self, p, valleys, levels, time):
        """One fall, from its peak and the valleys beside it."""
        (a, b), (before, after) = valleys, levels
        start, end = self.span(valleys)
        start = 0 if a is None else start
        kind = "slope" if a is None else "unfinished" if b is None else "drop"
        rate = float(np.exp(self.log_rate[p]))
        return Drop(float(time[start]), float(time[end]), self.fastest(p, time), before, after, rate, kind)

    def fastest(self, p, time):
        """The top of the parabola through log r at the peak and its neighbours."""
        clock = self.clock
        if not 0 < p < len(clock) - 1:
            return float(time[p])
        x, y = clock[p - 1 : p + 2] - clock[p], self.log_rate[p - 1 : p + 2]
        bend, slope, _ = np.polyfit(x, y, 2)
        top = float(np.clip(-slope / (2 * bend), x[0], x[2])) if bend < 0 else 0.0
        return float(np.interp(clock[p] + top, clock, time))
