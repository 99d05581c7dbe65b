"""A noisy curve as its loss and as the logarithm of it.

A fall over decades is a drop of the logarithm, even where the loss before it falls too; a fall by a tenth is one of the
loss. Both are looked at with the same lines.
"""

import numpy as np

QUANTA = 2.5  # of rounding, at least


class OfLoss:
    """The loss itself. Noise and the least fall are shares of its level.

    **Arguments:**

    - `loss`, `level`: the curve, and what a share of it is a share of.
    - `min_fall`: the least fall of a drop, as a share of the level.
    - `grain`: the step of rounding.
    """

    def __init__(self, loss, level, min_fall, grain):
        self.values, self.level, self.min_fall, self.grain = loss, level, min_fall, grain

    def variance(self, share, mean):
        """Of a point at this mean."""
        return (share * self.level(mean)) ** 2 + self.grain**2 / 12

    def least(self, mean):
        """The smallest fall from this mean that counts."""
        return np.maximum(self.min_fall * self.level(mean), QUANTA * self.grain)


class OfLogLoss(OfLoss):
    """Its logarithm. A share of the level is a difference here. The arguments are the same."""

    def __init__(self, loss, level, min_fall, grain):
        super().__init__(np.log(level(loss)), level, min_fall, grain)

    def variance(self, share, mean):
        return share**2 + (self.grain * np.exp(-mean)) ** 2 / 12

    def least(self, mean):
        return np.maximum(-np.log1p(-self.min_fall), QUANTA * self.grain * np.exp(-mean))
