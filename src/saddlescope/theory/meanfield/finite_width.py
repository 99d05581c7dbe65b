"""Bounds between a finite net and its limit, as log10: they are too large for a float.

    Lemma G.1      D_T(W, W̃) ≤ n_min^(−1/2) √log(3 (T + 1) n_max²/δ + e) · E,     E = e^{K_T (1 + rK)}
    Lemma G.2      D_T(W̃, 𝐖) ≤ √(ε log(2 n₁ n₂ r/δ + e)) · E
    Theorem G.1    D_T(W, 𝐖) ≤ (n_min^(−1/2) + √ε) √log(3 (T + 1) n_max²/δ + e) · E
    Corollary G.1  the same with E² for a K-Lipschitz test function of the output

K_T = K (1 + T^K), and K bounds activations, their slopes, features, mixing weights, the loss's
derivative and the weights at the start. So it holds for bounded laws and losses alone: Gaussian laws
and the squared loss have no such K. Reference: meanfield paper, Theorem 2.3 and Appendix G.
"""

from typing import NamedTuple

import numpy as np


class Bounds(NamedTuple):
    """What the bounds depend on.

    **Arguments:**

    - `time`, `rank`, `constant`: T, r and K ≥ 1.
    - `widths`: n₁ and n₂.
    - `step`: ε, the length of a step of gradient descent.
    - `chance`: δ.
    """

    time: float
    rank: int
    constant: float
    widths: tuple[int, int]
    step: float
    chance: float

    @property
    def growth(self) -> float:
        """K_T = K (1 + T^K)."""
        return self.constant * (1 + self.time**self.constant)

    @property
    def exponent(self) -> float:
        """K_T (1 + rK)."""
        return self.growth * (1 + self.rank * self.constant)

    def _log(self, inside) -> float:
        return 0.5 * np.log10(np.log(inside + np.e))

    def _width_log(self, rank: int = 1) -> float:
        return self._log(3 * (self.time + 1) * max(self.widths) ** 2 * rank / self.chance)

    def coupling(self) -> float:
        """Lemma G.1."""
        return -0.5 * np.log10(min(self.widths)) + self._width_log() + self.exponent / np.log(10)

    def coupling_derived(self) -> float:
        """What the proof of Lemma G.1 gives: (γ₁ + γ₂ + ξ) E, with r in the log and K_T (1 + rK)."""
        gammas = self.exponent * 10 ** self._width_log(self.rank) * sum(n**-0.5 for n in self.widths)
        return np.log10(gammas + max(self.widths) ** -0.5) + self.exponent / np.log(10)

    def descent(self) -> float:
        """Lemma G.2."""
        inside = 2 * self.widths[0] * self.widths[1] * self.rank / self.chance
        return 0.5 * np.log10(self.step) + self._log(inside) + self.exponent / np.log(10)

    def total(self) -> float:
        """Theorem G.1, which is Theorem 2.3."""
        rate = min(self.widths) ** -0.5 + self.step**0.5
        return np.log10(rate) + self._width_log() + self.exponent / np.log(10)

    def test_function(self) -> float:
        """Corollary G.1."""
        return self.total() + self.exponent / np.log(10)
