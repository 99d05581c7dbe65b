"""Made loss curves whose stages are known."""

import numpy as np
from scipy.signal import lfilter


def staircase(x, centres, levels, width):
    """Logistic falls from each level to the next."""
    loss = np.full(len(x), float(levels[-1]))
    for c, before, after in zip(centres, levels, levels[1:], strict=False):
        loss += (before - after) / (1 + np.exp(np.clip((x - c) / width, -500, 500)))
    return loss


def even(k, n=2000, ratio=0.5, width=0.004):
    x = np.linspace(0, 1, n)
    centres, levels = (np.arange(k) + 1) / (k + 1), 3 * ratio ** np.arange(k + 1)
    return x, centres, levels, staircase(x, centres, levels, width)


def wandering(rng, rho, n):
    """Noise of variance one in which each value keeps a share rho of the last: AR(1)."""
    return np.asarray(lfilter([np.sqrt(1 - rho**2)], [1, -rho], rng.standard_normal(n)))


def as_logged(values, keep):
    """An exponential moving average from the first value on, as loggers smooth."""
    return lfilter([1 - keep], [1, -keep], values, zi=[keep * values[0]])[0]
