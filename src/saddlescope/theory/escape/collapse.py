"""The last hidden layer as one neuron, and with it Proposition 3.2: a deeper net that is no slower."""

import numpy as np

from saddlescope.errors import require
from saddlescope.theory.escape.localized import layers_of, localized_loss


def deepen(weights, X, G, layers=1) -> list[np.ndarray]:
    """A net with so many layers more, on ‖θ‖² = L + `layers`, whose speed is that of `weights` or more.

    The last hidden layer becomes its best neuron; identities of width one follow it. A net of one layer has no neuron
    to keep, and a deeper one may be slower: s*(1) = ‖GXᵀ‖_F often exceeds s*(2).
    """
    require(len(weights) >= 2, f"Proposition 3.2 needs depth 2 or more; got {len(weights)}.")
    lowers = localized_loss(weights, X, G) < 0
    require(lowers, "Proposition 3.2 needs a net with L0 < 0; this one does not lower the loss.")
    collapsed = collapse_last(weights, X, G)
    *first, last = collapsed
    identity = np.ones((1, 1))
    return on_sphere([*first, *([identity] * layers), last])


def collapse_last(weights, X, G) -> list[np.ndarray]:
    """The last hidden layer replaced by its neuron of the largest speed per norm; L0 does not rise."""
    *first, before, last = weights
    inputs = layers_of([*first, before], X).after[-1]
    norms = np.linalg.norm(before, axis=1) * np.linalg.norm(last, axis=0)
    each = -np.sum((last.T @ G) * np.maximum(before @ inputs, 0), axis=1)
    best = int(np.argmax(np.where(norms > 0, each / np.where(norms > 0, norms, 1), -np.inf)))
    total = np.sqrt(norms.sum())
    row = before[best] / np.linalg.norm(before[best])
    column = last[:, best] / np.linalg.norm(last[:, best])
    return [*first, total * row[None], total * column[:, None]]


def on_sphere(weights) -> list[np.ndarray]:
    """‖W_ℓ‖ = 1 for every layer, which is the fastest division of the norm; ‖θ‖² = L. A layer of zeros stays."""
    norms = [np.linalg.norm(w) for w in weights]
    return [w / n if n > 0 else np.array(w) for w, n in zip(weights, norms, strict=True)]
