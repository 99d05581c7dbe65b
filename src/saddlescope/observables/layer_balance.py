"""Balance between neighbouring layers of a deep net."""

from itertools import pairwise
from typing import final

import jax.numpy as jnp

from saddlescope.observables.layers import matrices
from saddlescope.observables.observable import Observable


@final
class WeakBalance(Observable):
    """What goes out of each hidden neuron minus what comes in, one variable per hidden layer:
    diag(W_{ℓ+1}ᵀW_{ℓ+1}) - diag(W_ℓW_ℓᵀ), as `weak_balance_1`, …

    Gradient flow conserves it in a bias-free ReLU net. Reference: escape paper, Section 5.
    """

    name = "weak_balance"

    def __call__(self, snapshot):
        pairs = enumerate(pairwise(matrices(snapshot)), 1)
        return {str(layer): jnp.sum(after**2, axis=0) - jnp.sum(before**2, axis=1) for layer, (before, after) in pairs}


@final
class StrongImbalance(Observable):
    """How far each hidden layer is from W_{ℓ+1}ᵀW_{ℓ+1} = W_ℓW_ℓᵀ, as `strong_imbalance`: the norm of
    the difference over the norm of W_ℓW_ℓᵀ.

    Gradient flow conserves the difference in a linear net, and where the ReLU of the layer is the
    identity. Reference: escape paper, Section 5.
    """

    name = "strong_imbalance"
    axes = ("hidden",)

    def __call__(self, snapshot):
        gaps = []
        for before, after in pairwise(matrices(snapshot)):
            inner = before @ before.T
            size = jnp.linalg.norm(inner)
            gaps.append(jnp.linalg.norm(after.T @ after - inner) / jnp.where(size > 0, size, 1.0))
        return jnp.stack(gaps)


@final
class LayerNorms(Observable):
    """The Frobenius norm of each weight matrix W_1, …, W_L, as `layer_norm`.

    At an escape direction all layers have the same norm.
    """

    name = "layer_norm"
    axes = ("layer",)

    def __call__(self, snapshot):
        return jnp.stack([jnp.linalg.norm(w) for w in matrices(snapshot)])
