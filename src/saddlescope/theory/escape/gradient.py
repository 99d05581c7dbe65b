"""The gradient of the localized loss, and of any loss of the outputs, for a bias-free ReLU net.

∂/∂W_ℓ Tr[SᵀY_θ] = B_ℓ Zσ_{ℓ-1}ᵀ, where B_L = S and B_{ℓ-1} = (W_ℓᵀB_ℓ) ⊙ σ'(Z_{ℓ-1}). With S = G
this is ∇L0; with S = ∇C(Y_θ) it is the gradient of the true loss.
"""

import numpy as np

from saddlescope.theory.escape.localized import layers_of


def gradient_of(weights, X, G, slopes=None) -> list[np.ndarray]:
    """∇ of Tr[GᵀY_θ], one matrix per layer.

    `slopes` are σ′ of hidden layers 1 … L−1, arrays of shape (neurons, points). By default σ′(z) = 1
    for z > 0, else 0: on a kink this is one choice of Clarke's many.
    """
    before, after = layers_of(weights, X)
    slopes = [z > 0 for z in before[:-1]] if slopes is None else slopes
    signal, found = np.asarray(G, float), []
    for layer in reversed(range(len(weights))):
        found.append(signal @ after[layer].T)
        if layer:
            signal = (weights[layer].T @ signal) * slopes[layer - 1]
    return found[::-1]


def flatten(weights) -> np.ndarray:
    """θ as one vector."""
    return np.concatenate([np.ravel(w) for w in weights])


def unflatten(theta, like) -> list[np.ndarray]:
    """The matrices of a vector θ, in the shapes of `like`."""
    ends = np.cumsum([w.size for w in like])[:-1]
    return [part.reshape(w.shape) for part, w in zip(np.split(theta, ends), like, strict=True)]
