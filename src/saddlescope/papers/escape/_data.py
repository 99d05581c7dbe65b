"""Data sets of the escape paper's experiments, by name: circles, Gaussian points, and points near one line."""

import numpy as np

from saddlescope.theory.escape.localized import circle

CIRCLES = ("circle6", "circle8", "circle10", "circle12")
NOISE = 0.02  # of aligned data, which have norm one


def data_of(name, seed, inputs=2, points=8, outputs=1):
    """X and G. A circle is turned by a random angle, which changes no speed; the others are drawn."""
    rng = np.random.default_rng([seed, inputs, points, outputs])
    if name.startswith("circle"):
        X, G = circle(int(name.removeprefix("circle")))
        angle = rng.uniform(0, 2 * np.pi)
        turn = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
        return turn @ X, G
    if name == "aligned":
        return _aligned(rng, inputs, points, outputs)
    return rng.standard_normal((inputs, points)), rng.standard_normal((outputs, points)) / points


def _aligned(rng, inputs, points, outputs):
    """X = uvᵀ + noise and G = −y vᵀ + noise with v ≥ 0: so nearly rank one that Theorem 3.1 says something."""
    u, v, y = (rng.standard_normal(n) for n in (inputs, points, outputs))
    u, v, y = (w / np.linalg.norm(w) for w in (u, np.abs(v), y))
    return _shaken(rng, np.outer(u, v)), _shaken(rng, -np.outer(y, v))


def _shaken(rng, matrix):
    return matrix + NOISE * rng.standard_normal(matrix.shape) / np.sqrt(matrix.size)
