"""A two-layer linear net: f(x) = Σ_i v_i u_iᵀ x = W x, with N(0, scale²) initial weights.

It sees the data only through second moments and trains on those. Simplicity paper, Eq. 8 and 65.
"""

from typing import final

import equinox as eqx
import jax.numpy as jnp

from saddlescope.identity import whole
from saddlescope.nets.net import Net
from saddlescope.nets.units import check_units, draw_units
from saddlescope.tasks.task import Moments


@final
class LinearUnits(Net):
    units: int = eqx.field(static=True, converter=whole)
    scale: float = eqx.field(converter=float)

    def __check_init__(self):
        check_units(self.units, self.scale)

    def init(self, rng, inputs, outputs):
        return draw_units(rng, self.units, self.scale, inputs, outputs)

    def __call__(self, params, x):
        return (x @ params["u"].T) @ params["v"]

    @property
    def reduces(self):
        return True

    def statistics(self, data):
        return Moments.of(data)

    def loss(self, params, statistics):
        if not isinstance(statistics, Moments):
            return super().loss(params, statistics)
        error = params["v"].T @ params["u"] - statistics.optimum
        return statistics.floor + jnp.sum((error @ statistics.xx) * error)
