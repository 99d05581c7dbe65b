"""One escape direction, with what the escape paper says about its layers."""

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from saddlescope.theory.escape.clarke import stationarity
from saddlescope.theory.escape.layer_ratios import relu_effects, tail_ratio
from saddlescope.theory.escape.localized import layers_of, localized_loss

RANK = 1e-4  # singular values above this share of the largest count


@dataclass(frozen=True, eq=False)
class Direction:
    """A stationary point of the localized loss on ‖θ‖² = L, with ∇L0(ρ) = −sρ.

    **Arguments:**

    - `speed`: s = −L0(ρ).
    - `weights`: [W_1, …, W_L], with every ‖W_ℓ‖_F = 1; neurons without effect are left out.
    - `share`: the share of random restarts that ended at this speed.
    - `ranks`: numerical rank of every W_ℓ.
    - `ratios`: Σ_{i≥2} s_i² / Σ s_i² of every W_ℓ: 0 for rank one.
    - `relu`: ‖Zσ_ℓ − Z_ℓ‖² / ‖Z_ℓ‖² of every hidden layer: 0 where the ReLU is the identity.
    - `imbalance`: the largest difference between the squared norms of a neuron's incoming and outgoing weights.
    - `residual`: ‖∇L0 + sρ‖/‖sρ‖ in Clarke's sense: with the best choice of σ′(0) in [0, 1] at each
      kink. Points x and −x, or x and 2x, have one choice together.
    - `sufficient`: whether a small residual proves that this is a stationary point. Where it is
      False, kinks depend on each other in other ways: it is necessary, not sufficient.
    - `plain_residual`: the same with σ′(0) = 0.
    - `kinks`: at how many pairs of neuron and point a ReLU is at its kink.
    """

    speed: float
    weights: list[np.ndarray]
    share: float
    ranks: tuple[int, ...]
    ratios: tuple[float, ...]
    relu: tuple[float, ...]
    imbalance: float
    residual: float
    sufficient: bool
    plain_residual: float
    kinks: int

    @property
    def widths(self) -> tuple[int, ...]:
        """The number of neurons that each hidden layer needs."""
        return tuple(len(w) for w in self.weights[:-1])

    @property
    def rank_one(self) -> bool:
        """Whether every layer has rank one."""
        return max(self.ranks) == 1


def describe(weights, X, G, share=0.0, size=1.0) -> Direction:
    """Everything about a direction, from its weights; `size` multiplies the speed."""
    values = [np.linalg.svd(w, compute_uv=False) for w in weights]
    found = stationarity(weights, X, G)
    return Direction(
        speed=-size * localized_loss(weights, X, G),
        weights=list(weights),
        share=float(share),
        ranks=tuple(int(np.sum(v > RANK * v[0])) for v in values),
        ratios=tuple(map(tail_ratio, weights)),
        relu=tuple(relu_effects(layers_of(weights, X).before[:-1])),
        imbalance=imbalance(weights),
        residual=found.residual,
        sufficient=found.sufficient,
        plain_residual=found.plain,
        kinks=found.kinks,
    )


def imbalance(weights) -> float:
    """The largest |diag(W_ℓ W_ℓᵀ) − diag(W_{ℓ+1}ᵀ W_{ℓ+1})| over the hidden neurons."""
    gaps = [np.abs(np.sum(a**2, axis=1) - np.sum(b**2, axis=0)).max() for a, b in pairwise(weights)]
    return float(max(gaps))
