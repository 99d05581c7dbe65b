"""Plateau levels of deep nets."""

from typing import final

import equinox as eqx

from saddlescope.errors import require
from saddlescope.nets import DeepUnits, LinearTransformer
from saddlescope.serialization.part import as_float, as_int
from saddlescope.theory.narrow_levels import levels_of
from saddlescope.theory.prediction import Prediction


def _table(widths):
    return tuple(tuple(map(as_int, row)) for row in widths)


@final
class DeepLevels(Prediction):
    """Plateau levels of a deep net, from the widths of its layers; our own prediction, after
    Corollary 2.

    The prediction is that each plateau embeds the best net of narrower layers. Which layer's width grows at a
    drop decides the next level, so the levels tell which layer has recruited a unit. The first
    level is that of zero weights.

    Each level is the best of several local minima, from random starts: the least loss is at most that. Of nets with
    ReLUs a start in twenty or fewer may lead to the best one. `times_found` says how many did: a level found once may
    not be the least.

    Gives `plateau_level` and `times_found`. Holds where a plateau embeds the best narrow net, for `DeepUnits` and
    `LinearTransformer`. Reference: simplicity paper, Corollary 2 and Fig. 5.

    **Arguments:**

    - `widths`: One row per plateau: the width of each layer. The default is one unit per layer,
      then two.
    - `tries`: How many random starts the search for the best net has; more can only lower a level. For ReLUs give
      100 or more.
    - `size`: The standard deviation of the weights at these starts. The default 0.7 is of the order
      of trained weights.
    """

    widths: tuple[tuple[int, ...], ...] = eqx.field(default=((1, 1), (2, 2)), static=True, converter=_table)
    tries: int = eqx.field(default=20, static=True, converter=as_int)
    size: float = eqx.field(default=0.7, converter=as_float)

    def __check_init__(self):
        good = all(isinstance(n, int) and n > 0 for row in self.widths for n in row) and self.widths
        require(
            good,
            f"`widths` must list one row of positive whole numbers per plateau; got {self.widths}.",
        )
        require(
            isinstance(self.tries, int) and self.tries > 0,
            f"`tries` must be a positive whole number; got {self.tries}.",
        )

    def __call__(self, setting):
        net, task = setting.net, setting.task
        require(
            isinstance(net, DeepUnits | LinearTransformer),
            "This theory is for deep nets: use DeepUnits or LinearTransformer, or NarrowLevels for two layers.",
        )
        nets = [net.of_widths(row, self.size) for row in self.widths]
        return levels_of(nets, net.statistics(setting.data()), task.inputs, task.outputs, self.tries)
