"""When each drop of a linear net comes."""

from typing import final

import numpy as np

from saddlescope.errors import require
from saddlescope.losses import SquaredError
from saddlescope.optimisers import Constant, GradientDescent
from saddlescope.setting import Setting
from saddlescope.theory.linear_modes import linear_modes
from saddlescope.theory.prediction import Prediction

DEPENDENT = (
    "The singular pairs of Σ_yx are not eigenvectors of Σ_xx (they do not commute), so modes do not learn "
    "independently: use ReducedWidth instead."
)


TIED = "Two singular values of Σ_yx tie, so that their modes grow together, in no order: use ReducedWidth instead."


GAINED = 0.75  # steps that descent gains on the flow, per unit of ln 1/(1 - x)
LATER = 0.25  # steps from a third to a third plus η/9 of the final strength, where descent falls fastest


@final
class DropSchedule(Prediction):
    """When a two-layer linear net learns each mode, from its initial draw; our own prediction.

    Where Σ_yx and Σ_xx commute, each mode is a logistic curve. Its strength a_k(n) rises from a0_k
    to a∞ = s_k / λ_k and passes a∞/2 at step n = ln(a∞/a0_k - 1) / (2 ln(1 + 2 lr s_k)) - ¾ ln 2. The
    logarithm corrects the flow's rate for gradient descent while the mode is small, the constant while
    it is not. With η = 2 lr s and x = a/a∞ a step is x → x (1 + η (1 - x))², so that the logarithm of
    x/(1 - x) gains 2 ln(1 + η) + 3 η² x + O(η³): by then x has gained ¾ ln 1/(1 - x) steps. What is left is of
    second order in the rate. The loss of a mode is λ_k (a∞ - a)². It falls fastest at a∞ (1/3 + η/9).

    a0_k is the square of the part of c_k (see `linear_modes`) that is orthogonal to c_1 … c_{k-1}:
    what lies along an earlier mode is lost to it. With many units this is nearly Σ_i c_ki². With as
    few units as modes it matters by a quarter.

    Gives `half_strength_step` and `drop_step`. Holds for small initial weights, separated modes,
    full-batch descent at a constant rate, and commuting moments: white data, or a teacher W* = I.
    Elsewhere use `ReducedWidth`.
    """

    def __call__(self, setting):
        lr = plain_descent(setting)
        m = linear_modes(setting)
        require(np.all(m.s[:-1] - m.s[1:] > 1e-9 * m.s[0]), TIED)
        turned = np.asarray(m.moments.xx) @ m.r
        lam = np.sum(m.r * turned, axis=0)
        require(np.abs(turned - m.r * lam).max() < 1e-9 * lam.max(), DEPENDENT)
        require(
            2 * lr * m.s[0] < 1,
            f"Descent is unstable at lr = {lr:g} for a mode of {m.s[0]:.3g}: use lr below 1/(2 s).",
        )
        final_strength, start = m.s / lam, np.diag(np.linalg.qr(m.c.T, mode="r")) ** 2
        require(
            np.all(start < final_strength / 2),
            "The initial weights are not small: a mode starts beyond half of its strength; use a smaller `scale`.",
        )
        rate = 2 * np.log1p(2 * lr * m.s)
        odds = np.log(final_strength / start - 1) / rate  # steps at the rate of a small mode, to half its strength
        return {
            "half_strength_step": ("mode", odds - GAINED * np.log(2)),
            "drop_step": ("drop", np.sort(odds - np.log(2) / rate - GAINED * np.log(1.5) + LATER)),
        }


def plain_descent(setting: Setting) -> float:
    """The learning rate of full-batch descent at a constant rate; any other training is refused."""
    o = setting.optimiser
    require(
        isinstance(o, GradientDescent)
        and o.momentum is None
        and o.clip is None
        and setting.batch is None
        and isinstance(setting.schedule, Constant)
        and isinstance(setting.loss, SquaredError),
        "This theory is for the squared error under full-batch gradient descent at a constant learning rate, "
        "without momentum or clipping.",
    )
    return o.lr
