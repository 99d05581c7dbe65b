"""Noise of a curve, the smoothing it asks for, and the rate of fall that is left."""

import numpy as np
from scipy.ndimage import gaussian_filter1d, maximum_filter1d, median_filter, uniform_filter1d
from scipy.special import ndtri

OUTLIER = 6.0  # deviations from the median of the neighbours
STANDS_OUT = 45  # times the rate of noise, for the fastest drop
NEAR = 7  # blocks of noise that are taken together
RISES = 0.02  # of the steps go up, where there is noise
LEAST = 2.0  # points of smoothing, where there is noise at all
RESOLUTION = 1e-12  # of the curve's whole range: what is smaller is not seen


def level_of(loss):
    """What a share is a share of: the loss itself; the range, where a loss can be negative."""
    return np.maximum(loss, 1e-30 * loss.max() + 1e-300) if loss.min() >= 0 else np.full(len(loss), np.ptp(loss))


def quantum(loss):
    """The step that all values are multiples of, if they were rounded; else 0."""
    moved = np.abs(np.diff(loss))
    moved = moved[moved > 1e-300]
    if not 20 <= len(moved) <= 0.9 * len(loss):
        return 0.0
    steps = moved / moved.min()
    return float(moved.min()) if np.all(np.abs(steps - steps.round()) < 1e-3 * steps) else 0.0


def without_spikes(loss):
    """The curve without single points, or short runs, far from the median of their neighbours; and where those were."""
    reach = min(25, len(loss) // 20)
    if reach < 2:
        return loss, np.zeros(len(loss), bool)
    middle = median_filter(loss, 2 * reach + 1, mode="nearest")
    off, level = loss - middle, level_of(middle)
    size = blocks_of(len(loss), 200)
    share = np.array([np.median(np.abs(off[b]) / level[b]) for b in size]) / 0.6745
    along = np.interp(np.arange(len(loss)), [b.mean() for b in size], maximum_filter1d(share, 3)) * level
    spike = np.abs(off) > OUTLIER * along + 1e-9 * np.ptp(loss)
    if not 0 < spike.mean() < 0.2 or not np.any(along > 0):
        return loss, np.zeros(len(loss), bool)
    return np.where(spike, middle, loss), spike & (off > 0)


def unrounded(loss, quantum):
    """A rounded curve from the middle of each run of equal values to the middle of the next."""
    if not quantum:
        return loss
    first = np.concatenate([[0], np.flatnonzero(np.diff(loss)) + 1])
    last = np.concatenate([first[1:] - 1, [len(loss) - 1]])
    middle, value = 0.5 * (first + last), loss[first]
    if len(first) > 1:  # beyond the last middle it goes on as it did, by half a step
        slope = np.diff(value)[[0, -1]] / np.diff(middle)[[0, -1]]
        ends = value[[0, -1]] + slope * ([0, len(loss) - 1] - middle[[0, -1]])
        middle, value = np.r_[-0.5, middle, len(loss) - 0.5], np.r_[ends[0], value, ends[1]]
    return np.interp(np.arange(len(loss)), middle, value)


def blocks_of(n, size):
    """0 … n − 1 in blocks of at least `size`."""
    return np.array_split(np.arange(n), max(1, n // int(size)))


def rising_noise(loss, width):
    """The deviation that noise leaves in the step of the smoothed curve: what falls by chance rises as often.

    A curve that hardly ever rises has no noise: what it shows is its shape. A steep fall hides noise, so a block's, as a
    share of its level, is the largest of it and its neighbours. Correlation is in it, since the steps are measured.
    """
    smooth = blurred(loss, width)
    step, level = np.gradient(smooth), level_of(smooth)
    blocks = blocks_of(len(step), max(32, 8 * width))
    rise = np.maximum(step, 0) / level
    share = np.array([_deviation(rise[b]) for b in blocks])
    count = np.array([np.count_nonzero(rise[b]) if s else 0 for b, s in zip(blocks, share, strict=True)], float)
    weight = uniform_filter1d(count, NEAR, mode="constant")
    near = np.sqrt(np.maximum(uniform_filter1d(count * share**2, NEAR, mode="constant"), 0) / np.maximum(weight, 1e-3))
    return np.interp(np.arange(len(loss)), [b.mean() for b in blocks], near) * level


def _deviation(rise):
    """The deviation of steps of which these are the rises (0 where they fall), around a mean that may be a fall.

    A share p of rises says that the mean lies m = Φ⁻¹(1 − p) deviations below nought; the mean square of the rises is
    then [(1 + m²) p − m φ(m)] of the variance.
    """
    p = min(np.mean(rise > 0), 0.5)
    if p <= RISES:
        return 0.0
    m = ndtri(1 - p)
    return np.sqrt(np.mean(rise**2) / ((1 + m * m) * p - m * np.exp(-m * m / 2) / np.sqrt(2 * np.pi)))


def smoothing_width(loss, clock, quantum):
    """σ in points: as narrow as lets the fastest fall stand out of the noise."""
    if not np.any(rising_noise(loss, 0)):
        return 0.0
    most, width = len(loss) / 32, LEAST
    while width < most:
        rate, floor = rates(loss, clock, width, quantum)
        if np.max(rate / floor) >= STANDS_OUT:
            break
        width *= 1.5
    return float(min(width, most))


def blurred(loss, width):
    """A Gaussian; three boxes, if it is wide."""
    if width > 20:
        for _ in range(3):
            loss = uniform_filter1d(loss, round(np.sqrt(4 * width**2 + 1)), mode="nearest")
        return loss
    return gaussian_filter1d(loss, width, mode="nearest") if width else loss


def lows(loss):
    """A line from each record low to the next: a spike that comes back is not a drop."""
    records = np.flatnonzero(loss <= np.minimum.accumulate(loss))
    return np.interp(np.arange(len(loss)), records, loss[records])


def rates(loss, clock, width, quantum):
    """-dL/dt of the smoothed curve, and the rate that noise and rounding alone would show."""
    curve, spacing = lows(blurred(loss, width)), np.gradient(clock)
    rounding = 4 * np.finfo(float).eps * np.abs(curve) + RESOLUTION * 1e-3 * np.ptp(curve) + 1e-300
    return -np.gradient(curve, clock), (rising_noise(loss, width) + rounding) / spacing
