"""How fast the first two directions of a linear net grow: two theories of the second."""

from typing import final

import equinox as eqx
import numpy as np

from saddlescope.errors import require
from saddlescope.tasks.task import Moments
from saddlescope.theory.linear_modes import is_linear
from saddlescope.theory.prediction import Predicted, Prediction


@final
class GrowthRates(Prediction):
    """`rate_1` and `rate_2`: the first two singular values s₁, s₂ of Σ_yx (simplicity paper, Eq.
    32–35).

    From small weights the k-th direction grows by the factor 1 + 2 lr s_k per step. For the second
    this is so as long as the first is still along the singular pair (q₁, r₁), not yet along the
    best fit of rank one.

    Holds for two-layer linear nets with small initial weights and two modes or more.
    """

    def __call__(self, setting):
        s = np.linalg.svd(_correlation(setting)[1], compute_uv=False)
        return {"rate_1": ((), s[0]), "rate_2": ((), s[1])}


def _cuts(given):
    return tuple(float(v) for v in given)


@final
class ProjectedRate(Prediction):
    """`projected_rate_2`: ‖(I − e₁e₁ᵀ) Σ_yx‖ (simplicity paper, B.1).

    e₁ is the first eigenvector of Σ_yx Σ_xx⁺ Σ_yxᵀ. The growth rate of the second direction once
    the first has come to the best fit of rank one. It is never below s₂(Σ_yx), and equal to it
    where e₁ is the first left singular vector of Σ_yx.

    Holds for two-layer linear nets whose first plateau lasts until that fit is reached.

    **Arguments:**

    - `cuts`: cut-offs of the pseudo-inverse, over the largest singular value. With them
      `projected_rate_2_by_cut` is given too; without, the usual cut-off alone.
    """

    cuts: tuple[float, ...] = eqx.field(default=(), converter=_cuts)

    def __check_init__(self):
        good = all(0 < cut < 1 for cut in self.cuts)
        require(good, f"`cuts` must lie between 0 and 1; got {self.cuts}.")

    def __call__(self, setting):
        moments, _ = _correlation(setting)
        found: Predicted = {"projected_rate_2": ((), np.asarray(_projected(moments)))}
        if self.cuts:
            by_cut = np.array([_projected(moments, cut) for cut in self.cuts])
            found["projected_rate_2_by_cut"] = "cut", by_cut
        return found


def first_directions(moments: Moments) -> np.ndarray:
    """q₁ of Σ_yx, along which a net grows from zero, and e₁ of the best fit of rank one, as
    columns.
    """
    return np.stack([np.linalg.svd(np.asarray(moments.yx))[0][:, 0], _top(moments)], axis=1)


def _correlation(setting):
    require(is_linear(setting.net), "This theory is for two-layer linear nets: use linear_units.")
    moments = Moments.of(setting.data())
    yx = np.asarray(moments.yx)
    require(min(yx.shape) > 1, "A second direction needs two inputs and two outputs or more.")
    return moments, yx


def _projected(moments, cut=None):
    yx, e = np.asarray(moments.yx), _top(moments, cut)
    return float(np.linalg.norm(yx - np.outer(e, e) @ yx, 2))


def _top(moments, cut=None):
    """e₁."""
    yx, xx = np.asarray(moments.yx), np.asarray(moments.xx)
    W = moments.optimum if cut is None else yx @ np.linalg.pinv(xx, rcond=cut, hermitian=True)
    return np.linalg.eigh(np.asarray(W) @ yx.T)[1][:, -1]
