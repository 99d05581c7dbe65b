"""Whether directions or units take turns, by the order of φ."""

from typing import final

from saddlescope.errors import require
from saddlescope.nets import DeepUnits, LinearHead, LinearTransformer, Units
from saddlescope.theory.prediction import Prediction
from saddlescope.theory.properties import properties


@final
class UnitOrder(Prediction):
    """The order of φ at zero, which decides what grows first (simplicity paper, Section 5 and
    App. C).

    `order` is that of the first term of φ(x; u) in u that does not vanish. With order one all
    units grow along one direction after another; with order two and more one unit grows after
    another. Either way there is one on the first plateau between two drops: `directions` is 1
    (for deep nets the paper's conjecture). With order zero the theory says nothing of directions.

    Holds for nets whose first layer is made of units φ: `Units`, `DeepUnits`, and
    `LinearTransformer`, whose heads are such units. Weights must start small.
    """

    def __call__(self, setting):
        order = properties(_unit(setting.net), setting.task.inputs).order
        return {"order": ((), order)} | ({"directions": ((), 1.0)} if order else {})


def _unit(net):
    if isinstance(net, LinearTransformer):
        return LinearHead(net.dimension)
    require(
        isinstance(net, Units | DeepUnits),
        "This theory is for nets whose first layer is made of units: use Units or DeepUnits.",
    )
    return net.unit
