"""The operator F of Appendix D.3, whose fixed points are the solutions, on given neurons.

    F₁(W)(t, c, k) = w₁(0, c, k) − ∫₀ᵗ Σ_p π_p d_p(s) φ₁(L⁰_c·x_p) B_k(s, x_p) ds
    F₂(W)(t, c)    = w₂(0, c)    − ∫₀ᵗ Σ_p π_p d_p(s) φ₂(L_c·f(s, x_p)) ds

Two blocks, one output, ξ = 1, any activation and loss; averages are over the given neurons, so that
this is F of the particle equations, or of the limit where the neurons are a quadrature rule. Time
integrals are those of a cubic spline through the saved times, with an error of order step⁴ where φ₂
is smooth. Reference: meanfield paper, Appendix D.3; G.2 for particles.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy.interpolate import CubicSpline

Path = tuple[np.ndarray, np.ndarray]  # w₁: time × neuron × channel; w₂: time × neuron × 1


class Neurons(NamedTuple):
    """The neurons and the data.

    **Arguments:**

    - `features`: φ₁(L⁰_c·x_p), neuron × point.
    - `mixing`: L, neuron × channel.
    - `start`: w₁(0) and w₂(0), neuron × channel and neuron × 1.
    - `targets`, `weights`: y and π, one per point.
    - `activation`, `slope`: φ₂ and φ₂', for numpy arrays.
    - `derivative`: d as a function of ŷ − y.
    """

    features: np.ndarray
    mixing: np.ndarray
    start: tuple[np.ndarray, np.ndarray]
    targets: np.ndarray
    weights: np.ndarray
    activation: Callable
    slope: Callable
    derivative: Callable

    def channels(self, w1) -> np.ndarray:
        """f, time × point × channel."""
        return np.einsum("cp,tck->tpk", self.features, w1) / len(self.features)

    def forward(self, path: Path):
        """H₂, d and B at every time: time × point × neuron, time × point, time × point × channel."""
        w1, w2 = path
        fields = self.channels(w1) @ self.mixing.T
        second = w2[:, None, :, 0] / len(self.mixing)
        outputs = np.sum(self.activation(fields) * second, axis=2)
        signals = (self.slope(fields) * second) @ self.mixing
        return fields, self.derivative(outputs - self.targets), signals

    def velocity(self, path: Path) -> Path:
        """∂_t w₁ and ∂_t w₂ along a path."""
        fields, residuals, signals = self.forward(path)
        pull = self.weights * residuals
        first = -np.einsum("cp,tp,tpk->tck", self.features, pull, signals)
        return first, -np.einsum("tpc,tp->tc", self.activation(fields), pull)[:, :, None]

    def at_rest(self, times) -> Path:
        """The path that stays at the start."""
        w1, w2 = (np.repeat(w[None], len(times), axis=0) for w in self.start)
        return w1, w2


def apply_operator(neurons: Neurons, times: np.ndarray, path: Path) -> Path:
    """F(W) at the saved times."""
    found = []
    for start, rate in zip(neurons.start, neurons.velocity(path), strict=True):
        total = CubicSpline(times, rate).antiderivative()
        found.append(start + total(times) - total(times[0]))
    return tuple(found)


def iterates(neurons: Neurons, times: np.ndarray, path: Path, count: int) -> list[Path]:
    """W, F(W), …, F^count(W)."""
    found = [path]
    for _ in range(count):
        found.append(apply_operator(neurons, times, found[-1]))
    return found
