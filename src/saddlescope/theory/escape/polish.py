"""From near an escape direction to it, by BFGS.

Optima lie on kinks of L0, where a gradient method with a falling step stops at 1e-5. BFGS with a line search for the
weak Wolfe conditions converges there linearly (Lewis and Overton, 2013). It takes −L0/Π‖W_ℓ‖, which has no constraint.
"""

import numpy as np

from saddlescope.theory.escape.collapse import on_sphere
from saddlescope.theory.escape.gradient import flatten, gradient_of, unflatten

MOST = 1500  # weights: BFGS keeps a full matrix
JITTER = 1e-6
FLAT = 1e-14  # relative gain of a step below which the search is over
HALVINGS = 30  # of a step in one line search
PATIENCE = 8  # such steps in a row


def polish(weights, X, G, steps=1000) -> list[np.ndarray]:
    """A net on the sphere that is no slower. Nets with too many weights are returned as they are."""
    start = flatten(on_sphere(weights))
    if start.size > MOST:
        return on_sphere(weights)

    def cost(flat):
        return _cost(unflatten(flat, weights), X, G)

    # Exactly on a kink the gradient is one of many, and a line search may fail: start beside it.
    beside = start + JITTER * np.random.default_rng(0).standard_normal(start.size)
    end = _bfgs(cost, beside, steps)
    return on_sphere(unflatten(min(start, end, key=lambda flat: cost(flat)[0]), weights))


def _cost(weights, X, G):
    """L0/Π‖W_ℓ‖ and its gradient."""
    squares = [np.vdot(w, w) for w in weights]
    product = np.sqrt(np.prod(squares))
    slopes = gradient_of(weights, X, G)
    value = np.vdot(slopes[-1], weights[-1]) / product  # L0 is linear in the last layer
    parts = [(g / product - value / n * w).ravel() for g, w, n in zip(slopes, weights, squares, strict=True)]
    return value, np.concatenate(parts)


def _bfgs(cost, at, steps):
    value, slope = cost(at)
    inverse, still = np.eye(at.size), 0
    for _ in range(steps):
        direction = -inverse @ slope
        found = _line_search(cost, at, value, slope, direction)
        if found is None:
            if still or not np.any(slope):
                break
            inverse, still = np.eye(at.size), PATIENCE  # once more from the gradient alone
            continue
        new, new_value, new_slope = found
        still = still + 1 if value - new_value <= FLAT * abs(value) else 0
        inverse = _update(inverse, new - at, new_slope - slope)
        at, value, slope = new, new_value, new_slope
        if still >= PATIENCE:
            break
    return at


def _update(inverse, moved, change):
    """The inverse Hessian after a step; as it was where the step shows no curvature."""
    curvature = moved @ change
    if curvature <= 1e-300:
        return inverse
    carried = inverse @ change
    factor = (1 + change @ carried / curvature) / curvature
    cross = np.outer(carried, moved) / curvature
    return inverse - cross - cross.T + factor * np.outer(moved, moved)


def _line_search(cost, at, value, slope, direction):
    """Bisection for the weak Wolfe conditions; None where the value cannot be lowered."""
    steep = slope @ direction
    if steep >= 0:
        return None
    low, high, length = 0.0, np.inf, 1.0
    lower = None
    for _ in range(HALVINGS):
        new = at + length * direction
        new_value, new_slope = cost(new)
        if not new_value <= value + 1e-4 * length * steep:
            high = length
        elif new_slope @ direction < 0.9 * steep:
            low, lower = length, (new, new_value, new_slope)
        else:
            return new, new_value, new_slope
        length = 2 * low if np.isinf(high) else (low + high) / 2
    return lower
