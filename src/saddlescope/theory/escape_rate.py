"""How fast a plateau is left."""

from typing import final

import numpy as np

from saddlescope.errors import require
from saddlescope.nets import Units
from saddlescope.theory.drop_schedule import plain_descent
from saddlescope.theory.nearest import nearest_embedded
from saddlescope.theory.plateau_weights import middle_weights
from saddlescope.theory.prediction import ConditionalPrediction
from saddlescope.theory.properties import properties
from saddlescope.theory.silent_rate import silent_rate


@final
class EscapeRate(ConditionalPrediction):
    """The rate at which the first plateau between two drops is left, from its saddle alone; ours.

    The saddle is the embedded fixed point of one unit that is nearest to the weights on the
    plateau. With λ the lowest eigenvalue of the Hessian there, what lies off the manifold of one
    unit grows by 1 - lr λ per step: `rate` = ln(1 - lr λ). ReLU has no Hessian where units are
    silent. There the rate is that of the silent unit that grows fastest in the residual.

    `kind` is the saddle's kind, `lowest` is λ, `plateau_step` the step of the weights that were
    read. Without such a plateau the rate is not a number.

    Holds for two-layer nets of units under plain full-batch descent, where the plateau is long.
    For units of order two and more λ is zero: a degenerate saddle, which second order cannot
    time.
    """

    def __call__(self, setting, run):
        lr, net, task = plain_descent(setting), setting.net, setting.task
        require(isinstance(net, Units), "This theory is for two-layer nets of units: use Units.")
        if not (found := middle_weights(run)):
            return {"rate": ((), np.nan), "kind": ((), "no plateau"), "lowest": ((), np.nan)}
        (step, params), statistics = found[0], setting.statistics()
        near = nearest_embedded(net, params, statistics, 1, task.inputs, task.outputs)
        p = properties(net.unit, task.inputs, task.outputs)
        smooth = p.homogeneous or not p.positively
        pull = -near.saddle.lowest if smooth else silent_rate(net, near.point, statistics)  # type: ignore[arg-type]
        return {
            "rate": ((), float(np.log1p(lr * pull))),
            "kind": ((), near.saddle.kind if near.fixed else "not fixed"),
            "lowest": ((), near.saddle.lowest),
            "plateau_step": ((), step),
        }
