"""Adam."""

from typing import final

import equinox as eqx

from saddlescope.errors import require
from saddlescope.optimisers.optimiser import Optimiser, check_clip, check_lr, clipped
from saddlescope.serialization.part import as_float, maybe_float


@final
class Adam(Optimiser):
    """Adam with bias correction (Kingma and Ba 2015), as in optax.

    With moments m ← b1 m + (1 - b1) g and s ← b2 s + (1 - b2) g² the step is θ ← θ - lr m̂ / (√ŝ +
    eps).

    **Arguments:**

    - `lr`: The learning rate; positive.
    - `b1`: The decay of the first moment, in [0, 1).
    - `b2`: The decay of the second moment, in [0, 1).
    - `eps`: Added to the root of the second moment. The defaults of b1, b2 and eps are those of the
      original.
    - `clip`: The largest norm of the whole gradient, which is scaled down to it. The default, None,
      means no clipping.
    """

    lr: float = eqx.field(converter=as_float)
    b1: float = eqx.field(default=0.9, converter=as_float)
    b2: float = eqx.field(default=0.999, converter=as_float)
    eps: float = eqx.field(default=1e-8, converter=as_float)
    clip: float | None = eqx.field(default=None, converter=maybe_float)

    def __check_init__(self):
        check_lr(self.lr)
        check_clip(self.clip)
        require(
            0 <= self.b1 < 1 and 0 <= self.b2 < 1,
            f"`b1` and `b2` must lie in [0, 1); got {self.b1} and {self.b2}.",
        )

    def transform(self):
        import optax

        return clipped(self.clip, optax.scale_by_adam(self.b1, self.b2, self.eps))
