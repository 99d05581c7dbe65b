"""The whole schedule of drops of a linear net, from its initial draw (a prediction of ours).

Where Σ_yx and Σ_xx commute each mode is a logistic curve: a_k(n) rises from a0_k = Σ_i c_ki² to a∞ = s_k / λ_k and
passes a∞/2 at n = ln(a∞/a0_k - 1) / (2 ln(1 + 2 lr s_k)). The loss of a mode is λ_k (a∞ - a)², which falls fastest
at a∞/3, that is ln 2 / (2 ln(1 + 2 lr s_k)) steps earlier. The logarithm corrects the flow's rate for gradient descent.

Holds for small initial weights, full-batch descent at a constant rate, and commuting moments (white data, or a teacher
W* = I); elsewhere use the reduced-width model.
"""

from typing import final

import numpy as np

from saddlescope.optimisers import Constant, GradientDescent
from saddlescope.refusal import refuse_unless
from saddlescope.theory.linear_modes import linear_modes
from saddlescope.theory.prediction import Prediction


@final
class DropSchedule(Prediction):
    def __call__(self, setting):
        lr = plain_descent(setting)
        m = linear_modes(setting)
        turned = m.r.T @ np.asarray(m.moments.xx) @ m.r
        lam = np.diag(turned)
        refuse_unless(
            np.abs(turned - np.diag(lam)).max() < 1e-9 * lam.max(),
            "Σ_yx and Σ_xx do not commute here, so modes do not learn independently: use ReducedWidth instead.",
        )
        final_strength, start = m.s / lam, np.sum(m.c**2, axis=1)
        rate = 2 * np.log1p(2 * lr * m.s)
        half = np.log(final_strength / start - 1) / rate
        return {
            "half_strength_step": ("mode", half),
            "drop_step": ("drop", np.sort(half - np.log(2) / rate)),
        }


def plain_descent(setting):
    """The learning rate, where the run is full-batch descent without momentum at a constant rate."""
    o = setting.optimiser
    refuse_unless(
        isinstance(o, GradientDescent)
        and o.momentum is None
        and o.clip is None
        and setting.batch is None
        and isinstance(setting.schedule, Constant),
        "This theory is of full-batch gradient descent at a constant rate, without momentum or clipping.",
    )
    return o.lr
