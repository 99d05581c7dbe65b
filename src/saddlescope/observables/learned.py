"""How much of each part of the task is learned: 0 at the start, 1 when done."""

from typing import final

import jax.numpy as jnp

from saddlescope.errors import InvalidInput
from saddlescope.observables.observable import Observable
from saddlescope.tasks.task import Moments


@final
class LearnedModes(Observable):
    """How much of each mode of the task is learned, as `learned_mode`. For two-layer linear nets.

    A mode is a singular pair (q_k, r_k) of ⟨y xᵀ⟩. Its share is q_kᵀ W r_k / q_kᵀ W* r_k, with W
    the net's map and W* the optimum. The order is that of the singular values, largest first.
    """

    name = "learned_mode"
    axes = ("mode",)

    def __call__(self, snapshot):
        moments = snapshot.statistics
        if not isinstance(moments, Moments):
            moments = Moments.of(moments)
        q, _, r = jnp.linalg.svd(moments.yx, full_matrices=False)
        W = snapshot.params["v"].T @ snapshot.params["u"]
        return jnp.einsum("ok,oi,ki->k", q, W, r) / jnp.einsum("ok,oi,ki->k", q, moments.optimum, r)


@final
class LearnedSamples(Observable):
    """How much of each sample's target is learned, as `learned_sample`: f(x_k) · y_k / |y_k|².

    The task must have samples; a population has none.
    """

    name = "learned_sample"
    axes = ("sample",)

    def __call__(self, snapshot):
        data = snapshot.data
        if isinstance(data, Moments):
            raise InvalidInput("LearnedSamples reads samples, but the task is a population; give it `samples`.")
        x, y = data.x, data.y
        return jnp.sum(snapshot.net(snapshot.params, x) * y, axis=1) / jnp.sum(y**2, axis=1)
