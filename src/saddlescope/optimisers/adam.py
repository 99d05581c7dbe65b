"""Adam with bias correction (Kingma and Ba 2015), as in optax."""

from typing import final

import equinox as eqx
import optax

from saddlescope.errors import require
from saddlescope.optimisers.optimiser import Optimiser, check_clip, check_lr, clipped
from saddlescope.serialization.part import maybe_float


@final
class Adam(Optimiser):
    lr: float = eqx.field(converter=float)
    b1: float = eqx.field(default=0.9, converter=float)
    b2: float = eqx.field(default=0.999, converter=float)
    eps: float = eqx.field(default=1e-8, converter=float)
    clip: float | None = eqx.field(default=None, converter=maybe_float)

    def __check_init__(self):
        check_lr(self.lr)
        check_clip(self.clip)
        require(
            0 <= self.b1 < 1 and 0 <= self.b2 < 1, f"`b1` and `b2` must lie in [0, 1); got {self.b1} and {self.b2}."
        )

    def transform(self):
        return clipped(self.clip, optax.scale_by_adam(self.b1, self.b2, self.eps))
