"""What `thm31` reads off one net: Theorem 3.1 in the forms of the abstract, the appendix and the proof."""

import numpy as np

from saddlescope.papers.escape._ends import second_value
from saddlescope.theory.escape.bounds import printed_theorem_bound, slack

MOST = 8  # layers: shorter nets are filled up with NONE
NONE = -1.0


def literal_ratio(matrix, layer):
    """ℓ^(1/4) s₂/s₁; NONE for the first layer and for one row or column, where it is at most 1 for every matrix."""
    return layer**0.25 * second_value(matrix) if layer > 1 and min(matrix.shape) > 1 else NONE


def appendix_gap(X, G, speed, c):
    """Theorem A.8 writes 8c'/(s* − c'/√ℓ)/√ℓ with c' = √2 ‖X‖‖G‖ √ln A: relative gap to the main
    text, past c²."""
    layers = np.ceil(c**2) + np.arange(1, 100)
    own = np.sqrt(2) * np.linalg.norm(X) * np.linalg.norm(G) * np.sqrt(np.log(slack(X, G, speed)))
    appendix = 8 * own / (speed - own / np.sqrt(layers)) / np.sqrt(layers)
    return float(np.max(np.abs(appendix / printed_theorem_bound(layers, c) - 1)))


def appendix_bound(layer, c):
    """8c/(√ℓ − c), as A.8 states it of every ℓ: negative for ℓ < c², infinite at c²."""
    room = np.sqrt(np.asarray(layer, float)) - c
    return np.where(room == 0, np.inf, 8 * c / np.where(room == 0, 1.0, room))


def earliest(ratios, X, G, speed, depth):
    """The earliest layer ℓ₀ within 2 ln A/ℓ, for each ℓ < L at which this limit is below 1: how many
    such ℓ there are, in how many ℓ₀ > ℓ, and in how many ℓ₀ = 0 while X < 0 somewhere."""
    limit = 2 * np.log(slack(X, G, speed))
    asked = [m for m in range(1, depth) if limit < m]
    low = [np.flatnonzero(ratios[:-1] <= limit / m) for m in asked]
    first = np.array([int(k[0]) if len(k) else depth for k in low])
    return {
        "asked": len(asked),
        "empty": depth - 1 - len(asked),
        "late": int(np.sum(first > np.array(asked))),
        "at_inputs": int(np.sum(first == 0) * bool(np.any(X < 0))),
    }


def filled(values):
    return np.append(values, np.full(MOST - len(values), NONE))
