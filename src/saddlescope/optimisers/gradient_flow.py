"""Gradient flow dθ/dt = -∇L, solved adaptively. One step lasts a time lr, so that step n of the flow stands beside
step n of descent. Full batch only; descent tends to it as lr → 0.
"""

from typing import final

import equinox as eqx
import optax

from saddlescope.errors import require
from saddlescope.optimisers.optimiser import Optimiser, check_lr


@final
class GradientFlow(Optimiser):
    lr: float = eqx.field(converter=float)
    rtol: float = eqx.field(default=1e-9, converter=float)
    atol: float = eqx.field(default=1e-14, converter=float)

    def __check_init__(self):
        check_lr(self.lr)
        require(
            self.rtol > 0 and self.atol > 0, f"Tolerances must be positive; got rtol={self.rtol}, atol={self.atol}."
        )

    def transform(self):
        return optax.identity()
