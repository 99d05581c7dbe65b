"""A net with nothing left that can be left out: ranks of layers are those of the direction, not of its copies.

At depth 2 the optimum is not unique: one neuron may be divided among many. So neurons without effect are cut, neurons
with proportional incoming weights become one, and the last hidden layer becomes one neuron where this keeps the speed.
"""

import numpy as np

from saddlescope.theory.escape.collapse import collapse_last, on_sphere
from saddlescope.theory.escape.localized import localized_loss

DEAD = 1e-5  # of the largest neuron of its layer, in |incoming| · |outgoing|
PARALLEL = 1e-6  # 1 − cosine of incoming weights
SAME = 1e-6  # relative change of the speed that counts as none


def prune(weights, X, G, dead=DEAD, parallel=PARALLEL) -> list[np.ndarray]:
    """The smallest net that we find with the same speed or more, on the sphere."""
    found = _reduced(weights, X, dead, parallel)
    one = _reduced(collapse_last(found, X, G), X, dead, parallel)
    speed, alone = (-localized_loss(w, X, G) for w in (found, one))
    # Away from the optimum a single neuron may be faster: then it is another direction.
    return one if abs(alone - speed) <= SAME * abs(speed) else found


def _reduced(weights, X, dead, parallel):
    """Neurons cut and merged, layer by layer, until nothing changes."""
    while True:
        sizes = [w.shape for w in weights]
        for layer in range(len(weights) - 1):
            weights = _merge(_cut(weights, layer, X, dead), layer, parallel)
        if [w.shape for w in weights] == sizes:
            return on_sphere(weights)


def _cut(weights, layer, X, dead):
    """Without the neurons of a hidden layer that no input reaches, or that nobody reads; one stays."""
    before, after = weights[layer], weights[layer + 1]
    inputs = X
    for matrix in weights[:layer]:
        inputs = np.maximum(matrix @ inputs, 0)
    active = np.linalg.norm(np.maximum(before @ inputs, 0), axis=1)
    size = active * np.linalg.norm(after, axis=0)
    keep = size > dead * max(size.max(), 1e-300)
    keep[np.argmax(size)] = True
    return _replaced(weights, layer, before[keep], after[:, keep])


def _merge(weights, layer, parallel):
    """Neurons whose incoming weights point the same way as one neuron, its two norms equal."""
    before, after = weights[layer], weights[layer + 1]
    lengths = np.linalg.norm(before, axis=1)
    ways = before / np.where(lengths > 0, lengths, 1)[:, None]
    groups = _groups(ways, parallel)
    columns = [after[:, g] @ lengths[g] for g in groups]
    rows = [ways[g].T @ (lengths[g] / lengths[g].sum()) for g in groups]
    sizes = [np.sqrt(np.linalg.norm(c)) for c in columns]
    kept = [k for k, size in enumerate(sizes) if size > 0] or [0]
    rows = [sizes[k] * rows[k] / np.linalg.norm(rows[k]) for k in kept]
    columns = [columns[k] / max(sizes[k], 1e-300) for k in kept]
    return _replaced(weights, layer, np.array(rows), np.array(columns).T)


def _groups(ways, parallel):
    groups: list[list[int]] = []
    for i, way in enumerate(ways):
        near = next((g for g in groups if way @ ways[g[0]] >= 1 - parallel), None)
        if near is None:
            groups.append([i])
        else:
            near.append(i)
    return groups


def _replaced(weights, layer, before, after):
    return [*weights[:layer], before, after, *weights[layer + 2 :]]
