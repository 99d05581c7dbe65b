"""Plateau levels of a net that learns a sum of cosines one frequency after the other."""

from typing import final

import numpy as np

from saddlescope.errors import require
from saddlescope.losses import SquaredError
from saddlescope.tasks import Cosines
from saddlescope.theory.prediction import Prediction


@final
class CosineLevels(Prediction):
    """What the valleys paper says about sums of cosines (Abstract and Section 1): each plateau is a
    frequency that is not yet learned, and each drop is one that is learned, the lowest first.

    `plateau_level` is the least squared error of a constant and the first k cosines on the samples,
    for k = 0, 1, …; on a fine grid it is half the sum of the other squared amplitudes. `drops` is
    the number of frequencies.

    Holds, if at all, for nets that learn one frequency at a time and each to the end, on the
    squared error.
    """

    def __call__(self, setting):
        task = setting.task
        good = isinstance(task, Cosines) and isinstance(setting.loss, SquaredError)
        require(good, "This theory is for sums of cosines, learned on the squared error.")
        data = setting.data()
        x, y = np.asarray(data.x)[:, 0], np.asarray(data.y)[:, 0]
        waves = np.stack([np.ones_like(x), *_waves(task, x)], axis=1)
        levels = [_least(waves[:, : k + 1], y) for k in range(waves.shape[1])]
        return {"plateau_level": ("stage", np.array(levels)), "drops": ((), waves.shape[1] - 1)}


def _waves(task, x):
    """The cosines with their phases, the slowest first."""
    phases = task.phases or (0.0,) * len(task.frequencies)
    pairs = sorted(zip(task.frequencies, phases, strict=True))
    return [np.cos(2 * np.pi * f * x + p) for f, p in pairs]


def _least(basis, y):
    """The mean squared error of the best fit."""
    return np.mean((y - basis @ np.linalg.lstsq(basis, y, rcond=None)[0]) ** 2)
