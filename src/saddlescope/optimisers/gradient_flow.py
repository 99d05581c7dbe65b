"""Gradient flow."""

from typing import final

import equinox as eqx

from saddlescope.errors import require
from saddlescope.optimisers.optimiser import Optimiser, check_lr
from saddlescope.serialization.part import as_float


@final
class GradientFlow(Optimiser):
    """Gradient flow dθ/dt = -∇L, solved adaptively.

    One step lasts a time lr, so that step n of the flow can be compared with step n of descent.
    Descent tends to the flow as lr → 0. The flow is that of the full batch.

    **Arguments:**

    - `lr`: The time that one step lasts; positive.
    - `rtol`: The relative tolerance of the solver. The default leaves errors far below those of
      descent.
    - `atol`: The absolute tolerance of the solver. The default is small against weights of 1e-6,
      where saddle-to-saddle runs start.
    """

    lr: float = eqx.field(converter=as_float)
    rtol: float = eqx.field(default=1e-9, converter=as_float)
    atol: float = eqx.field(default=1e-14, converter=as_float)

    def __check_init__(self):
        check_lr(self.lr)
        require(
            self.rtol > 0 and self.atol > 0,
            f"Tolerances must be positive; got rtol={self.rtol}, atol={self.atol}.",
        )

    def transform(self):
        import optax

        return optax.identity()
