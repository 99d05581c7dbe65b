"""Whether a point is stationary in Clarke's sense, where ReLUs are at their kinks.

At z = 0 every σ′ in [0, 1] is a slope of the ReLU. A point is stationary on the sphere if *some* choice of these slopes
gives ∇L0 = −sρ. With σ′(0) = 0 or 1 alone the residual at an optimum is of order one. The choice found is the dual
certificate of the optimum.
"""

from typing import NamedTuple

import numpy as np
from scipy.optimize import lsq_linear

from saddlescope.theory.escape.gradient import gradient_of
from saddlescope.theory.escape.localized import layers_of, localized_loss

KINK = 1e-6  # |z| below this share of the largest that a layer can give is a kink
SWEEPS = 60
ENOUGH = 1e-8  # relative residual at which no other choice is tried


class Stationarity(NamedTuple):
    """How far a point of the sphere is from an escape direction.

    **Arguments:**

    - `residual`: the least ‖∇L0 + sρ‖ found over the slopes at kinks, over s√L = ‖sρ‖.
    - `plain`: the same with σ′(0) = 0.
    - `kinks`: how many kinks there are, over all hidden layers.
    - `slopes`: σ′ of every hidden layer at the choice found, (neurons, points) each.
    """

    residual: float
    plain: float
    kinks: int
    slopes: list[np.ndarray]


def stationarity(weights, X, G, kink=KINK) -> Stationarity:
    """The residual at `weights` on ‖θ‖² = L, minimised over the slopes of kinks.

    In the kinks of one layer the gradient is linear: bounded least squares, layer after layer, until nothing changes.
    With kinks in several layers this finds a choice, not always the best: the residual is then an upper bound.
    """
    before = layers_of(weights, X).before[:-1]
    masks = kinks_of(weights, X, kink)
    slopes = [np.where(mask, 0.0, z > 0) for z, mask in zip(before, masks, strict=True)]
    speed = -localized_loss(weights, X, G)
    size = max(abs(speed) * np.sqrt(len(weights)), 1e-300)
    plain = np.linalg.norm(_residual(weights, X, G, slopes, speed)) / size
    residual, slopes = _search(weights, X, G, speed, masks, slopes, ENOUGH * size)
    return Stationarity(float(residual / size), float(plain), int(sum(m.sum() for m in masks)), slopes)


def kinks_of(weights, X, kink=KINK) -> list[np.ndarray]:
    """Where ReLUs of hidden layers are at their kink: (neurons, points), by layer.

    A z is small beside the largest that its layer can give this point. Beside its own input it need not be: behind a
    kink all inputs are zero, and the slope there still decides what passes back.
    """
    found, reach = [], np.linalg.norm(X, axis=0)
    for matrix, z in zip(weights[:-1], layers_of(weights, X).before[:-1], strict=True):
        found.append(np.abs(z) <= kink * np.outer(np.linalg.norm(matrix, axis=1), reach))
        reach = reach * np.linalg.norm(matrix)
    return found


def _search(weights, X, G, speed, masks, slopes, enough):
    """The best of a few starts. First only kinks that some input reaches: behind a kink slopes of 1 mostly do."""
    inputs = [z.any(axis=0) for z in layers_of(weights, X).after[:-1]]
    front = [mask & reached for mask, reached in zip(masks, inputs, strict=True)]
    ones = [np.where(mask, 1.0, s) for mask, s in zip(masks, slopes, strict=True)]
    best = (np.inf, slopes)
    for free, value in ((front, 0.5), (front, 1.0), (masks, 0.5), (masks, 1.0), (masks, 0.0)):
        found = _sweep(weights, X, G, speed, free, ones, value)
        best = min(best, found, key=lambda f: f[0])
        if best[0] <= enough:
            break
    return best


def _residual(weights, X, G, slopes, speed):
    gradient = gradient_of(weights, X, G, slopes)
    return np.concatenate([(g + speed * w).ravel() for g, w in zip(gradient, weights, strict=True)])


def _sweep(weights, X, G, speed, masks, slopes, start):
    """Least squares in the slopes of one layer after the other, all of them at `start` first."""
    slopes = [np.where(mask, start, s) for mask, s in zip(masks, slopes, strict=True)]
    layers = [k for k, mask in enumerate(masks) if mask.any()]
    last = np.linalg.norm(_residual(weights, X, G, slopes, speed))
    for _ in range(SWEEPS if len(layers) > 1 else min(1, len(layers))):
        for layer in reversed(layers):
            slopes = _best_slopes(weights, X, G, speed, slopes, layer, masks[layer])
        now = np.linalg.norm(_residual(weights, X, G, slopes, speed))
        if now > (1 - 1e-6) * last:
            break
        last = now
    return np.linalg.norm(_residual(weights, X, G, slopes, speed)), slopes


def _best_slopes(weights, X, G, speed, slopes, layer, mask):
    """The slopes of this layer's kinks, in [0, 1], with the least residual."""
    places = np.argwhere(mask)

    def at(values):
        changed = [s.copy() for s in slopes]
        changed[layer][mask] = values
        return _residual(weights, X, G, changed, speed), changed

    offset, _ = at(0.0)
    columns = np.stack([at(np.eye(len(places))[k])[0] - offset for k in range(len(places))], axis=1)
    found = lsq_linear(columns, -offset, bounds=(0, 1), method="bvls", tol=1e-14)
    return at(np.clip(found.x, 0, 1))[1]
