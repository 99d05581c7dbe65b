"""The singular values of each weight matrix, one variable a layer: `singular_values_u`, `singular_values_v`."""

from typing import final

import jax.numpy as jnp

from saddlescope.observables.observable import Observable


@final
class SingularValues(Observable):
    name = "singular_values"

    def __call__(self, snapshot):
        return {k: jnp.linalg.svd(w, compute_uv=False) for k, w in snapshot.params.items() if w.ndim == 2}
