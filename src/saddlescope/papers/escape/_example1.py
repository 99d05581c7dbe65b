"""Example 1 of the escape paper: eight points on a circle, alternating gradients, a net of depth three."""

import numpy as np

from saddlescope.theory.escape.localized import circle
from saddlescope.theory.escape.search import PROJECTED, descend, random_starts

RANK_ONE, RANK_TWO = np.sqrt(2) - 1, 0.5
ABOVE = 1e-3  # of a speed over √2 − 1: width 3 ties with it exactly, so that a success must be strict
DEPTH, INSTANTS = 3, 60
SHORT = 1e-3  # how far from a critical speed the paper's rule stops


def runs_of(width, seed, restarts):
    """Ends of the paper's projected descent: lr .1, falling linearly to zero over 3,000 steps."""
    return descend(starts_of(width, seed, restarts), *circle(8), PROJECTED, instants=INSTANTS)


def starts_of(width, seed, restarts):
    """Where these runs start."""
    widths = [2, *([width] * (DEPTH - 1)), 1]
    return random_starts(np.random.default_rng([width, seed]), restarts, widths)


def successes(speeds):
    """Faster than every net whose layers all have rank one."""
    return np.asarray(speeds) > RANK_ONE + ABOVE


def steps():
    """The steps at which traces were read."""
    return np.arange(INSTANTS) * (PROJECTED.steps // INSTANTS)
