"""Plateau levels of a deep net, by the widths of its layers (Corollary 2; a prediction of ours).

Each plateau is said to embed the best net of narrower layers: `widths` lists them, a tuple a plateau. Which layer's
width grows at a drop decides the next level, so that levels tell which layer has recruited a unit. The best is that of
`tries` local minima, from random starts of deviation `size`; the first level is that of zero weights.
"""

from typing import final

import equinox as eqx

from saddlescope.errors import require
from saddlescope.nets import DeepUnits, LinearTransformer
from saddlescope.serialization.part import as_int
from saddlescope.theory.narrow_levels import levels_of
from saddlescope.theory.prediction import Prediction


def table(widths):
    return tuple(tuple(map(as_int, row)) for row in widths)


@final
class DeepLevels(Prediction):
    widths: tuple[tuple[int, ...], ...] = eqx.field(default=((1, 1), (2, 2)), static=True, converter=table)
    tries: int = eqx.field(default=20, static=True, converter=as_int)
    size: float = eqx.field(default=0.7, converter=float)

    def __check_init__(self):
        good = all(isinstance(n, int) and n > 0 for row in self.widths for n in row) and self.widths
        require(good, f"`widths` must list a row of positive whole numbers a plateau; got {self.widths}.")
        require(
            isinstance(self.tries, int) and self.tries > 0,
            f"`tries` must be a positive whole number; got {self.tries}.",
        )

    def __call__(self, setting):
        net, task = setting.net, setting.task
        require(
            isinstance(net, DeepUnits | LinearTransformer),
            "This theory speaks of deep nets: use DeepUnits or LinearTransformer, or NarrowLevels of two layers.",
        )
        nets = [net.of_widths(row, self.size) for row in self.widths]
        return levels_of(nets, net.statistics(setting.data()), task.inputs, task.outputs, self.tries)
