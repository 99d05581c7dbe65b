"""Growth of v̇ = v^p."""

from typing import final

import equinox as eqx
import numpy as np

from saddlescope.errors import require
from saddlescope.serialization.part import as_int
from saddlescope.theory.prediction import Prediction


@final
class PowerGrowth(Prediction):
    """Units that grow by v̇ = v^p, each alone: how large they are when the largest reaches one.

    v(t) = (v(0)^{1-p} - (p - 1) t)^{-1/(p-1)}, and v(0) e^t for p = 1 (simplicity paper, Eq. 15
    for p = 2). `time` is when the largest is one, `size` the sizes of all units then, in the
    order given.

    It needs no setting: it is of the equation itself, for positive starts below one.

    **Arguments:**

    - `degree`: p.
    - `start`: v(0) of every unit.
    """

    degree: int = eqx.field(static=True, converter=as_int)
    start: tuple[float, ...] = eqx.field(static=True, converter=lambda v: tuple(map(float, v)))

    def __check_init__(self):
        require(
            isinstance(self.degree, int) and self.degree > 0,
            f"`degree` must be a positive whole number; got {self.degree!r}.",
        )
        require(
            len(self.start) > 0 and all(0 < v < 1 for v in self.start),
            f"`start` must hold numbers between 0 and 1; got {self.start}.",
        )

    def __call__(self, setting):
        p, v = self.degree, np.array(self.start)
        first = v.max()
        if p == 1:
            time = -np.log(first)
            return {"time": ((), time), "size": ("unit", v * np.exp(time))}
        time = (first ** (1 - p) - 1) / (p - 1)
        size = (v ** (1 - p) - (p - 1) * time) ** (-1 / (p - 1))
        return {"time": ((), time), "size": ("unit", size)}
