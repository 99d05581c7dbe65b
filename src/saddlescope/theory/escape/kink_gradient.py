"""The gradient of the localized loss, with a choice of σ′ where a ReLU is at its kink."""

import numpy as np

from saddlescope.theory.escape.localized import layers_of


def gradient_of(weights, X, G, slopes=None) -> list[np.ndarray]:
    """∇L0, one matrix per layer.

    `slopes` are σ′ of hidden layers 1 … L−1, arrays of shape (neurons, points). By default σ′(z) = 1 for z > 0, else 0.
    """
    before, after = layers_of(weights, X)
    slopes = [z > 0 for z in before[:-1]] if slopes is None else slopes
    signal, found = np.asarray(G, float), []
    for layer in reversed(range(len(weights))):
        found.append(signal @ after[layer].T)
        if layer:
            signal = (weights[layer].T @ signal) * slopes[layer - 1]
    return found[::-1]
