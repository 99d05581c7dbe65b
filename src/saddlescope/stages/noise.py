"""Noise of a curve, the smoothing it asks for, and the rate of fall that is left."""

import numpy as np
from scipy.ndimage import gaussian_filter1d, maximum_filter1d, uniform_filter1d

NOISE_SHARE = 0.02  # of the level, after smoothing
STANDS_OUT = 45  # times the rate of noise, for the fastest drop
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


def point_noise(loss):
    """The deviation of point noise along the curve; at least that of rounding.

    For point noise of deviation s the fourth difference has √70 s, and smooth curves hardly any. Its median over blocks
    of a hundred points is blind to sharp drops. A curve that hardly ever rises has no noise: what it shows is its
    shape. A steep fall hides noise, so a block's, as a share of its level, is the largest of it and its neighbours.
    """
    step, level = np.diff(loss), level_of(loss)
    blocks = np.array_split(np.arange(len(step)), max(1, len(step) // 100))
    fourth = np.pad(np.abs(np.diff(loss, 4)), (2, 1), mode="edge") if len(loss) > 8 else np.zeros(len(step))
    share = [np.median(fourth[b]) / 5.64 / np.mean(level[b]) for b in blocks]
    rises = np.array([np.mean(step[b] > 0) for b in blocks])
    share = np.where(maximum_filter1d(rises, 3) > RISES, share, 0.0)
    along = np.interp(np.arange(len(loss)), [b.mean() for b in blocks], maximum_filter1d(share, 3))
    return np.maximum(along * level, quantum(loss) / np.sqrt(12))


def smoothing_width(loss, clock, noise):
    """σ in points. A Gaussian divides the deviation of point noise by √(2√π σ)."""
    share = min(1.0, np.quantile(noise / level_of(loss), 0.9))
    if share < 1e-6:
        return 0.0
    most, width = len(loss) / 32, max(LEAST, (share / NOISE_SHARE) ** 2 / 3.545)
    while width < most:
        rate, floor = rates(lows(blurred(loss, width)), clock, noise, width)
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


def rates(curve, clock, noise, width):
    """-dL/dt, and the rate that noise and rounding alone would show."""
    spacing = np.gradient(clock)
    point = noise / np.sqrt(2) / (1 + 1.88 * width**1.5)  # 0.376 noise / width^1.5 for a wide Gaussian
    rounding = 4 * np.finfo(float).eps * np.abs(curve) + RESOLUTION * 1e-3 * np.ptp(curve) + 1e-300
    return -np.gradient(curve, clock), (point + rounding) / spacing
