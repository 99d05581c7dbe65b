"""Numbers that are spread evenly instead of drawn, for whoever shows a law by few neurons."""

import numpy as np
from scipy.special import ndtri
from scipy.stats import qmc


class EvenlySpread:
    """A generator for `draw` of any law, whose numbers are a Sobol sequence: evenly spread, never random.

    Every call takes coordinates of its own: two calls on the same coordinates would give the same numbers twice.

    **Arguments:**

    - `seed`: of the scrambling.
    """

    def __init__(self, seed: int = 0):
        self._seed, self._used = seed, 0

    def uniform(self, low=0.0, high=1.0, size=(1, 1)):
        """Numbers in [low, high), point × coordinate."""
        count, coordinates = size
        exponent = int(np.ceil(np.log2(count)))
        begin, self._used = self._used, self._used + coordinates
        found = qmc.Sobol(self._used, rng=self._seed).random_base2(exponent)[:count, begin:]
        return low + (high - low) * found

    def standard_normal(self, size):
        """Gaussian numbers, point × coordinate."""
        return ndtri(np.clip(self.uniform(size=size), 1e-12, 1 - 1e-12))

    def choice(self, values, size):
        """Values with equal chance, point × coordinate."""
        return np.asarray(values)[(self.uniform(size=size) * len(values)).astype(int)]

    def integers(self, high, size):
        """Whole numbers below `high` with equal chance, one per point."""
        return (self.uniform(size=(size, 1))[:, 0] * high).astype(int)

    def laplace(self, location, scale, size):
        """Two-sided exponential numbers, point × coordinate."""
        u = np.clip(self.uniform(size=size), 1e-12, 1 - 1e-12) - 0.5
        return location - scale * np.sign(u) * np.log1p(-2 * np.abs(u))


Draws = np.random.Generator | EvenlySpread
