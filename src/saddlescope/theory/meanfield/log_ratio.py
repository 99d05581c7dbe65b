"""Theorem 3.1: which of two channels gains at a point, by R = log |f_1| / |f_2|.

With the local and the non-local part of ∂_t f (Eq. 5, with π_p),

    ∂_t R = ξ π_p K_pp (−d_p) (B_1/f_1 − B_2/f_2) + ε,     ε = E_1/f_1 − E_2/f_2.

Under (i) −d_p ≥ 0, (ii) B_1 f_1 > 0 and (iii) |B_2|/|f_2| ≤ ρ |B_1|/|f_1| with ρ < 1, it follows that

    ∂_t R − ε ≥ (1 − ρ) ξ π_p K_pp (−d_p) |B_1|/|f_1| ≥ 0.

The paper prints an equality. It is one where ρ is the pointwise ρ(t) and B_2 f_2 > 0. At a point
whose target is negative d_p > 0 is typical and (i) cannot hold. The proof needs less than (i) and
(ii): −d_p B_1 f_1 ≥ 0, `pulls` below. Everything holds where f_1 and f_2 are not zero, for any data,
any depth and any rank. Reference: meanfield paper, Theorem 3.1 and Appendix H.3.
"""

from typing import NamedTuple

import numpy as np

from saddlescope.theory.meanfield.superposition import split_velocity


class LogRatio(NamedTuple):
    """Series over time for one point and one ordered pair of channels.

    **Arguments:**

    - `value`, `rate`: R and ∂_t R.
    - `leading`: ξ π K (−d) |B_1|/|f_1|, without its factor 1 − ρ.
    - `remainder`: ε.
    - `rho`: ρ(t) = (|B_2|/|f_2|)/(|B_1|/|f_1|), the smallest that (iii) allows.
    - `under`: (i), the net predicts too little.
    - `coherent`: (ii), B_1 has the sign of f_1.
    - `dominant`: (iii) at this instant, ρ(t) < 1.
    - `pulls`: −d B_1 f_1 ≥ 0, what the proof needs of (i) and (ii).
    - `other_coherent`: B_2 has the sign of f_2, which makes the inequality an equality.
    """

    value: np.ndarray
    rate: np.ndarray
    leading: np.ndarray
    remainder: np.ndarray
    rho: np.ndarray
    under: np.ndarray
    coherent: np.ndarray
    dominant: np.ndarray
    pulls: np.ndarray
    other_coherent: np.ndarray

    @property
    def hypotheses(self) -> np.ndarray:
        """(i), (ii) and (iii) as printed."""
        return self.under & self.coherent & self.dominant

    @property
    def right_hypotheses(self) -> np.ndarray:
        """What the proof needs: −d B_1 f_1 ≥ 0 and (iii)."""
        return self.pulls & self.dominant

    @property
    def least_rate(self) -> np.ndarray:
        """ε + (1 − ρ) |leading|, below which ∂_t R does not fall under the hypotheses."""
        return self.remainder + (1 - self.rho) * np.abs(self.leading)

    @property
    def slack(self) -> np.ndarray:
        """∂_t R less that bound: not negative under the hypotheses."""
        return self.rate - self.least_rate

    def printed_gap(self, rho: float) -> np.ndarray:
        """∂_t R less the printed right-hand side with one constant ρ."""
        return self.rate - self.remainder - (1 - rho) * self.leading


def log_ratio(f, residuals, signals, kernel, weights, point, pair, xi=1.0) -> LogRatio:
    """Series of Theorem 3.1.

    **Arguments:**

    - `f`, `signals`: f and B at the data points, time × point × channel.
    - `residuals`: d, time × point.
    - `kernel`, `weights`: K(x_p, x_q) and π_p.
    - `point`: which point; `pair`: which channels are 1 and 2.
    - `xi`: ξ₁, constant.
    """
    one, two = pair
    local, cross = split_velocity(kernel, weights, residuals, signals, xi)
    here, b, d = f[:, point], signals[:, point], residuals[:, point]
    first, second = b[:, one] / here[:, one], b[:, two] / here[:, two]
    velocity = (local + cross)[:, point] / here
    away = cross[:, point] / here
    return LogRatio(
        np.log(np.abs(here[:, one]) / np.abs(here[:, two])),
        velocity[:, one] - velocity[:, two],
        xi * weights[point] * kernel[point, point] * -d * np.abs(first),
        away[:, one] - away[:, two],
        np.abs(second) / np.abs(first),
        d <= 0,
        first > 0,
        np.abs(second) < np.abs(first),
        -d * first >= 0,
        second > 0,
    )


def intervals(flags: np.ndarray) -> list[slice]:
    """The longest stretches on which a boolean series is true, of two instants or more."""
    edges = np.flatnonzero(np.diff(np.concatenate([[False], flags, [False]]).astype(int)))
    return [slice(a, b) for a, b in edges.reshape(-1, 2) if b - a > 1]
