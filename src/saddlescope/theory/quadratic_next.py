"""The drops of a quadratic net, one from the draw, the next from the plateau before it."""

from typing import final

import numpy as np

from saddlescope.theory.plateau_weights import middle_weights
from saddlescope.theory.prediction import ConditionalPrediction
from saddlescope.theory.quadratic import QuadraticDrops, explosion_steps


@final
class QuadraticNextDrops(ConditionalPrediction):
    """The first two drops of a quadratic net, from t_∞ of Proposition 5; ours.

    The first comes at the least t_∞ of the units as drawn, in the correlation Σ_yZ. The second
    comes at the least t_∞ of the units other than the largest, from the weights on the first
    plateau between two drops, in the correlation of what is left there. Without such a plateau
    there is no second.

    `drop_step` holds both; `read_step` is the step of the weights that each starts from.

    t_∞ is when a unit alone would be infinite in a correlation that stays as it is. The loss
    falls fastest a little later, since it does not stay. Holds for quadratic neurons without bias
    and with one output, small initial weights, and plain full-batch descent.
    """

    def __call__(self, setting, run):
        first = float(QuadraticDrops()(setting)["first_drop_step"][1][0])
        drops, read = [first], [0]
        for step, params in middle_weights(run):
            drops.append(step + _steps_of_others(setting, params))
            read.append(step)
        return {"drop_step": ("drop", np.array(drops)), "read_step": ("drop", np.array(read))}


def _steps_of_others(setting, params):
    """Steps until another unit than the largest explodes, in the residual of all."""
    sizes = np.linalg.norm(np.concatenate([params["u"], params["v"]], axis=1), axis=1)
    return np.delete(explosion_steps(setting, params), np.argmax(sizes)).min()
