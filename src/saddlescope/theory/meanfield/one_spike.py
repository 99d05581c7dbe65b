"""One data point: the system of Eq. 11–13, its one-sparse solutions, and what they end at.

With ReLU above, one point x* of target y and K = K(x*, x*),

    ∂_t f_k = −ξ K d B_k,     ∂_t w₂(c) = −ξ d (L_c·f)₊,     B_k = E[L_k w₂ 1{L·f > 0}].

Eq. 11 is printed without K. Lemma H.2: let L have independent symmetric coordinates, w₂(0) = w ≥ 0,
f(0) = a₀ e_j with a₀ > 0, and d ≤ 0. Then f = a e_j, B_k = 0 for k ≠ j and

    ȧ = −ξ K d B,     Ḃ = −ξ d (E L²/2) a,     B(0) = w E|L|/2,     ŷ = a B.

So E L² a²/2 − K B² is constant, and y = a B at the end gives a and B there in closed form.
Reference: meanfield paper, Appendix H.1, Lemmas H.1 and H.2. The constant and the end are ours.
"""

from typing import NamedTuple

import numpy as np
from scipy.integrate import solve_ivp


class OneSpike(NamedTuple):
    """What a one-sparse solution depends on.

    **Arguments:**

    - `start`: a₀ > 0.
    - `weight`: w ≥ 0, the second layer's weight at the start.
    - `target`: y, at least a₀ B(0), so that d ≤ 0.
    - `kernel`: K(x*, x*); 1 gives Eq. 11 as printed.
    - `mean_size`, `mean_square`: E|L_j| and E L_j².
    """

    start: float
    weight: float
    target: float
    kernel: float
    mean_size: float
    mean_square: float

    @property
    def first_signal(self) -> float:
        """B(0)."""
        return self.weight * self.mean_size / 2

    def solve(self, times: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """a and B at these times, by an adaptive method of order 8 with a tolerance of 1e-12."""

        def velocity(_, state):
            a, b = state
            pull = self.target - a * b
            return pull * self.kernel * b, pull * self.mean_square / 2 * a

        start = (self.start, self.first_signal)
        span = times[0], times[-1]
        return tuple(solve_ivp(velocity, span, start, "DOP853", times, rtol=1e-12, atol=1e-14).y)

    def constant(self, a, b):
        """E L² a²/2 − K B², which does not change."""
        return self.mean_square / 2 * a**2 - self.kernel * b**2

    def end(self) -> tuple[float, float]:
        """a and B where a B = y: s = E L²/2 a² solves s² − c s = K (E L²/2) y²."""
        c = self.constant(self.start, self.first_signal)
        s = c / 2 + np.sqrt(c**2 / 4 + self.kernel * self.mean_square / 2 * self.target**2)
        a = np.sqrt(2 * s / self.mean_square)
        return float(a), float(self.target / a)


def lemma_signal(times, residuals, sizes, weight, mean_size, mean_square) -> np.ndarray:
    """B_j(t) of Lemma H.2 from d and a at saved times, with ξ₂ = 1; an error of order step⁴."""
    from scipy.interpolate import CubicSpline

    total = CubicSpline(times, -residuals * sizes).antiderivative()
    return weight / 2 * mean_size + mean_square / 2 * (total(times) - total(times[0]))


def half_space(values, weights, a: float) -> tuple[float, float]:
    """E[U 1{aU > 0}] and E[U² 1{aU > 0}] for a law given by values and weights.

    For a symmetric U they are sign(a) E|U|/2 and E U²/2 (Lemma H.1)."""
    side = a * values > 0
    return float(weights @ (values * side)), float(weights @ (values**2 * side))
