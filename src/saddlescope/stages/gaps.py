"""Drops of a noisy curve: gaps between the trends on two sides.

A window has two flanks of L points and 2 w + 1 points between them. A line through each flank, drawn
to the middle, gives two values; the drop is their gap. On a straight fall the lines meet, so that a
slow fall has no gap, however far it goes. A gap counts if it is large against its own deviation,
against the level and against rounding, and if the curve falls faster between the flanks than in
them by a factor of `prominence`. The narrowest windows go first; later ones may not touch a drop
that is known. (Narrowest over threshold: Baranowski, Chen and Fryzlewicz, 2019.)
"""

from dataclasses import dataclass

import numpy as np

SHORTEST, LONGER = 6, 1.4  # points of a flank: the least, and the factor to the next
BETWEEN = (0, 1 / 8, 1 / 4, 1 / 2, 1)  # w as a share of L
SURE = 1.35  # × √(2 log n): the deviations that chance does not reach in n points
PRIOR = 2.0  # degrees of freedom that the noise of the whole curve counts for, beside the four of the flanks
QUANTA = 2.5  # of rounding, at least
LISTED = 2.0  # the factor by which a shoulder stands out


@dataclass(frozen=True)
class Gap:
    """A drop between two flanks, in points.

    **Arguments:**

    - `at`: its middle.
    - `half`: half of its width, w.
    - `flank`: the points of each flank, L.
    - `deviations`: how far the lines lie apart, over the deviation of that.
    """

    at: int
    half: int
    flank: int
    deviations: float

    @property
    def first(self) -> int:
        return self.at - self.half

    @property
    def last(self) -> int:
        return self.at + self.half


class Flanks:
    """Lines through every stretch of a curve, by sums.

    **Arguments:**

    - `loss`: the curve.
    """

    def __init__(self, loss):
        self.loss = loss
        self.base = loss[-1]  # sums of small numbers lose less
        self.range = np.ptp(loss) if loss.min() < 0 else None
        self.sums = np.concatenate([[0.0], np.cumsum(loss - self.base)])
        self.moments = np.concatenate([[0.0], np.cumsum(np.arange(len(loss)) * (loss - self.base))])

    def level(self, mean):
        """What a share is a share of: the mean; the range of the curve, where a loss can be negative."""
        return np.abs(mean) + 1e-300 if self.range is None else np.full_like(mean, self.range)

    def line(self, start, length, at):
        """Of the line through these points: its value at `at`, its slope and its mean."""
        total = self.sums[start + length] - self.sums[start]
        centre, mean = start + (length - 1) / 2, total / length
        slope = (self.moments[start + length] - self.moments[start] - centre * total) / _moment(length)
        return mean + self.base + slope * (at - centre), slope, mean + self.base

    def misfit(self, start, length):
        """Twice the variance per point that the means of a line's quarters show, with two degrees of freedom."""
        _, slope, mean = self.line(start, length, start)
        quarter, found = length // 4, 0.0
        for j in range(4):
            first = start + j * quarter + (length - 4 * quarter) // 2
            seen = self.base + (self.sums[first + quarter] - self.sums[first]) / quarter
            found = found + quarter * (seen - mean - slope * (first + quarter / 2 - start - length / 2)) ** 2
        return found


def least_deviations(n) -> float:
    """How many deviations a fall needs, so that chance does not reach it anywhere in n points."""
    return float(SURE * np.sqrt(2 * np.log(n)))


def find_gaps(flanks: Flanks, noise, grain, min_fall, prominence) -> tuple[list[Gap], list[Gap]]:
    """Drops, and shoulders that stand out less, in the order of time. `grain` is the step of rounding."""
    n, found, weaker = len(flanks.loss), [], []
    least = least_deviations(n)
    for length, half in _windows(n):
        at = np.arange(length + half, n - length - half - 1, max(1, (length + half) // 10))
        for gap in found:
            at = at[(at + half + length < gap.first) | (at - half - length > gap.last)]
        if not len(at):
            continue
        fall, deviation, ratio, level = _measured(flanks, noise, at, length, half, grain)
        good = (fall > least * deviation) & (fall > np.maximum(min_fall * level, QUANTA * grain)) & (ratio > LISTED)
        if not good.any():
            continue
        at, fall, ratio = at[good], fall[good], ratio[good]
        deviations = fall / _with_misfit(flanks, at, length, half, deviation[good])
        for sharp, into in ((ratio > prominence, found), (ratio <= prominence, weaker)):
            left = sharp & (deviations > least)
            while left.any():
                i = int(np.argmax(np.where(left, deviations, -np.inf)))
                into.append(Gap(int(at[i]), half, length, float(deviations[i])))
                left &= np.abs(at - at[i]) > length + 2 * half
    return sorted(found, key=_when), sorted(_apart(weaker, found), key=_when)


def _when(gap):
    return gap.at


def _apart(weaker, found):
    """Those, the narrowest first, that touch no other."""
    kept = []
    for gap in weaker:
        if all(gap.last + gap.flank < g.first or gap.first - gap.flank > g.last for g in (*found, *kept)):
            kept.append(gap)
    return kept


def edge_fall(flanks: Flanks, noise, room, min_fall, prominence, sign=1) -> int | None:
    """How many of the first `room` points fall before the curve becomes flat; None where it is flat at once.

    With a `sign` of −1 the curve is read from its end: how many of the last points it falls in,
    without a plateau after them.
    """
    loss, least = flanks.loss, least_deviations(len(flanks.loss))
    for length, half in _windows(room):
        few = max(3, length // 4)
        if few + half + length > room:
            continue
        line, slope, after = flanks.line(few + half, length, (few - 1) / 2)
        first = float(np.mean(loss[:few]))
        share = float(noise.of_means(few, few // 2))
        of_line = _variance_of_line(length, half + few / 2 + length / 2)
        deviation = share * np.sqrt(first**2 / few + after**2 * of_line) + 1e-300
        fall = sign * (first - line)
        fast = fall / (half + few / 2) > (prominence - 1) * abs(slope)
        if fall > max(least * deviation, min_fall * max(abs(first), abs(after))) and fast:
            return few + half
    return None


def _windows(n):
    """(L, w), the narrowest first."""
    lengths = [SHORTEST]
    while lengths[-1] * LONGER <= n / 3:
        lengths.append(max(lengths[-1] + 1, int(lengths[-1] * LONGER)))
    pairs = {(length, int(length * share)) for length in lengths for share in BETWEEN}
    return sorted((p for p in pairs if 2 * sum(p) < n), key=lambda p: (sum(p), p))


def _measured(flanks, noise, at, length, half, grain):
    """The gap at each place, its deviation, its ratio of rates, and the level before it."""
    left, slope_left, before = flanks.line(at - half - length, length, at)
    right, slope_right, after = flanks.line(at + half + 1, length, at)
    before, after = flanks.level(before), flanks.level(after)
    mid = half + length // 2
    share = np.maximum(noise.of_means(length, at - mid), noise.of_means(length, at + mid))
    fall = left - right
    variance = _variance_of_line(length, half + (length + 1) / 2) * (share**2 * (before**2 + after**2) + grain**2 / 6)
    inside = fall / (2 * half + 1) - 0.5 * (slope_left + slope_right)
    ratio = inside / np.maximum(np.maximum(np.abs(slope_left), np.abs(slope_right)), 1e-300)
    return fall, np.sqrt(variance) + 1e-300, ratio, before


def _variance_of_line(length, way):
    """The variance of a line's value so far from its centre, for points of variance one: that of its mean, and that of
    its slope times the way."""
    return 1 / length + way**2 / _moment(length)


def _moment(length):
    """Σ (x − mean)² of so many points in a row."""
    return length * (length**2 - 1) / 12


def _with_misfit(flanks, at, length, half, deviation):
    """The deviation, not below what the flanks themselves show: where a long fall hides noise, it does not rise."""
    shown = flanks.misfit(at - half - length, length) + flanks.misfit(at + half + 1, length)
    own = _variance_of_line(length, half + (length + 1) / 2) * shown / 2
    return np.maximum(deviation, np.sqrt((PRIOR * deviation**2 + 4 * own) / (PRIOR + 4)))
