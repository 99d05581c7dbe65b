"""What the escape paper proves about low rank: Theorem 3.1, Propositions 3.3 and 3.4, Lemmas A.4
and A.7.

Throughout A = ‖X‖_F ‖G‖_F / s ≥ 1, with s > 0 the speed; the paper's "s* = min Tr[GᵀY]" is minus
that.
"""

import numpy as np

from saddlescope.theory.escape.layer_ratios import layer_ratios
from saddlescope.theory.escape.localized import layers_of

norm = np.linalg.norm


def slack(X, G, speed: float) -> float:
    """A = ‖X‖_F ‖G‖_F / s."""
    return float(norm(X) * norm(G) / speed)


def theorem_constant(X, G, speed: float) -> float:
    """c = A √(2 ln A) of Theorem 3.1. It shrinks where the speed grows, so it does not grow with
    depth."""
    A = slack(X, G, speed)
    return float(A * np.sqrt(2 * np.log(max(A, 1.0))))


def printed_theorem_bound(layer, constant: float) -> np.ndarray:
    """8 c / (√ℓ − c) for ℓ > c², infinite below: what bounds all three ratios of layer ℓ as
    printed."""
    root = np.sqrt(np.asarray(layer, float))
    return np.where(root > constant, 8 * constant / np.where(root > constant, root - constant, 1.0), np.inf)


def theorem_bound(layer, constant: float) -> np.ndarray:
    """The bound that the proof gives: ℓ − 1 in the place of ℓ. It is below 1 for ℓ − 1 > 81 c²
    alone.

    Proposition 3.4 gives a layer ℓ₀ near rank one among the hidden layers 1 … ℓ − 1: the proof
    needs ℓ₀ ≥ 1, since X may have negative entries, and ℓ₀ < ℓ, since Proposition 3.3 speaks of the
    layers after ℓ₀. The ratios of Zσ_ℓ and of the ReLU are bounded for ℓ < L only.
    """
    return printed_theorem_bound(np.asarray(layer, float) - 1, constant)


def near_rank_one_bound(G, speed: float, eps: float) -> float:
    """Proposition 3.3: 8 ‖G‖ ε / (s* − ‖G‖ ε), for inputs uvᵀ + E with v ≥ 0 and ‖E‖_F ≤ ε;
    infinite for large ε."""
    size = norm(G) * eps
    return float(8 * size / (speed - size)) if size < speed else np.inf


def rank_one_speed(u, v, G) -> float:
    """‖Gv‖ ‖u‖: the best speed on the inputs uvᵀ with v ≥ 0, at any depth ≥ 2 (proof of Proposition
    A.6)."""
    return float(norm(np.asarray(G) @ v) * norm(u))


def most_layers_bound(X, G, speed: float, depth: int, share: float) -> float:
    """Proposition 3.4: at least (1 − p) L of Zσ_0 … Zσ_{L-1} have a ratio of at most 2 ln A /
    (pL)."""
    return float(2 * np.log(slack(X, G, speed)) / (share * depth))


def sum_form(weights, X, G) -> tuple[float, float]:
    """Σ_{ℓ<L} ln 1/(1 − ratio of Zσ_ℓ) and its bound 2 ln A: stronger than Proposition 3.4, and
    never empty."""
    ratios = layer_ratios(weights, X).activations[:-1]
    speed = -float(np.sum(G * layers_of(weights, X).before[-1]))
    return float(-np.log1p(-ratios).sum()), float(2 * np.log(slack(X, G, speed)))


def speed_budget(weights, X, G) -> dict[str, np.ndarray]:
    """Where ln A goes, layer by layer: the terms add up to ln(‖X‖‖G‖/s) exactly.

    - `output`: ln 1/cos(−G, Z_L), one number.
    - `norms`: ln 1/‖W_ℓ‖, whose sum is not negative on ‖θ‖² = L (Lemma A.4); each is 0 where the
      layers are balanced.
    - `alignment`: ln(‖W_ℓ‖‖Zσ_{ℓ-1}‖ / ‖Z_ℓ‖) ≥ 0. Twice it is at least ln 1/(1 − ratio) of W_ℓ and
      of Zσ_{ℓ-1}.
    - `relu`: ln(‖Z_ℓ‖ / ‖Zσ_ℓ‖) ≥ 0 for ℓ < L.
    """
    before, after = layers_of(weights, X)
    speed = -float(np.sum(G * before[-1]))
    sizes = np.array([norm(w) for w in weights])
    given, made = (np.array([norm(z) for z in values]) for values in (after, before))
    return {
        "output": np.log([norm(G) * made[-1] / speed]),
        "norms": -np.log(sizes),
        "alignment": np.log(sizes * given / made),
        "relu": np.log(made[:-1] / given[1:]),
    }


def nonnegative_pair(matrix) -> tuple[np.ndarray, np.ndarray]:
    """Lemma A.7: u, v ≥ 0 of norm one with A v = s₁ u and Aᵀ u = s₁ v, for A ≥ 0.

    The rows of ones are projected on the eigenspace of s₁²: a limit of powers of AᵀA ≥ 0, so it has
    no negative entry, even where s₁ is tied and a solver returns mixed signs.
    """
    matrix = np.asarray(matrix, float)
    _, values, right = np.linalg.svd(matrix)
    top = right[: len(values)][values >= values[0] * (1 - 1e-9)]
    v = np.maximum(top.T @ top.sum(1), 0)
    v /= norm(v)
    u = matrix @ v
    return u / norm(u), v
