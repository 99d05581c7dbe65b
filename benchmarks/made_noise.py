"""Noise of made curves, two sets of it."""

import numpy as np
from scipy.signal import lfilter


def _ar(rng, n, rho):
    start = rng.standard_normal()
    return lfilter([np.sqrt(1 - rho**2)], [1, -rho], rng.standard_normal(n), zi=[rho * start])[0]


def _ema(values, keep):
    """As a logger smooths: it starts at the first value."""
    return lfilter([1 - keep], [1, -keep], values, zi=[keep * values[0]])[0]


def white(share):
    """Every noise gives the curve with it, the curve without it, its share of the level, and how much larger its
    deviation is over long times than that of white noise."""
    return lambda rng, loss: (loss * (1 + share * rng.standard_normal(len(loss))), loss, share, 1.0)


def additive(share):
    return lambda rng, loss: (loss + share * loss[-1] * rng.standard_normal(len(loss)), loss, share, 1.0)


def correlated(share, rho):
    long = np.sqrt((1 + rho) / (1 - rho))
    return lambda rng, loss: (loss * (1 + share * _ar(rng, len(loss), rho)), loss, share, long)


def smoothed(share, keep):
    """White noise that a logger has smoothed, the curve with it."""

    def make(rng, loss):
        return _ema(loss * (1 + share * rng.standard_normal(len(loss))), keep), _ema(loss, keep), share, 1.0

    return make


def heavy(share):
    """Student's t of three degrees."""
    return lambda rng, loss: (loss * (1 + share * rng.standard_t(3, len(loss)) / np.sqrt(3)), loss, share, 1.0)


def skewed(share):
    """A mean of few squares: χ², never below nought."""
    k = 2 / share**2
    return lambda rng, loss: (loss * rng.chisquare(k, len(loss)) / k, loss, share, 1.0)


def laplace(share):
    return lambda rng, loss: (loss * (1 + share * rng.laplace(size=len(loss)) / np.sqrt(2)), loss, share, 1.0)


def spiked(share, count, after=1):
    """Noise with spikes of 1.5 to 6 times the loss, that take `after` points to go."""

    def make(rng, loss):
        n = len(loss)
        height = np.zeros(n)
        height[rng.choice(n, min(count, n // 20), replace=False)] = rng.uniform(0.5, 5, min(count, n // 20))
        height = np.asarray(lfilter([1], [1, -np.exp(-1 / after)] if after > 1 else [1], height))
        return loss * (1 + share * rng.standard_normal(n)) * (1 + height), loss, share, 1.0

    return make


def rounded(noise, decimals):
    def make(rng, loss):
        found, loss, share, long = noise(rng, loss)
        return np.round(found, decimals), loss, max(share, 0.3 * 10.0**-decimals / np.min(loss)), long

    return make


FIRST_NOISE = {
    "none": white(0.0),
    "white 1 %": white(0.01), "white 5 %": white(0.05), "white 10 %": white(0.1),
    "AR .5, 5 %": correlated(0.05, 0.5), "AR .8, 5 %": correlated(0.05, 0.8), "AR .9, 2 %": correlated(0.02, 0.9),
    "EMA .9, 5 %": smoothed(0.05, 0.9), "EMA .98, 10 %": smoothed(0.1, 0.98),
    "t, 5 %": heavy(0.05),
    "15 spikes, 5 %": spiked(0.05, 15),
    "2 decimals": rounded(white(0.0), 2), "3 decimals, 2 %": rounded(white(0.02), 3),
}  # fmt: skip
SECOND_NOISE = {
    "none": white(0.0),
    "additive 3 %": additive(0.03), "white 7 %": white(0.07), "Laplace 10 %": laplace(0.1), "χ² 10 %": skewed(0.1),
    "AR .3, 10 %": correlated(0.1, 0.3), "AR .7, 5 %": correlated(0.05, 0.7), "AR .9, 5 %": correlated(0.05, 0.9),
    "AR .9, 10 %": correlated(0.1, 0.9),
    "EMA .95, 5 %": smoothed(0.05, 0.95), "EMA .98, 5 %": smoothed(0.05, 0.98),
    "25 spikes, 3 %": spiked(0.03, 25), "10 slow spikes, 3 %": spiked(0.03, 10, 5),
    "2 decimals": rounded(white(0.0), 2), "2 decimals, 5 %": rounded(white(0.05), 2),
}  # fmt: skip
