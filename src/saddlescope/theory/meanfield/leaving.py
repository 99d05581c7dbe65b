"""When a finite net leaves a start that is stationary in the limit.

Near zero weights a net of two blocks is S_k = Σ π y f_k/√(yKy) and β_k = E L_k w₂/σ, where yKy = Σ
π_p y_p K_pq y_q π_q. Its flow is Ṡ = Λ β, β̇ = Λ S with Λ = φ' σ √(yKy). Both draws have size
n^(-1/2), and E yŷ = Λ S·β.

Three blocks have a matrix between them, N = E w₂ Lᵀ/σ, and Λ = φ'² σ² √(yKy):

    Ṡ = Λ Nᵀβ,   Ṅ = Λ β Sᵀ,   β̇ = Λ N S,   E yŷ = Λ βᵀN S.

Two blocks grow exponentially, and leave after ln n/(2Λ). Three blow up in finite time, after a
multiple of √n/Λ.
"""

import numpy as np
from scipy.integrate import solve_ivp
from scipy.special import elliprf


def two_block_time(S: np.ndarray, beta: np.ndarray, rate: float, level: float) -> float:
    """When Λ S·β reaches `level`, from a draw (S, β): a sinh 2Λt + b cosh 2Λt = level/Λ, solved for t."""
    a, b, c = (S @ S + beta @ beta) / 2, S @ beta, level / rate
    return float(np.log((c + np.sqrt(c**2 + a**2 - b**2)) / (a + b)) / (2 * rate))


def three_block_time(S: np.ndarray, N: np.ndarray, beta: np.ndarray, rate: float, level: float) -> float:
    """When Λ βᵀNS reaches `level`, from a draw (S, N, β).

    **Arguments:**

    - `S`, `N`, `beta`: the draw, of shapes r, r × r and r.
    - `rate`: Λ.
    - `level`: of E yŷ.
    """
    r, size = len(S), np.linalg.norm(np.concatenate([S, N.ravel(), beta]))

    def velocity(_, z):
        s, m, b = z[:r], z[r:-r].reshape(r, r), z[-r:]
        return np.concatenate([m.T @ b, np.outer(b, s).ravel(), m @ s])

    def reached(_, z):
        return z[-r:] @ z[r:-r].reshape(r, r) @ z[:r] - level / (rate * size**3)

    reached.terminal = True
    # In units of its size the draw blows up after a time of order one, unless it starts almost in balance.
    start = np.concatenate([S, N.ravel(), beta]) / size
    found = solve_ivp(velocity, (0, 1e4), start, rtol=1e-9, atol=1e-12, events=reached)
    ends = found.t_events[0]
    return float(ends[0] / (rate * size)) if len(ends) else np.inf


def blow_up_time(S: float, N: float, beta: float, rate: float) -> float:
    """When three blocks of rank one blow up: R_F(S², N², β²)/Λ, Carlson's elliptic integral.

    All squares grow by the same v, with v̇ = 2Λ √((S² + v)(N² + v)(β² + v)). Where S N β < 0 the least of them first
    falls to zero, which takes 2 R_F(…, 0) − 2 R_F longer.
    """
    squares = np.sort(np.square([S, N, beta]))
    direct = elliprf(*squares)
    if S * N * beta >= 0:
        return float(direct / rate)
    return float((2 * elliprf(0.0, *(squares[1:] - squares[0])) - direct) / rate)
