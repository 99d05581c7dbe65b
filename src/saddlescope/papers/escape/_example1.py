"""Example 1 of the escape paper: eight points on a circle, alternating gradients, a net of depth three."""

import numpy as np
from scipy.optimize import minimize

from saddlescope.theory.escape.gradient import flatten, gradient_of, unflatten
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


def converged(weights):
    """The minimiser of L0 on ‖θ‖² = L next to these weights, as far as scipy's BFGS comes: all weights are free.

    The norms of single layers are not fixed: this is to show what they become. On kinks BFGS may stop early, and
    starts again a little aside.
    """
    at = flatten(weights)
    rng = np.random.default_rng(0)
    for jitter in (1e-6, 1e-7, 1e-8):
        start = at + jitter * rng.standard_normal(at.size)
        found = minimize(_on_sphere, start, (weights,), "BFGS", jac=True, options=dict(gtol=1e-12))
        at = min(at, found.x, key=lambda x: _on_sphere(x, weights)[0])
    return unflatten(at * np.sqrt(DEPTH / (at @ at)), weights)


def _on_sphere(flat, like):
    """L0 of the weights scaled to ‖θ‖² = L, and its gradient."""
    weights, square = unflatten(flat, like), flat @ flat / DEPTH
    slopes = gradient_of(weights, *circle(8))
    value = np.vdot(slopes[-1], weights[-1])  # L0 is linear in the last layer
    return value / square ** (DEPTH / 2), (flatten(slopes) - value / square * flat) / square ** (DEPTH / 2)
