"""The first layer as a superposition of kernels.

A net with frozen features trains w₁(t, c, k) = w₁(0, c, k) − Σ_p φ₁(L⁰_c·x_p) Γ_{k,p}(t), so that

    f_k(t, x) = f_k(0, x) − Σ_p K(x, x_p) Γ_{k,p}(t),     ∂_t Γ_{k,p} = ξ₁ π_p d_p B_{k,p}.

It holds for every depth, width and loss while the first layer's features stay frozen and the data
are finitely many points x_p of weight π_p. For a finite net K is the average over its own neurons.
Reference: meanfield paper, Eq. 4, 5, 10 and 14–16. Section 3.2 prints Γ without π_p.

Arrays: time × point × channel for f, B and Γ; time × point for d.
"""

import numpy as np
from scipy.interpolate import CubicSpline


def superpose(first: np.ndarray, kernel: np.ndarray, gamma: np.ndarray) -> np.ndarray:
    """f(t, x) of Eq. 16 at places x, from f(0, x), K(x, x_p) and Γ."""
    return first - np.einsum("xp,tpk->txk", kernel, gamma)


def accumulate_gamma(times, residuals, signals, weights, schedule=None) -> np.ndarray:
    """Γ(t) of Eq. 15 from d and B at saved times, by a cubic spline: an error of order step⁴.

    **Arguments:**

    - `times`, `residuals`, `signals`: t, d and B.
    - `weights`: π_p. Ones give Γ as Section 3.2 prints it.
    - `schedule`: ξ₁ at the saved times; 1 where it is not given.
    """
    xi = np.ones(len(times)) if schedule is None else np.asarray(schedule)
    rates = xi[:, None, None] * (weights * residuals)[:, :, None] * signals
    spline = CubicSpline(times, rates).antiderivative()
    return spline(times) - spline(times[0])


def channel_velocity(kernel, weights, residuals, signals, xi=1.0) -> np.ndarray:
    """∂_t f(t, x) of Eq. 10 at places x, from K(x, x_p), π, d and B."""
    return -xi * np.einsum("xp,tpk->txk", kernel, (weights * residuals)[:, :, None] * signals)


def split_velocity(kernel, weights, residuals, signals, xi=1.0):
    """∂_t f at the data points as in Eq. 5: the local term, and E, which depends on the channel."""
    own = np.diag(np.diag(kernel))
    local = channel_velocity(own, weights, residuals, signals, xi)
    return local, channel_velocity(kernel - own, weights, residuals, signals, xi)
