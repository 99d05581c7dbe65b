"""A chirp, whose frequency grows with |x|."""

from typing import final

import equinox as eqx
import numpy as np

from saddlescope.errors import require
from saddlescope.serialization.part import as_float, as_int
from saddlescope.tasks.curve import Curve


@final
class Chirp(Curve):
    """A chirp: y = cos(f₁ π x²) - 0.8 cos(f₂ π x²) for x in [-1, 1].

    It is slow in the middle and reaches the frequency max(f₁, f₂) at the ends, where the phase f π
    x² turns fastest. Reference: valleys paper, App. C.9.

    **Arguments:**

    - `f1`: The first frequency at x = ±1, in periods per unit of x; positive.
    - `f2`: The second frequency at x = ±1, in periods per unit of x; positive.
    - `samples`: The number of equally spaced points over [-1, 1].
    - `allow_aliasing`: Whether frequencies above the grid's limit (samples - 1) / 4 are accepted.
      The default refuses them, because the samples would show a slower target.
    """

    f1: float = eqx.field(converter=as_float)
    f2: float = eqx.field(converter=as_float)
    samples: int = eqx.field(static=True, converter=as_int)
    allow_aliasing: bool = eqx.field(default=False, static=True)

    def __check_init__(self):
        require(
            0 < self.f1 < np.inf and 0 < self.f2 < np.inf,
            f"A chirp's f1 and f2 must be positive; got {self.f1:g} and {self.f2:g}.",
        )

    def target(self, x):
        return np.cos(self.f1 * np.pi * x**2) - 0.8 * np.cos(self.f2 * np.pi * x**2)

    @property
    def highest(self):
        return max(self.f1, self.f2)  # the phase f π x² turns at f |x| periods per unit
