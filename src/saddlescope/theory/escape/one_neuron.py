"""Escape directions in closed form: nets that compute y σ(u·x), at any depth and width."""

import itertools

import numpy as np

from saddlescope.errors import InvalidInput, require


def one_neuron_weights(u, y, depth: int, widths=None) -> list[np.ndarray]:
    """W_1 = a_1 uᵀ, W_ℓ = a_ℓ a_{ℓ-1}ᵀ, W_L = y a_{L-1}ᵀ with a_ℓ ≥ 0 of norm one: Y = y σ(uᵀX),
    every layer of norm one.

    `widths` spreads the neuron over so many copies in each hidden layer, unequally; one copy by
    default.
    """
    require(depth >= 2, f"A neuron needs depth 2 or more; got {depth}.")
    hidden = [np.sqrt(np.arange(1.0, n + 1)) for n in widths or (1,) * (depth - 1)]
    ends = [u, *hidden, y]
    units = [np.asarray(v, float) / np.linalg.norm(v) for v in ends]
    return [np.outer(b, a) for a, b in itertools.pairwise(units)]


def one_neuron_direction(X, G, rng, tries: int = 100) -> tuple[np.ndarray, np.ndarray, float]:
    """u, y and the speed of an escape direction y σ(u·x) off all kinks, from a random start.

    At such a point y ∝ −G z and u ∝ −Σ_{active} (Gᵀy)_j x_j, with z = σ(uᵀX): both are iterated
    until they stand still. Where no start ends off the kinks, the data have no such direction, and
    it refuses.
    """
    for _ in range(tries):
        u = rng.standard_normal(len(X))
        u /= np.linalg.norm(u)
        for _ in range(1000):
            old, z = u, np.maximum(u @ X, 0)
            push = G @ z
            if not push.any():
                break
            y = -push / np.linalg.norm(push)
            u = -X @ ((y @ G) * (z > 0))
            if not u.any():
                break
            u /= np.linalg.norm(u)
            if np.linalg.norm(u - old) < 1e-14:
                return u, y, float(-y @ G @ np.maximum(u @ X, 0))
    raise InvalidInput("No one-neuron escape direction off the kinks was found for these data.")
