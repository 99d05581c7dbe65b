"""Paths of weights for the lemmas about the operator F: random ones, and two made to break them."""

import numpy as np

from saddlescope.theory.meanfield.picard import Neurons

TIMES = np.linspace(0, 4, 201)
LONG = np.linspace(0, 20, 201)
WIDTH = 48
SLOPE = 0.1
FUNCTIONS = {
    "tanh": (np.tanh, lambda z: 1 - np.tanh(z) ** 2),
    "leaky": (lambda z: np.where(z > 0, z, SLOPE * z), lambda z: np.where(z > 0, 1.0, SLOPE)),
}


def pseudo_huber(u):
    """d of a loss with |d| < 1, as Assumption C.3 asks."""
    return u / np.sqrt(1 + u**2)


def drawn_neurons(activation, rank, rng) -> Neurons:
    """Gaussian features with bias, Gaussian mixing, N(0, 1) starts, three points."""
    phi, slope = FUNCTIONS[activation]
    x = np.array([-0.8, 0.1, 0.7])
    frozen = rng.standard_normal((WIDTH, 2))
    start = rng.standard_normal((WIDTH, rank)), rng.standard_normal((WIDTH, 1))
    features = phi(np.outer(frozen[:, 0], x) + frozen[:, 1:])
    mixing, y = rng.standard_normal((WIDTH, rank)), rng.standard_normal(3)
    return Neurons(features, mixing, start, y, np.full(3, 1 / 3), phi, slope, pseudo_huber)


def large_second_layer(neurons: Neurons, size: float):
    """A path whose w₂ rises at once to ±size with the sign of L₁, so that B₁ is as large as it can be."""
    w1, w2 = neurons.at_rest(LONG)
    rise = np.minimum(LONG / LONG[1], 1)[:, None, None]
    goal = size * np.sign(neurons.mixing[:, :1])
    return w1, w2 + rise * (goal - w2)


def across_zero(neurons: Neurons, gap: float):
    """Two paths whose channels at all points are ±gap/2 times one direction: w₁ differs by little."""
    target = np.full((neurons.features.shape[1], neurons.mixing.shape[1]), gap / 2)
    half = np.linalg.pinv(neurons.features.T / WIDTH) @ target
    _, w2 = neurons.at_rest(TIMES)
    return [(np.repeat(sign * half[None], len(TIMES), axis=0), w2) for sign in (1, -1)]
