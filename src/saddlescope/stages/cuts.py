"""A curve cut into falls at the peaks of its rate, and plateaus at the valleys between."""

from dataclasses import replace

import numpy as np

from saddlescope.stages.gaps import LISTED
from saddlescope.stages.noise import RESOLUTION, blurred
from saddlescope.stages.peaks import peaks_of
from saddlescope.stages.plateaus import Stretch
from saddlescope.stages.small_falls import without_small_falls
from saddlescope.stages.valleys import Valleys
from saddlescope.stages.value import Drop


class Cuts:
    """The curve cut at the valleys of its rate: one valley on each side of each peak.

    A valley is an index, or None at an end of the curve that has no plateau.

    **Arguments:**

    - `loss`: The curve, as a share of its largest size.
    - `curve`: The same, smoothed, from record low to record low.
    - `clock`: The time of each point, or its logarithm.
    - `level`: What a share is a share of.
    - `width`: The width of the smoothing, in points.
    - `quiet`: Where nothing but noise is left of the rate.
    - `low`: Where the loss lies on its record lows, not above them on a rise.
    - `log_rate`: The logarithm of the rate of fall.
    - `depth`: The logarithm of the prominence that is asked for.
    """

    def __init__(self, loss, curve, clock, level, width, quiet, low, log_rate, depth):
        self.loss, self.curve, self.clock, self.level, self.width = loss, curve, clock, level, width
        self.log_rate, self.depth = log_rate, depth
        self.valleys_of = Valleys(log_rate, quiet, low, depth)
        self.peaks = peaks_of(log_rate, depth)
        self.ends = float(curve[0]), float(curve[-1])

    def valleys(self):
        """One valley before, between and after the peaks."""
        return self.valleys_of.around(self.peaks)

    def levels(self, valleys):
        """The loss in each valley, the median over the smoothing's reach; at an end without plateau, the end."""
        reach = round(2 * self.width)
        return [
            self.ends[i > 0] if v is None else float(np.median(self.loss[max(v - reach, 0) : v + reach + 1]))
            for i, v in enumerate(valleys)
        ]

    def drop_small_falls(self, min_fall, noise, grain):
        """Take peaks away until every fall is large against its level, the noise, rounding and the whole."""
        least = np.maximum(min_fall * self.level(self.curve), max(RESOLUTION * np.ptp(self.curve), 2 * grain, 1e-300))
        self.peaks = without_small_falls(self, least, noise)

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
                stretch = Stretch(self.loss, time, self.level, min(first, v), max(last, v), None, min_fall)
                plateau, beside = stretch.plateau(v, levels[i])
                plateaus.append(replace(plateau, flatness=flatness))
                trends.extend(beside)
        falls = sorted((*drops, *self.shoulders(time, min_fall)), key=lambda d: d.at)
        return tuple(falls), tuple(plateaus), tuple(trends)

    def shoulders(self, time, min_fall):
        """Falls whose rate stands out by `LISTED` or more, but by less than was asked for."""
        listed = peaks_of(self.log_rate, np.log(LISTED)) if self.depth > np.log(LISTED) else []
        peaks = sorted({*listed, *self.peaks})
        valleys, level, found = self.valleys_of.between(peaks), self.level(self.curve), []
        drops = set(self.peaks)
        for i, p in enumerate(peaks):
            a, b = valleys[i : i + 2]
            inner = 0 < p < len(self.log_rate) - 1 and p not in drops
            if inner and self.curve[a] - self.curve[b] > min_fall * level[a]:
                drop = self.drop(p, [a, b], [float(self.curve[a]), float(self.curve[b])], time)
                found.append(replace(drop, kind="shoulder"))
        return found

    def spread(self):
        """Without any drop: how far the smoothed loss moves, as a share of its level."""
        smooth = blurred(self.loss, self.width)
        return float(np.ptp(smooth) / self.level(smooth).mean())

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
