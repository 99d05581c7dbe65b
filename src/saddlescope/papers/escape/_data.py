"""Data sets of the escape paper's experiments, by name: circles and Gaussian points."""

import numpy as np

from saddlescope.theory.escape.localized import circle

CIRCLES = ("circle6", "circle8", "circle10", "circle12")


def data_of(name, seed, inputs=2, points=8, outputs=1):
    """X and G. A circle is turned by a random angle, which changes no speed; Gaussian data are drawn."""
    rng = np.random.default_rng([seed, inputs, points, outputs])
    if name.startswith("circle"):
        X, G = circle(int(name.removeprefix("circle")))
        angle = rng.uniform(0, 2 * np.pi)
        turn = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
        return turn @ X, G
    return rng.standard_normal((inputs, points)), rng.standard_normal((outputs, points)) / points
