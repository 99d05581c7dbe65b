"""The drops of a linear net in the mean over draws."""

from typing import final

import numpy as np
import scipy  # its parts are imported when first used

from saddlescope.errors import require
from saddlescope.theory.drop_schedule import DropSchedule, plain_descent
from saddlescope.theory.linear_modes import linear_modes
from saddlescope.theory.prediction import Prediction


@final
class TypicalDrops(Prediction):
    """When the drops of a linear net come in the mean over draws, by width H and scale ε; ours.

    Mode k grows from a0_k, a sum of squares. In H - k + 1 directions of the units' space no
    earlier mode grows, so that a0_k is ε²/2 times a χ² of so many degrees. The mean of its
    logarithm is ln ε² + ψ((H - k + 1) / 2). `typical_drop_step` puts that into the closed form of
    `DropSchedule`. `typical_drop_step_all_units` leaves out what earlier modes take: for every
    mode a0_k is ε² H / 2.

    Holds where `DropSchedule` does, for initial weights that are Gaussian and of one scale, with
    `rank=0`.
    """

    def __call__(self, setting):
        DropSchedule()(setting)  # refuses what lies outside its domain
        net, m = setting.net, linear_modes(setting)
        require(
            net.rank == 0 and setting.initial is None,
            "The mean is known for Gaussian weights of one scale: leave out `rank` and `initial`.",
        )
        rate = 2 * np.log1p(2 * plain_descent(setting) * m.s)
        strength = m.s / np.sum(m.r * (np.asarray(m.moments.xx) @ m.r), axis=0)
        left, draw = net.units - np.arange(len(m.s)), 2 * np.log(net.scale)
        rise = np.log(strength / 2) - draw  # half at ln a∞/a0; the loss falls fastest ln 2 earlier
        of_left, of_all = rise - scipy.special.digamma(left / 2), rise - np.log(net.units / 2)
        return {
            "typical_drop_step": ("drop", np.sort(of_left / rate)),
            "typical_drop_step_all_units": ("drop", np.sort(of_all / rate)),
        }
