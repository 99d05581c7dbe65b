"""A start times a factor."""

import math
from typing import final

import equinox as eqx
import jax

from saddlescope.errors import require
from saddlescope.initials.initial import Initial
from saddlescope.serialization.part import as_float


@final
class Scaled(Initial):
    """Start from `factor` times the trained weights of another start; frozen ones stay as they are.

    **Arguments:**

    - `factor`: what the weights are multiplied with.
    - `of`: the other start; None for the net's own draw.
    """

    factor: float = eqx.field(converter=as_float)
    of: Initial | None = None

    def __check_init__(self):
        require(math.isfinite(self.factor), f"`factor` must be a finite number; got {self.factor}.")

    @property
    def first_epoch(self):
        return self.of.first_epoch if self.of else 0

    def params(self, setting):
        start = self.of.params(setting) if self.of else setting.drawn_params()
        net = setting.net
        return net.merged(start, jax.tree.map(lambda w: self.factor * w, net.trained(start)))
