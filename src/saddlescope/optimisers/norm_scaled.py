"""Gradient descent at a rate that depends on the norm of the weights."""

from typing import final

import equinox as eqx
import jax

from saddlescope.errors import require
from saddlescope.optimisers.optimiser import Optimiser, check_clip, check_lr, clipped
from saddlescope.serialization.part import as_float, maybe_float


@final
class NormScaledDescent(Optimiser):
    """Gradient descent whose rate depends on the weights: θ ← θ - lr ‖θ‖^(-power) g.

    ‖θ‖ is the norm of all trained parameters. With power L - 2, a net of depth L moves over the
    sphere of directions at one speed, however small its weights are. Reference: escape paper,
    Section 2.1; its Fig. 1 and 3 use power 4.

    **Arguments:**

    - `lr`: The learning rate at ‖θ‖ = 1; positive.
    - `power`: The power of ‖θ‖ that the rate is divided by; finite.
    - `clip`: The largest norm of the whole gradient, before the scaling. The default, None, means
      no clipping.
    """

    lr: float = eqx.field(converter=as_float)
    power: float = eqx.field(converter=as_float)
    clip: float | None = eqx.field(default=None, converter=maybe_float)

    def __check_init__(self):
        check_lr(self.lr)
        check_clip(self.clip)
        require(abs(self.power) < float("inf"), f"`power` must be finite; got {self.power}.")

    def transform(self):
        import optax

        def scale(gradient, params):
            factor = optax.tree.norm(params) ** -self.power
            return jax.tree.map(lambda g: factor * g, gradient)

        return clipped(self.clip, optax.stateless(scale))
