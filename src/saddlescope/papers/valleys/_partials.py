"""What is counted on channel partials: one row per point of [-1, 1], one column per channel."""

import numpy as np

from saddlescope.figures import BLUE, GREEN, ORANGE, PURPLE, RED, SKY
from saddlescope.observables import ProminentMinima

COLOURS = (BLUE, ORANGE, GREEN, RED, SKY, PURPLE)
count = ProminentMinima()


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


def leaders(f) -> int:
    """How many channels are the largest in size somewhere."""
    return len(np.unique(np.argmax(np.abs(f), axis=1)))


def show(ax, f, title):
    for k, channel in enumerate(f.T):
        ax.plot(points(f), channel, color=COLOURS[k % len(COLOURS)], lw=0.9, ls="-" if k < len(COLOURS) else "--")
    ax.set(title=title, xlabel="x", xticks=(-1, -0.5, 0, 0.5, 1))
