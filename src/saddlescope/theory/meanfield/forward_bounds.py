"""How far activations move when weights do, and how large they are: Lemmas D.1, E.1, E.2 and F.1.

K₁ is the largest |φ₁| over neurons and data, ‖L‖ = sup_c Σ_k |L_ck|, and `lipschitz` the constant of
the activations above. All averages are over the given neurons.

    |H₂(W') − H₂(W'')| ≤ K₁ ‖L‖ max_k E|w₁' − w₁''|
    |H_ℓ(W') − H_ℓ(W'')| ≤ ‖L‖ max_k (K₁ E|w' − w''| + lipschitz E|w''| · bound of H_{ℓ−1})

φ₁ must be bounded on the data, which Gaussian features and a leaky ReLU are not: K₁ then grows with
the width. For φ₂(H₂) the paper prints the bound of H₂ itself, where one more Lipschitz constant is
due. Reference: meanfield paper, Lemmas D.1, E.1, E.2 and F.1.
"""

import numpy as np

from saddlescope.theory.meanfield.norms import moment


def mixing_norm(mixing: np.ndarray, order: int = 1) -> float:
    """‖L‖_{∞,1} or ‖L‖_{∞,2}: the largest row, neuron × channel."""
    return float(np.linalg.norm(mixing, ord=order, axis=1).max())


def first_bound(features: np.ndarray, mixing: np.ndarray, change: np.ndarray) -> float:
    """Lemma D.1, ℓ = 2: features are neuron × point, the change w₁' − w₁'' is neuron × channel."""
    return np.abs(features).max() * mixing_norm(mixing) * np.abs(change).mean(axis=0).max()


def next_bound(below: float, largest, lipschitz, mixing, change, weights) -> float:
    """Lemma D.1, ℓ ≥ 3, with E|w''| where the paper's norm of w'' is not legible.

    **Arguments:**

    - `below`: the bound of the layer below.
    - `largest`, `lipschitz`: of the activation of the layer below.
    - `mixing`: L of this layer.
    - `change`, `weights`: w' − w'' and w'' of the layer below, neuron × channel.
    """
    own = largest * np.abs(change).mean(axis=0)
    carried = lipschitz * np.abs(weights).mean(axis=0) * below
    return mixing_norm(mixing) * float(np.max(own + carried))


def sum_bound(factors: np.ndarray, values: np.ndarray, order: float) -> tuple[float, float, float]:
    """Lemma E.1 for Σ_k a_k U_k, sample × k: the moment, Minkowski's bound, and the one by a max."""
    each = np.asarray(moment(values, order))
    minkowski = float(np.abs(factors) @ each)
    return float(moment(values @ factors, order)), minkowski, float(np.abs(factors).sum() * each.max())


def moment_bound(features, mixing, weights, order: float) -> float:
    """Lemmas E.2 and F.1: K₁ ‖L‖ max_k E[sup_t |w₁|^m]^(1/m); weights are time × neuron × channel."""
    sizes = np.abs(weights).max(axis=0)
    return np.abs(features).max() * mixing_norm(mixing) * float(np.max(moment(sizes, order)))
