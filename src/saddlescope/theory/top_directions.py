"""How far the rest lags behind when the top directions have grown."""

from typing import final

import equinox as eqx
import numpy as np

from saddlescope.errors import InvalidInput, require
from saddlescope.serialization.part import as_int
from saddlescope.tasks.task import Moments
from saddlescope.theory.linear_modes import is_linear
from saddlescope.theory.linear_system import LinearSystem
from saddlescope.theory.prediction import Prediction


def _values(given):
    return None if given is None else tuple(map(float, given))


@final
class TopDirections(Prediction):
    """The exponent of Theorem 4: how far the rest lags behind when the top directions have grown.

    When the part of the weights along the top r singular directions of Σ_yx has grown to order
    one, the rest is O(ε^{1 - s_{r+1}/s_1}). `exponent` is 1 - s_{r+1}/s_1.

    Holds for two-layer linear nets from small weights, and for their linear system (Eq. 32)
    itself.

    **Arguments:**

    - `top`: r, the number of equal top singular values.
    - `values`: the singular values of a linear system that no setting stands for; None for those
      of the setting.
    """

    top: int = eqx.field(default=1, static=True, converter=as_int)
    values: tuple[float, ...] | None = eqx.field(default=None, static=True, converter=_values)

    def __check_init__(self):
        good = isinstance(self.top, int) and self.top > 0
        require(good, f"`top` must be a positive whole number; got {self.top!r}.")

    def __call__(self, setting):
        sigma = _correlation(setting) if self.values is None else np.diag(self.values)
        s = np.linalg.svd(sigma, compute_uv=False)
        equal = bool(np.all(s[: self.top] > (1 - 1e-9) * s[0]))
        listed = ", ".join(f"{v:.3g}" for v in s)
        require(equal, f"The top {self.top} singular values must be equal; they are {listed}.")
        return {"exponent": ((), LinearSystem(sigma).exponent(self.top))}


def _correlation(setting):
    if setting is None or not is_linear(setting.net):
        raise InvalidInput("Theorem 4 is about two-layer linear nets: use linear_units, or give `values`.")
    return np.asarray(Moments.of(setting.data()).yx)
