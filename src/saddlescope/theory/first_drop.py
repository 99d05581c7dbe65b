"""The first drop of a net of units, from its draw."""

from typing import final

import equinox as eqx
import jax
import numpy as np

from saddlescope.errors import require
from saddlescope.nets import Units
from saddlescope.serialization.part import as_int
from saddlescope.theory.drop_schedule import plain_descent
from saddlescope.theory.escape_time import grown_until
from saddlescope.theory.narrow_levels import NarrowLevels
from saddlescope.theory.prediction import Prediction
from saddlescope.theory.properties import properties

BUDGETS = 5  # a drop is looked for as many budgets ahead


@final
class FirstDrop(Prediction):
    """When a net of units first drops, and how far its second unit has come by then; ours.

    Near zero every unit of the draw grows alone, in the residual of the zero map, held still. The
    drop comes when what has grown would gain as much as the best net of one unit does.
    `first_drop_step` is its step, infinite if there is none within five budgets. `net_growth` is
    the factor by which the second largest unit has grown by then: near one if units take turns,
    as large as the first's if they grow together.

    Holds for units that are silent at zero, small initial weights, and plain full-batch descent.
    The residual does not stay while the first unit grows, so that the growth of a second unit
    close behind it is less.

    **Arguments:**

    - `tries`: the number of starts of the search for the best net of one unit.
    """

    tries: int = eqx.field(default=10, static=True, converter=as_int)

    def __check_init__(self):
        NarrowLevels(1, tries=self.tries)  # refuses a bad number of tries

    def __call__(self, setting):
        lr, net = plain_descent(setting), setting.net
        _refuse_unless_silent(setting)
        start = setting.initial_params()
        zero = jax.tree.map(np.zeros_like, start)
        before, after = NarrowLevels(1, tries=self.tries)(setting)["plateau_level"][1]
        require(bool(after < before), "No net of one unit is better than none: there is no drop.")
        data, fall, most = setting.statistics(), before - after, BUDGETS * setting.budget
        steps, grown = grown_until(net, start, zero, data, lr, fall, most)
        growth = _size(grown) / _size(start)
        second = int(np.argsort(_size(grown))[-2])
        return {"first_drop_step": ((), steps), "net_growth": ((), float(growth[second]))}


def _refuse_unless_silent(setting):
    net, task = setting.net, setting.task
    good = isinstance(net, Units) and net.units > 1
    require(
        good and properties(net.unit, task.inputs, task.outputs).silent,
        "This theory is for nets of two units or more that are silent at zero: use Units.",
    )


def _size(params):
    return np.linalg.norm(np.concatenate([params["u"], params["v"]], axis=1), axis=1)
