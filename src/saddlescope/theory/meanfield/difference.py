"""Lemma D.4 and Appendix D.6: how close F brings two paths, as log10 of the paper's bounds.

    ‖F(W') − F(W'')‖_t ≤ (K K₀)⁴ ∫₀ᵗ ((1 + B) ‖W' − W''‖_s + √2 e^{−K₁B²/2}) ds
    ‖F^m(W') − F^m(W'')‖_T ≤ (T k₁ (1 + √m))^m/m! ‖W' − W''‖_T + k₂ e^{T k₁ (1 + √m) − k₃ m}

with k₁ = (K K₀)⁴. The proof needs B_k Lipschitz in the weights, hence a Lipschitz φ₂': tanh, sigmoid
and erf have one. Leaky ReLU has not. At f(x) = 0 its B_k jumps, and no constant serves.
Reference: meanfield paper, Lemma D.4 and Appendix D.6.
"""

import numpy as np
from scipy.special import gammaln


def iterate_bound(m, T: float, k1: float) -> np.ndarray:
    """log10 of (T k₁ (1 + √m))^m/m!, the factor of ‖W' − W''‖."""
    m = np.asarray(m, float)
    return (m * np.log(T * k1 * (1 + np.sqrt(m))) - gammaln(m + 1)) / np.log(10)


def smallest_constants(differences: np.ndarray, T: float) -> np.ndarray:
    """The k₁ that each ‖F^{m+1}W − F^mW‖, m ≥ 1, needs in (T k₁ (1 + √m))^m/m! ‖FW − W‖."""
    m = np.arange(1, len(differences))
    shares = np.maximum(differences[1:] / differences[0], 1e-300)  # an iteration may end exactly
    roots = np.exp((np.log(shares) + gammaln(m + 1)) / m)
    return roots / (T * (1 + np.sqrt(m)))


def lipschitz_bound(T: float, gap: float, k1: float, tail: float) -> float:
    """The right-hand side of Lemma D.4 for paths at the distance `gap`, at the best B."""
    B = np.linspace(0, 60, 60_001)
    return float(np.min(k1 * T * ((1 + B) * gap + np.sqrt(2) * np.exp(-tail * B**2 / 2))))
