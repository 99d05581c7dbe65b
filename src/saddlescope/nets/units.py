"""A two-layer net of units: f(x) = Σ_i σ(u_i · x) v_i, with N(0, scale²) initial weights.

Simplicity paper, Eq. 1 and App. I. With `bias` each unit also sees a constant 1, as the last entry of u.
"""

import math
from typing import final

import equinox as eqx
import jax.numpy as jnp

from saddlescope.identity import whole
from saddlescope.nets.activation import Activation
from saddlescope.nets.net import Net
from saddlescope.refusal import refuse_unless, refuse_unless_kind


def check_units(units, scale):
    refuse_unless(
        isinstance(units, int) and units > 0, f"`units`, the width, must be a positive whole number; got {units}."
    )
    refuse_unless(0 < scale < math.inf, f"`scale`, the deviation of initial weights, must be positive; got {scale}.")


def draw_units(rng, units, scale, inputs, outputs):
    """u then v, so that a draw of the same seed agrees between nets of units."""
    u = scale * rng.standard_normal((units, inputs))
    return {"u": u, "v": scale * rng.standard_normal((units, outputs))}


@final
class Units(Net):
    units: int = eqx.field(static=True, converter=whole)
    activation: Activation
    scale: float = eqx.field(converter=float)
    bias: bool = eqx.field(default=False, static=True)

    def __check_init__(self):
        check_units(self.units, self.scale)
        refuse_unless_kind(self.activation, Activation, "`activation` must be one of saddlescope.nets, such as ReLU()")
        refuse_unless(isinstance(self.bias, bool), f"`bias` must be True or False; got {self.bias!r}.")

    def init(self, rng, inputs, outputs):
        return draw_units(rng, self.units, self.scale, inputs + self.bias, outputs)

    def __call__(self, params, x):
        if self.bias:
            x = jnp.concatenate([x, jnp.ones_like(x[:, :1])], axis=1)
        return self.activation(x @ params["u"].T) @ params["v"]
