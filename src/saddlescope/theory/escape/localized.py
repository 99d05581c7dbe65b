"""The loss near the origin of a bias-free ReLU net, L0(θ) = Tr[Gᵀ Y_θ] with G = ∇C(0).

Y_θ = W_L σ(W_{L-1} … σ(W_1 X)) has the shape (outputs, points), as G has; X is (inputs, points). The true loss is
C(0) + L0(θ) + O(‖Y_θ‖²). L0 is homogeneous of degree L, so that near the origin it decides where a net goes.
"""

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from saddlescope.errors import InvalidInput, require


class Layers(NamedTuple):
    """What every layer of a net computes on the data.

    **Arguments:**

    - `before`: Z_1 … Z_L, the values before the ReLU; the last is the output.
    - `after`: Zσ_0 … Zσ_{L-1}, the inputs of each layer; the first is X.
    """

    before: list[np.ndarray]
    after: list[np.ndarray]


def layers_of(weights, X) -> Layers:
    """Z and Zσ of every layer, for weights [W_1, …, W_L] with W_ℓ of shape (out, in)."""
    before, after = [], [np.asarray(X, float)]
    for matrix in weights:
        before.append(matrix @ after[-1])
        after.append(np.maximum(before[-1], 0))
    return Layers(before, after[:-1])


def localized_loss(weights: Sequence[np.ndarray], X: np.ndarray, G: np.ndarray) -> float:
    """L0(θ) = Tr[Gᵀ Y_θ]. The speed of an escape direction on ‖θ‖² = L is minus this.

    **Arguments:**

    - `weights`: [W_1, …, W_L], with W_ℓ of shape (out, in).
    - `X`: inputs, of shape (inputs, points).
    - `G`: the gradient of the loss by the outputs at zero output, of shape (outputs, points).
    """
    weights, X, G = checked_net(weights, X, G)
    return float(np.sum(G * layers_of(weights, X).before[-1]))


def checked_net(weights, X, G) -> tuple[list[np.ndarray], np.ndarray, np.ndarray]:
    """Weights, X and G as arrays, refused where they do not fit: numpy would stretch a G of one row in silence."""
    try:
        weights, X, G = [np.asarray(w, float) for w in weights], np.asarray(X, float), np.asarray(G, float)
    except (TypeError, ValueError):
        raise InvalidInput("Weights, X and G are tables of numbers; some of their entries are not.") from None
    sizes = [np.shape(X)[:1], *map(np.shape, weights), np.shape(G)[:1]]
    good = all(len(b) == 2 and a[0] == b[1] for a, b in pairwise(sizes[:-1])) and sizes[-2][0] == sizes[-1][0]
    require(
        good and np.shape(X)[1:] == np.shape(G)[1:],
        f"Weights are matrices (out, in) from the rows of X to those of G; got X {np.shape(X)}, "
        f"weights {', '.join(map(str, sizes[1:-1]))}, G {np.shape(G)}.",
    )
    return weights, X, G


def norm_of(weights) -> float:
    """‖θ‖, over all layers."""
    return float(np.sqrt(sum(np.sum(w * w) for w in weights)))


def gradient_at_zero(targets, loss="squared") -> np.ndarray:
    """G = ∇C(0) for targets of shape (outputs, points).

    Squared loss ‖Y − Y*‖²/N: G = −(2/N) Y*. Cross-entropy, with one-hot targets: G = (1/classes − onehot)/N.
    """
    targets = np.asarray(targets, float)
    points = targets.shape[1]
    if loss == "squared":
        return -2 * targets / points
    return (1 / targets.shape[0] - targets) / points


def circle(points=8) -> tuple[np.ndarray, np.ndarray]:
    """Example 1: x_j = (sin, cos)(2πj/N), G_j = (−1)^j; the paper has N = 8."""
    angle = 2 * np.pi * np.arange(points) / points
    return np.stack([np.sin(angle), np.cos(angle)]), ((-1.0) ** np.arange(points))[None]
