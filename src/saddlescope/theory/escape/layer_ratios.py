"""How far each layer of a net is from rank one, and how much its ReLU changes (escape paper,
Theorem 3.1).

For a matrix A the ratio is Σ_{i≥2} s_i² / Σ s_i²: 0 for rank one, close to 1 for many equal
singular values.
"""

from typing import NamedTuple

import numpy as np

from saddlescope.theory.escape.localized import layers_of


class LayerRatios(NamedTuple):
    """The three ratios of Theorem 3.1, one number per layer.

    **Arguments:**

    - `weights`: of W_1 … W_L.
    - `activations`: of Zσ_0 = X, Zσ_1 … Zσ_L: one more, the last after a ReLU that the net does not
      have.
    - `relu`: ‖Zσ_ℓ − Z_ℓ‖² / ‖Z_ℓ‖² for ℓ = 1 … L; the last says what a ReLU of the output would
      do.
    """

    weights: np.ndarray
    activations: np.ndarray
    relu: np.ndarray


def tail_ratio(matrix) -> float:
    """Σ_{i≥2} s_i² / Σ s_i²; 0 for a matrix of zeros."""
    values = np.linalg.svd(matrix, compute_uv=False) ** 2
    total = values.sum()
    return float(values[1:].sum() / total) if total > 0 else 0.0


def relu_effects(before) -> list[float]:
    """‖σ(Z) − Z‖² / ‖Z‖² of each Z: 0 where the ReLU is the identity, or the layer silent."""
    return [float(np.sum(np.minimum(z, 0) ** 2) / max(np.sum(z**2), 1e-300)) for z in before]


def layer_ratios(weights, X) -> LayerRatios:
    """All three ratios of every layer."""
    before, after = layers_of(weights, X)
    after = [*after, np.maximum(before[-1], 0)]
    of = lambda matrices: np.array([tail_ratio(m) for m in matrices])  # noqa: E731
    return LayerRatios(of(weights), of(after), np.array(relu_effects(before)))
