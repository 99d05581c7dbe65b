"""What lies between two falls: a plateau, and the slow falls or rises beside it."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from saddlescope.stages.gaps import least_deviations
from saddlescope.stages.level import Level
from saddlescope.stages.lines import line_through
from saddlescope.stages.noise import GAUSSIAN, blurred
from saddlescope.stages.value import Plateau, Trend

BAND = 0.1  # of the level: how far the smoothed loss may move on a plateau
LIKELY = 1.96  # deviations: an interval of 95 %
OFTEN = 1.28  # deviations: so far above a threshold, nine of ten are seen


@dataclass(frozen=True)
class Stretch:
    """The points from the end of one fall to the start of the next, in a curve that is known.

    **Arguments:**

    - `loss`: the curve, without outliers.
    - `time`: the time of each point.
    - `level`: what a share is a share of.
    - `first`, `last`: the first and the last point of the stretch.
    - `noise`: what noise leaves in means; None where there is none.
    - `min_fall`: the least fall of a drop, as a share of the level.
    - `tails`: how many points at its ends may belong to the tails of the falls beside it.
    """

    loss: np.ndarray
    time: np.ndarray
    level: Level
    first: int
    last: int
    noise: object
    min_fall: float
    tails: tuple[int, int] = (0, 0)

    @cached_property
    def smooth(self) -> np.ndarray:
        """The loss of the stretch, smoothed by a sixteenth of it where there is noise."""
        part = self.loss[self.first : self.last + 1]
        return blurred(part, len(part) / 16) if self.noise is not None and len(part) > 16 else part

    def share(self, at, length) -> float:
        """The deviation of a point, as means over so many points see it, as a share of the level."""
        return 0.0 if self.noise is None else float(self.noise.of_means(length, at))

    def flattest(self) -> int:
        """The middle of the quarter that moves least, by lines through the curve."""
        n = self.last - self.first + 1
        if n < 16:
            return self.first + n // 2
        length = n // 4
        starts = range(self.first, self.last + 1 - length, max(1, length // 8))
        slopes = [line_through(self.loss[i : i + length], self.time[i : i + length]).slope for i in starts]
        return int(starts[int(np.argmin(np.abs(slopes)))] + length // 2)

    def core(self, at) -> tuple[int, int]:
        """The points around `at` in which the smoothed loss stays within the band.

        A wide smoothing mixes a plateau with the fall before it. So the core grows with narrower ones, as long as they
        leave less noise than the band is wide.
        """
        part, i = self.smooth, at - self.first
        middle, width = part[i], len(part) / 16
        a, b = _around(part, i, i, middle, max(BAND, self.left(at, width)) * self.level(middle))
        while self.noise is not None and (width := width / 2) > 1 and self.left(at, width) < BAND:
            part = blurred(self.loss[self.first : self.last + 1], width)
            a, b = _around(part, a, b, middle, BAND * self.level(middle))
        return self.first + a, self.first + b

    def left(self, at, width) -> float:
        """Three deviations of what a smoothing of this width leaves of the noise, as a share of the level."""
        points = max(GAUSSIAN * width, 1.0)
        return 3 * self.share(at, points) / float(np.sqrt(points))

    def plateau(self, at, mean=None) -> tuple[Plateau, tuple[Trend, ...]]:
        """The plateau around `at`, and what is left of the stretch. Its level is the mean, or the one given."""
        a, b = self.core(at)
        points, inner, time = b - a + 1, self.inner(a, b), self.time
        mean = float(np.mean(self.loss[inner])) if mean is None else float(mean)
        size = float(self.level(mean))
        deviation = self.share(at, points) * size
        within = LIKELY * deviation / np.sqrt(points)
        slope, unsure = _slope(time[inner], self.loss[inner], deviation)
        seen = (least_deviations(len(self.loss)) + OFTEN) * deviation * np.sqrt(24 / max(points, 24)) / size
        found = Plateau(
            float(time[a]), float(time[b]), float(time[at]), mean, np.nan, (mean - within, mean + within),
            (slope, slope - unsure, slope + unsure), smallest_drop=float(max(seen, self.min_fall)),
        )  # fmt: skip
        return found, (*self._trends(self.first, a), *self._trends(b, self.last))

    def inner(self, a, b) -> slice:
        """The points of the core that no tail reaches; all of it where that leaves less than half."""
        first, last = max(a, self.first + self.tails[0]), min(b, self.last - self.tails[1])
        return slice(first, last + 1) if 2 * (last - first) > b - a else slice(a, b + 1)

    def _trends(self, a, b) -> tuple[Trend, ...]:
        """Slow falls and rises between two points of the stretch: up to its highest point, and down from there."""
        if b - a < 2:
            return ()
        top = a + int(np.argmax(self.smooth[a - self.first : b - self.first + 1]))
        return tuple(t for t in (self._trend(a, top), self._trend(top, b)) if t is not None)

    def _trend(self, a, b):
        """A slow fall or a rise from one point to another; None where it hardly moves."""
        smooth = self.smooth
        before, after = float(smooth[a - self.first]), float(smooth[b - self.first])
        if abs(before - after) <= 0.5 * BAND * float(self.level(max(before, after))):
            return None
        kind = "slow fall" if before > after else "rise"
        return Trend(float(self.time[a]), float(self.time[b]), before, after, kind)


def _around(values, a, b, middle, off):
    """The points around those from a to b that are no further than `off` from the middle; at least those."""
    outside = np.abs(values - middle) > off
    before, after = np.flatnonzero(outside[:a]), np.flatnonzero(outside[b + 1 :])
    return int(before[-1]) + 1 if before.size else 0, b + int(after[0]) if after.size else len(values) - 1


def _slope(time, part, deviation):
    """The slope of a line through the points, and half of its interval."""
    if len(part) < 3:
        return 0.0, 0.0
    line = line_through(part, time)
    return float(line.slope), float(LIKELY * deviation / np.sqrt(line.moment))
