"""Proposition 3.2: from a net with L0 < 0 a deeper one that is no slower to escape."""

import numpy as np

from saddlescope.errors import require
from saddlescope.theory.escape.localized import layers_of


def deeper_net(weights, X, G) -> list[np.ndarray]:
    """A net of depth L + 1 on ‖θ‖² = L + 1 whose L0 is that of `weights` on ‖θ‖² = L, or less.

    The last hidden layer keeps its best neuron alone, with the strength of all: per unit of
    ‖W_L,i‖‖W_{L-1},i‖ no other lowers L0 as much. A layer [1] follows; its input is not negative,
    so that it changes nothing. Every layer has norm one. It needs L ≥ 2: a linear net of depth 1
    has no hidden neuron to keep.
    """
    require(len(weights) >= 2, f"Proposition 3.2 needs depth 2 or more; got {len(weights)}.")
    hidden, last = weights[-2], weights[-1]
    values = np.maximum(layers_of(weights, X).before[-2], 0)
    gain = -np.einsum("oi,on,in->i", last, G, values)
    strength = np.linalg.norm(last, axis=0) * np.linalg.norm(hidden, axis=1)
    require(gain.sum() > 0, "Proposition 3.2 needs a net with L0 < 0; this one does not lower the loss.")
    best = int(np.argmax(np.where(strength > 0, gain / np.where(strength > 0, strength, 1), -np.inf)))
    net = [*weights[:-2], hidden[best : best + 1], np.ones((1, 1)), last[:, best : best + 1]]
    return [w / np.linalg.norm(w) for w in net]
