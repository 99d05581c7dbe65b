"""Gradient descent, with or without momentum."""

from typing import final

import equinox as eqx

from saddlescope.errors import require
from saddlescope.optimisers.optimiser import Optimiser, check_clip, check_lr, clipped
from saddlescope.serialization.part import as_float, maybe_float


@final
class GradientDescent(Optimiser):
    """Gradient descent: v ← momentum · v + g, θ ← θ - lr · v.

    It uses the full batch or minibatches, as the setting says.

    **Arguments:**

    - `lr`: The learning rate; positive.
    - `momentum`: The share of the last step that is kept, in [0, 1). The default, None, keeps no
      state.
    - `clip`: The largest norm of the whole gradient, which is scaled down to it. The default, None,
      means no clipping.
    """

    lr: float = eqx.field(converter=as_float)
    momentum: float | None = eqx.field(default=None, converter=maybe_float)
    clip: float | None = eqx.field(default=None, converter=maybe_float)

    def __check_init__(self):
        check_lr(self.lr)
        check_clip(self.clip)
        require(
            self.momentum is None or 0 <= self.momentum < 1,
            f"`momentum` must lie in [0, 1) or be None; got {self.momentum}.",
        )

    def transform(self):
        import optax

        # None is structure (no state is kept); a number is with_traced_floats.
        return clipped(self.clip, *(() if self.momentum is None else (optax.trace(self.momentum),)))
