"""What a share is a share of."""

import numpy as np


class Level:
    """The loss itself; where a curve goes below zero, at least twice its depth there, and at most its range.

    A share of a loss near zero means nothing if noise takes it below zero, or if the loss can be negative. The
    level is decided once for a curve, so that all its parts are measured alike.

    **Arguments:**

    - `loss`: the whole curve, without outliers.
    """

    def __init__(self, loss):
        depth = max(-float(loss.min()), 0.0)
        self.least = min(2 * depth, float(np.ptp(loss))) + 1e-30 * float(np.abs(loss).max()) + 1e-300

    def __call__(self, loss):
        return np.maximum(loss, self.least)
