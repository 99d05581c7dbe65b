"""Norms of Appendix D.2, for the weights of finitely many neurons over time.

Every norm takes the largest size over time first, then a moment over neurons, then the largest
channel. Arrays: time × neuron × channel. They hold for any weights; the average over neurons is that
of the given neurons, so that Jensen and Minkowski hold exactly. Reference: meanfield paper, D.2.
"""

import numpy as np

ORDERS = np.unique(np.concatenate([np.arange(1, 101), np.geomspace(100, 1000, 20)]))


def moment(values: np.ndarray, order: float) -> float | np.ndarray:
    """E[|U|^m]^(1/m) along the first axis; scaled, so that no power overflows."""
    sizes = np.abs(values)
    top = sizes.max(axis=0)
    scaled = sizes / np.where(top > 0, top, 1.0)
    return top * np.mean(scaled**order, axis=0) ** (1 / order)


def weight_norm(weights: np.ndarray, order: float) -> float:
    """max_k E[sup_t |w|^m]^(1/m); m = 2 and m = 50 are the paper's."""
    return float(np.max(moment(np.abs(weights).max(axis=0), order)))


def psi_norm(weights: np.ndarray) -> float:
    """√50 sup_m m^(−1/2) max_k E[sup_t |w|^m]^(1/m), over m from 1 to 1000."""
    sizes = np.abs(weights).max(axis=0)
    return float(np.sqrt(50) * max(np.max(moment(sizes, m)) / np.sqrt(m) for m in ORDERS))


def psi_seminorm(values: np.ndarray) -> np.ndarray:
    """sup_m m^(−1/2) E[|U|^m]^(1/m) along the first axis."""
    return np.max([moment(values, m) / np.sqrt(m) for m in ORDERS], axis=0)


def distance(first, second) -> float:
    """‖W − W'‖_T of Eq. 8 for (w₁, w₂) and (w₁', w₂')."""
    return max(weight_norm(a - b, 2) for a, b in zip(first, second, strict=True))
