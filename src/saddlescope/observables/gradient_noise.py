"""Gradient noise: how much the gradients of single samples scatter about their mean."""

from typing import final

import equinox as eqx
import jax
import jax.numpy as jnp

from saddlescope.errors import InvalidInput, require
from saddlescope.observables.observable import Observable
from saddlescope.serialization.part import as_int
from saddlescope.tasks.task import Moments, Samples


@final
class GradientNoise(Observable):
    """How much the gradients g_i of single samples scatter about their mean g, over the trained parameters.

    `gradient_noise_trace` is E|g_i − g|², `gradient_noise_signal` is |g|². A batch of B samples scatters by
    about trace / B; while that exceeds the signal, steps are mostly noise.

    **Arguments:**

    - `together`: how many samples are differentiated at once. It bounds memory, not the result.
    """

    together: int = eqx.field(default=64, static=True, converter=as_int)

    name = "gradient_noise"

    def __check_init__(self):
        require(
            type(self.together) is int and self.together > 0,
            f"`together` must be a positive whole number; got {self.together!r}.",
        )

    def __call__(self, snapshot):
        import optax

        params, data = snapshot.params, snapshot.data
        if isinstance(data, Moments):
            raise InvalidInput("Gradient noise is between samples, but the task is a population; give it `samples`.")
        mean = snapshot.gradient_at(params, data)

        def scatter(sample):
            own = snapshot.gradient_at(params, Samples(*(v[None] for v in sample)))
            return optax.tree.norm(jax.tree.map(jnp.subtract, own, mean)) ** 2

        trace = jnp.mean(jax.lax.map(scatter, (data.x, data.y), batch_size=self.together))
        return {"trace": trace, "signal": optax.tree.norm(mean) ** 2}
