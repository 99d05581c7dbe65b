"""Where ReLUs of a net are at their kink, and which of these kinks move together.

A kink is a pair of hidden neuron and point with z = 0. Near the weights each z has a sign. Points
x and 2x have the same signs in every layer; x and −x have opposite ones in the first. Such kinks
are tied: they have one slope. The signs of what is left are those of Jδθ, where the rows of J are
the gradients of these z by the weights. If the rows are linearly independent, every pattern of
signs occurs (the linear independence kink qualification of Griewank and Walther, 2016).
"""

from typing import NamedTuple

import numpy as np

from saddlescope.theory.escape.gradient import flatten, gradient_of
from saddlescope.theory.escape.localized import layers_of

KINK = 1e-6  # |z| below this share of the largest that a layer can give is a kink
TIED = 1e-13  # 1 − |cosine| of two points
MOST_ENTRIES = 2e6  # of J: where there are more it is not looked at
STEP = 1e-3  # of the weights, to the other side of kinks
NONE = -1


class Kinks(NamedTuple):
    """The kinks of a net, by hidden layer; arrays of shape (neurons, points).

    **Arguments:**

    - `masks`: where they are.
    - `groups`: which kinks are tied, numbered through all layers; `NONE` where the slope is known.
      Behind kinks it is 1 where the neuron wakes with its inputs.
    - `opposite`: the kinks of a group whose slope is one minus that of the others.
    """

    masks: list[np.ndarray]
    groups: list[np.ndarray]
    opposite: list[np.ndarray]

    @property
    def number(self) -> int:
        """Of groups."""
        return 1 + max(int(g.max(initial=NONE)) for g in self.groups)

    def slopes(self, known, values) -> list[np.ndarray]:
        """σ′ by layer: `known` where there is no choice, and for each group its value."""
        padded = np.append(values, 0.0)
        chosen = [np.where(o, 1 - padded[g], padded[g]) for g, o in zip(self.groups, self.opposite, strict=True)]
        return [np.where(g == NONE, k, c) for g, k, c in zip(self.groups, known, chosen, strict=True)]


def kinks_of(weights, X, counts, kink=KINK) -> Kinks:
    """The kinks of all hidden layers, at the points that count: not at zero, nor without weight."""
    masks = [mask & counts for mask in _masks(weights, X, kink)]
    points, opposite = _same_points(X)
    groups, count = [], 0
    for layer, mask in enumerate(masks):
        free = mask & ~_follows(weights, layer, X, masks) if layer else mask
        names = points if layer == 0 else 2 * points + opposite
        names = 2 * X.shape[1] * np.arange(len(mask))[:, None] + names
        found, group = np.unique(names[free], return_inverse=True)
        numbers = np.full(mask.shape, NONE)
        numbers[free] = count + group
        groups.append(numbers)
        count += len(found)
    return Kinks(masks, groups, [np.tile(opposite & (k == 0), (len(m), 1)) for k, m in enumerate(masks)])


def _masks(weights, X, kink):
    """A z is small beside the largest that its layer can give this point.

    Beside its own input it need not be: behind a kink all inputs are zero, and the slope there still
    decides what passes back.
    """
    found, reach = [], np.linalg.norm(X, axis=0)
    for matrix, z in zip(weights[:-1], layers_of(weights, X).before[:-1], strict=True):
        found.append(np.abs(z) <= kink * np.outer(np.linalg.norm(matrix, axis=1), reach))
        reach = reach * np.linalg.norm(matrix)
    return found


def _follows(weights, layer, X, masks):
    """Where all inputs are at kinks or silent, and those at kinks have no negative weight.

    If one of them wakes, so does this neuron.
    """
    live = layers_of(weights, X).before[layer - 1] > 0
    alone = ~(live & ~masks[layer - 1]).any(axis=0)
    return alone & (np.minimum(weights[layer], 0) @ masks[layer - 1] == 0)


def _same_points(X):
    """For each point the first one on the same line, and whether it lies on the other side of zero."""
    lengths = np.linalg.norm(X, axis=0)
    units = X / np.where(lengths > 0, lengths, 1)
    first, opposite = np.arange(X.shape[1]), np.zeros(X.shape[1], bool)
    for k in np.flatnonzero(lengths):
        cosines = units[:, k] @ units[:, : k + 1]
        first[k] = np.argmax(np.abs(cosines) >= 1 - TIED)
        opposite[k] = cosines[first[k]] < 0
    return first, opposite


def rows_of(weights, X, kinks) -> np.ndarray | None:
    """J, one row of norm one per group; None where it is too large, or a z is not linear in θ."""
    if kinks.number * sum(w.size for w in weights) > MOST_ENTRIES:
        return None
    rows, below = [], np.zeros(X.shape[1], bool)
    for layer, groups in enumerate(kinks.groups):
        if (groups != NONE)[:, below].any():
            return None  # a kink feeds another one
        chosen = np.unique(groups[groups != NONE], return_index=True)[1]
        rows += [_gradient(weights, X, layer, *place) for place in np.argwhere(groups != NONE)[chosen]]
        below |= kinks.masks[layer].any(axis=0)
    return np.array([row / max(np.linalg.norm(row), 1e-300) for row in rows])


def patterns_of(weights, X, kinks, draws) -> np.ndarray:
    """Patterns of slopes, 0 or 1 for each group, that occur near the weights: of nets drawn nearby.

    A draw is kept where each kink is left clearly, so that terms of second order do not decide.
    """
    rng, found = np.random.default_rng(0), []
    sizes = [STEP * np.linalg.norm(w) / np.sqrt(w.size) for w in weights]
    for _ in range(draws):
        moved = [w + s * rng.standard_normal(w.shape) for w, s in zip(weights, sizes, strict=True)]
        still = _masks(moved, X, 10 * KINK)
        if any(((g != NONE) & m).any() for g, m in zip(kinks.groups, still, strict=True)):
            continue
        pattern = np.zeros(kinks.number)
        for groups, z, o in zip(kinks.groups, layers_of(moved, X).before[:-1], kinks.opposite, strict=True):
            pattern[groups[groups != NONE]] = ((z > 0) != o)[groups != NONE]
        found.append(pattern)
    return np.unique(found, axis=0) if found else np.zeros((0, kinks.number))


def _gradient(weights, X, layer, neuron, point):
    """Of z of one neuron and point by all weights."""
    unit = np.zeros((len(weights[layer]), 1))
    unit[neuron] = 1
    slopes = gradient_of(weights[: layer + 1], X[:, [point]], unit)
    return np.concatenate([flatten(slopes), np.zeros(sum(w.size for w in weights[layer + 1 :]))])
