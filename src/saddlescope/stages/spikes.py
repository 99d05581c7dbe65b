"""Points far from their neighbours."""

import numpy as np

from saddlescope.stages.filters import moving_median
from saddlescope.stages.level import Level
from saddlescope.stages.noise import CLEAN, along_points, in_blocks

OUTLIER = 6.0  # deviations from the median of the neighbours
TAIL = 3.0  # deviations: so far, points beside an outlier belong to it
OFTEN = 0.2  # of the points: then they are no outliers
SPIKE = 0.2  # of the level: an outlier where there is no noise


def without_outliers(loss):
    """The curve with a line over points far from the median of their neighbours; and which of them lay above."""
    reach, none = min(25, len(loss) // 20), np.zeros(len(loss), bool)
    if reach < 2:
        return loss, none
    middle = moving_median(loss, 2 * reach + 1)
    off, level = loss - middle, Level(middle)(middle)
    # On a slow fall the median is the point itself; there, the steps show the noise.
    step = np.abs(np.diff(loss, append=loss[-1]))
    size = np.maximum(np.abs(off) / 0.6745, step / 0.954) / level
    share = along_points(np.median(in_blocks(size, 200), axis=1), len(loss))
    noise = np.where(share > CLEAN, share, SPIKE / OUTLIER) * level
    far = _that_come_back(loss, np.abs(off) > TAIL * noise, np.abs(off) > OUTLIER * noise)
    if not 0 < far.mean() < OFTEN:
        return loss, none
    places = np.arange(len(loss))
    return np.interp(places, places[~far], loss[~far]), far & (off > 0)


def _that_come_back(loss, off, far):
    """Runs of points that are off, at least one of them far, where the loss then comes back to what it was.

    The edge of a drop comes back from nothing: it lies nearer to one side than the two sides to each other.
    """
    runs = np.cumsum(np.diff(off.astype(int), prepend=0) > 0) * off  # numbered from one
    where = np.arange(1, runs.max() + 1)
    first = np.flatnonzero(np.diff(runs, prepend=0) > 0)
    last = np.flatnonzero(np.diff(runs, append=0) < 0)
    before, after = loss[np.maximum(first - 1, 0)], loss[np.minimum(last + 1, len(loss) - 1)]
    top = np.maximum.reduceat(np.where(off, loss, -np.inf), first)
    bottom = np.minimum.reduceat(np.where(off, loss, np.inf), first)
    height = np.minimum(*(np.maximum(np.abs(top - side), np.abs(bottom - side)) for side in (before, after)))
    good = (height > np.abs(before - after)) & np.isin(where, runs[far])
    return np.concatenate([[False], good])[runs]
