"""The gradient of the localized loss, and of any loss of the outputs, for a bias-free ReLU net.

∂/∂W_ℓ Tr[Sᵀ Y_θ] = B_ℓ Zσ_{ℓ-1}ᵀ, where B_L = S and B_{ℓ-1} = (W_ℓᵀ B_ℓ) ⊙ σ'(Z_{ℓ-1}). With S = G
this is ∇L0; with S = ∇C(Y_θ) it is the gradient of the true loss. On a kink σ'(0) = 0: one choice
of Clarke's many.
"""

import numpy as np

from saddlescope.theory.escape.localized import layers_of


def weights_gradient(weights, X, slope) -> list[np.ndarray]:
    """∇ of Tr[Sᵀ Y_θ], one matrix per layer; the slope S has the shape (outputs, points)."""
    before, after = layers_of(weights, X)
    gradient, back = [], np.asarray(slope, float)
    for k in reversed(range(len(weights))):
        gradient.append(back @ after[k].T)
        if k:
            back = (weights[k].T @ back) * (before[k - 1] > 0)
    return gradient[::-1]


def flatten(weights) -> np.ndarray:
    """θ as one vector."""
    return np.concatenate([np.ravel(w) for w in weights])


def unflatten(theta, like) -> list[np.ndarray]:
    """The matrices of a vector θ, in the shapes of `like`."""
    ends = np.cumsum([w.size for w in like])[:-1]
    return [part.reshape(w.shape) for part, w in zip(np.split(theta, ends), like, strict=True)]
