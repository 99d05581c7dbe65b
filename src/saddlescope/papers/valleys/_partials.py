"""What is counted on channel partials: one row per point of [-1, 1], one column per channel."""

import matplotlib.pyplot as plt
import numpy as np

from saddlescope.observables import ProminentMinima

count = ProminentMinima()
WINDOW, LOCAL = 0.25, 0.5  # a quarter of the interval; half of a channel's energy


def points(f):
    return np.linspace(-1, 1, len(f))


def extrema(f) -> float:
    """Prominent minima and maxima, halved, per channel."""
    return float(np.mean([count(channel) for channel in f.T]))


def bending(f) -> tuple[float, float]:
    """Mean squared second difference over |x| < ½ and outside, of channels of one energy each."""
    f = (f - f.mean(axis=0)) / np.maximum(f.std(axis=0), 1e-12)
    inside = np.abs(points(f)[1:-1]) < 0.5
    bend = np.diff(f, 2, axis=0) ** 2
    return float(bend[inside].mean()), float(bend[~inside].mean())


def locality(f) -> np.ndarray:
    """Of each channel, less its mean, the largest share of its energy in a quarter of the interval: ¼ if it is spread
    evenly, 1 if it lives in one place."""
    energy = (f - f.mean(axis=0)) ** 2
    size = max(1, round(WINDOW * len(f)))
    sums = np.cumsum(np.vstack([np.zeros(f.shape[1]), energy]), axis=0)
    return (sums[size:] - sums[:-size]).max(axis=0) / np.maximum(sums[-1], 1e-300)


def show(ax, f, title):
    """The channels, from the first (dark) to the last (light)."""
    for channel, shade in zip(f.T, shades(f.shape[1]), strict=True):
        ax.plot(points(f), channel, color=shade, lw=0.8)
    ax.set(title=title, xlabel="x", xticks=(-1, 0, 1))


def shades(number):
    return plt.colormaps["viridis"](np.linspace(0, 0.92, number))
