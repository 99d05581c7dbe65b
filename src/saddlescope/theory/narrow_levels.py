"""Plateau levels of any two-layer net of units: the least loss of a net of h units, h = 0, 1, … (Theorem 1, Section 5).

The level of width h, up to the net's own, is the best of `tries` local minima, from random starts of deviation `size`.
Holds where a plateau is a visited saddle that embeds the *best* net of h units; one that embeds another local minimum
lies higher.
"""

from typing import final

import equinox as eqx
import jax.numpy as jnp
import numpy as np

from saddlescope.identity import whole
from saddlescope.nets import Units
from saddlescope.refusal import refuse_unless
from saddlescope.theory.prediction import Prediction
from saddlescope.theory.relax import relax


@final
class NarrowLevels(Prediction):
    widths: int = eqx.field(default=2, static=True, converter=whole)
    tries: int = eqx.field(default=10, static=True, converter=whole)
    size: float = eqx.field(default=0.7, converter=float)

    def __check_init__(self):
        for name, n in (("widths", self.widths), ("tries", self.tries)):
            refuse_unless(isinstance(n, int) and n > 0, f"`{name}` must be a positive whole number; got {n}.")

    def __call__(self, setting):
        refuse_unless(isinstance(setting.net, Units), "This theory speaks of two-layer nets of units: use Units.")
        statistics, most = setting.net.statistics(setting.data()), min(self.widths, setting.net.units)
        found = [lowest(setting, statistics, h, self.tries, self.size) for h in range(most + 1)]
        return {"plateau_level": ("stage", np.minimum.accumulate(found))}


def narrow(net, units, scale=1.0):
    return Units(units, net.unit, scale)


def lowest(setting, statistics, units, tries, size):
    """The least loss of a net of this many units; of none, the loss of the zero map."""
    task, net = setting.task, narrow(setting.net, max(1, units), size)
    if units == 0:
        zero = net.init(np.random.default_rng(0), task.inputs, task.outputs)
        return float(net.loss({name: 0 * jnp.asarray(w) for name, w in zero.items()}, statistics))
    rng = np.random.default_rng([setting.init_seed, units])
    return min(relax(net, net.init(rng, task.inputs, task.outputs), statistics)[1] for _ in range(tries))
