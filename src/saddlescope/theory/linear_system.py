"""Units of a linear net in a residual held still."""

from dataclasses import dataclass

import numpy as np

from saddlescope.errors import require


@dataclass(frozen=True)
class LinearSystem:
    """Units of a linear net in a residual held still: v̇_i = Σ u_i, u̇_i = Σᵀ v_i.

    The solution is θ_i(t) = Σ_k c_ki e^{s_k t} (q_k; r_k) + b_ki e^{-s_k t} (q_k; -r_k) + ξ_i. When
    the part along the top r directions, P θ_i, reaches one, the rest is O(ε^{1 - s_{r+1}/s_1}). One
    step of descent lasts a time 2 lr.

    Holds while the map of what has grown is small against the residual. Reference: simplicity
    paper, Theorem 4, Eq. 32–39.

    **Arguments:**

    - `sigma`: Σ, the correlation of residual and inputs, output × input.
    """

    sigma: np.ndarray

    def parts(self, theta: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """c and b (mode × unit), ξ (unit × weight), of rows θ_i = (v_i, u_i) (Eq. 35)."""
        q, _, rt = np.linalg.svd(self.sigma, full_matrices=False)
        n = len(self.sigma)
        along, across = theta[:, :n] @ q, theta[:, n:] @ rt.T
        c, b = (along + across).T / 2, (along - across).T / 2
        grown = np.concatenate([q @ (c + b), rt.T @ (c - b)]).T
        return c, b, theta - grown

    def at(self, theta: np.ndarray, t: float) -> np.ndarray:
        """θ at a time t, exactly (Eq. 34)."""
        q, s, rt = np.linalg.svd(self.sigma, full_matrices=False)
        c, b, rest = self.parts(theta)
        up, down = c * np.exp(s * t)[:, None], b * np.exp(-s * t)[:, None]
        return np.concatenate([q @ (up + down), rt.T @ (up - down)]).T + rest

    def projected(self, theta: np.ndarray, multiplicity: int = 1) -> np.ndarray:
        """P θ of the top directions (Eq. 11)."""
        q, _, rt = np.linalg.svd(self.sigma, full_matrices=False)
        top = np.concatenate([q[:, :multiplicity], rt.T[:, :multiplicity]]) / np.sqrt(2)
        return theta @ top @ top.T

    def exponent(self, multiplicity: int = 1) -> float:
        """1 - s_{r+1} / s_1. With no further singular value, as with one output, the rest does not grow: 1."""
        s = np.linalg.svd(self.sigma, compute_uv=False)
        require(
            0 < multiplicity <= len(s),
            f"Theorem 4 needs no more top directions than the {len(s)} there are.",
        )
        return float(1 - [*s, 0.0][multiplicity] / s[0])
