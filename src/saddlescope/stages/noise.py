"""Noise of a curve: the deviation that is left after smoothing.

The deviation is read off the rises. What noise lets fall by chance it lets rise as often; a loss that is learned falls.
So drops, however many, do not count as noise, and noise that is correlated, as in a log that was smoothed, is measured
at each scale as what it is there.
"""

import numpy as np

from saddlescope.stages.filters import gaussian, moving_mean
from saddlescope.stages.level import Level
from saddlescope.stages.normal import upper_quantile

RISES = 0.02  # of the steps go up, where there is noise
TURNS = 4  # rises that turn round make noise; a test loss that rises once or twice is clean
SEEN = 0.1  # of the steps go up, where the noise of a width is seen
NEAR = 7  # blocks of noise that are taken together
CLEAN = 1e-6  # of the level: noise below it is none
NARROWEST, WIDER = 2.0, 1.5  # widths of smoothing, in points: the first, and the factor to the next
PLACES = 2048  # along a curve, at most, at which noise is known
GAUSSIAN = 3.545  # points that a Gaussian of width one counts as
RESOLUTION = 1e-12  # of the curve's whole range: what is smaller is not seen


# ---- Smoothing ----


def blurred(loss, width):
    """A Gaussian; three boxes, if it is wide."""
    if width > 20:
        for _ in range(3):
            loss = moving_mean(loss, round(np.sqrt(4 * width**2 + 1)))
        return loss
    return gaussian(loss, width) if width else loss


def lows(loss, least):
    """A line from each record low to the next: what rises and comes back is no drop.

    Over a rise by more than `least`, which is given for each point, the curve stays where it was, and falls at its end.
    """
    records = np.flatnonzero(loss <= np.minimum.accumulate(loss))
    value = loss[records]
    rose = np.flatnonzero((np.maximum.reduceat(loss, records) - value > least[records])[:-1])
    places, values = np.append(records, records[rose + 1] - 1), np.append(value, value[rose])
    order = np.argsort(places, kind="stable")
    return np.interp(np.arange(len(loss)), places[order], values[order])


# ---- Noise by its rises ----


def rising_share(loss, width, level: Level):
    """The deviation that noise leaves in one step of the smoothed curve, as a share of the level, at even places.

    A curve that hardly ever rises has none: what it shows is its shape. A steep fall hides noise, so blocks are taken
    together with their neighbours, each by the number of its rises.
    """
    return next(_rises(loss, width, level))


def _rises(loss, width, level):
    """The same, and how often the curve rises there. A value that was logged again is no step."""
    smooth = blurred(loss, width)
    step = np.diff(smooth) / level(smooth[1:])
    rows = in_blocks(step, max(32, 8 * width))
    often = np.minimum(np.sum(rows > 0, axis=1) / np.maximum(np.sum(rows != 0, axis=1), 1), 0.5)
    noisy = often > RISES
    square = np.mean(np.maximum(rows, 0) ** 2, axis=1)
    variance = np.where(noisy, square / _share_of_rises(np.where(noisy, often, 0.5)), 0.0)
    weight = np.where(noisy, often, 0.0)
    together, weights = (moving_mean(values, NEAR, beyond=0.0) for values in (weight * variance, weight))
    near = np.maximum(together, 0) / np.maximum(weights, 1e-6)
    return (along_points(values, min(len(loss), PLACES)) for values in (np.sqrt(near), _near_mean(often)))


def _near_mean(values):
    return moving_mean(values, min(NEAR, len(values)))


def _share_of_rises(often):
    """The mean square of rises over the variance of all steps, if so many of them rise.

    Their mean then lies m = Φ⁻¹(1 − often) deviations below nought, and E max(x, 0)² = (1 + m²) Φ(−m) − m φ(m).
    """
    m = np.array([upper_quantile(share) for share in often.tolist()])
    return (1 + m * m) * often - m * np.exp(-m * m / 2) / np.sqrt(2 * np.pi)


def _or_as_elsewhere(found, narrower, now, often):
    """s at one width. Where a fall hides it but not that of neighbours, it has grown as in the rest of the curve."""
    seen, hidden = now > SEEN, (now <= SEEN) & (often > SEEN)
    known = seen & (narrower > 0)
    grown = np.median(found[known] / narrower[known]) if known.any() else 1.0
    return np.where(hidden, np.maximum(found, grown * narrower), found)


class Noise:
    """What noise leaves in means of any length, as a share of the level.

    For white noise of deviation s, a step of the curve smoothed by a Gaussian of width w has
    0.376 s / w^1.5, and a mean over L points s / √L. Here s is measured at every w, and the largest
    up to it counts: correlation makes it grow.

    **Arguments:**

    - `loss`: the curve, without outliers.
    - `level`: what a share is a share of.
    """

    def __init__(self, loss, level: Level):
        self.widths, self.points = [NARROWEST], len(loss)
        while self.widths[-1] * WIDER <= len(loss) / 24:
            self.widths.append(self.widths[-1] * WIDER)
        share, often = _rises(loss, 0.0, level)  # between neighbours, where a slow fall hides least
        s, table = share / np.sqrt(2), []
        for width in self.widths:
            share, now = _rises(loss, width, level)
            s = _or_as_elsewhere(np.maximum(share * width**1.5 / 0.376, s), s, now, often)
            table.append(s)
        self.table = np.array(table)

    def of_means(self, length, at):
        """s, as seen by means over so many points, around these places."""
        row = self.table[int(np.argmin(np.abs(np.array(self.widths) - length / GAUSSIAN)))]
        place = np.asarray(at) * len(row) // self.points
        return row[np.minimum(np.maximum(place, 0), len(row) - 1)]  # np.clip takes three times as long

    def reversed(self) -> "Noise":
        """That of the curve read from its end."""
        found = object.__new__(Noise)
        found.widths, found.points, found.table = self.widths, self.points, self.table[:, ::-1]
        return found


def is_noisy(loss, level: Level) -> bool:
    """Whether there is noise at all, anywhere: several rises, above what is resolved, that turn round.

    Values that were logged again are left out, so that neither they nor lines drawn between them hide a turn.
    """
    moves = np.concatenate([[True], np.diff(loss) != 0])
    seen = loss[moves]
    turns = np.flatnonzero(np.diff(np.sign(np.diff(seen)))) + 1
    ends = seen[np.concatenate([[0], turns, [len(seen) - 1]])]
    least = np.maximum(CLEAN * level(ends[1:]), RESOLUTION * np.ptp(loss))
    rises = np.diff(ends) > least
    return bool(np.sum(rises[:-1] & (np.diff(ends)[1:] < -least[1:])) >= TURNS)


def in_blocks(values, size):
    """Rows of at least `size` values, as many as fit; the last few values may be left out."""
    rows = max(1, len(values) // int(size))
    return values[: len(values) // rows * rows].reshape(rows, -1)


def along_points(values, n):
    """A value per block, as a line along n points."""
    each = n / len(values)
    return np.interp(np.arange(n), (np.arange(len(values)) + 0.5) * each - 0.5, values)
