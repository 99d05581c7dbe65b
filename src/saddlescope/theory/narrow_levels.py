"""Plateau levels of two-layer nets of any units."""

from typing import final

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from saddlescope.errors import require
from saddlescope.losses import squared_error
from saddlescope.nets import Units
from saddlescope.numerics import reproducible
from saddlescope.serialization.part import array_hash, as_float, as_int, content_hash
from saddlescope.theory.prediction import Prediction
from saddlescope.theory.relax import relax


@final
class NarrowLevels(Prediction):
    """Plateau levels of any two-layer net of units: the least loss of a net of h units, h = 0, 1, …

    The level of width h is the best of several local minima, from random starts: the least loss is
    at most that. It goes up to the net's own width at most.

    Gives `plateau_level`, and `times_found`, how many of the starts ended there. A level found once
    may not be the least: give more `tries`. Zero weights need no search and count as found by all.
    Holds where a plateau is a visited saddle that embeds the *best* net of h units. One that embeds
    another local minimum lies higher. Reference: simplicity paper, Theorem 1 and Section 5.

    **Arguments:**

    - `widths`: The largest h. The default 2 is the number of drops in most of the paper's figures.
    - `tries`: How many random starts the search for the least loss has; more can only lower a level.
    - `size`: The standard deviation of the weights at these starts. The default 0.7 is of the order
      of trained weights.
    """

    widths: int = eqx.field(default=2, static=True, converter=as_int)
    tries: int = eqx.field(default=10, static=True, converter=as_int)
    size: float = eqx.field(default=0.7, converter=as_float)

    def __check_init__(self):
        for name, n in (("widths", self.widths), ("tries", self.tries)):
            require(isinstance(n, int) and n > 0, f"`{name}` must be a positive whole number; got {n}.")

    def __call__(self, setting):
        require(
            isinstance(setting.net, Units),
            "This theory is for two-layer nets of units: use Units.",
        )
        statistics, shape = (
            setting.net.statistics(setting.data()),
            (setting.task.inputs, setting.task.outputs),
        )
        nets = [narrow(setting.net, h + 1, self.size) for h in range(min(self.widths, setting.net.units))]
        return levels_of(nets, statistics, *shape, self.tries)


def narrow(net, units, scale=1.0):
    """The same kind of net with so many units."""
    return Units(units, net.unit, scale)


@reproducible()
def levels_of(nets, statistics, inputs, outputs, tries):
    """The loss of zero weights, then the least loss of each net."""
    zero = nets[0].init(np.random.default_rng(0), inputs, outputs)
    first = float(squared_error(nets[0], {name: 0 * jnp.asarray(w) for name, w in zero.items()}, statistics))
    rest = [_lowest(net, statistics, inputs, outputs, tries) for net in nets]
    levels = np.array([first, *(level for level, _ in rest)])
    least = np.minimum.accumulate(levels)
    found = np.where(levels > least, 0, [tries, *(times for _, times in rest)])  # 0: a narrower net does better
    return {"plateau_level": ("stage", least), "times_found": ("stage", found)}


KNOWN: dict[str, tuple[float, int]] = {}  # runs on one population, or on the same points, share their levels
SAME = 1e-6  # of the largest level found: levels that differ by less are one


def _lowest(net, statistics, inputs, outputs, tries):
    """The least loss that a net relaxes to, of so many random starts, the same for all runs; how many reach it."""
    seen = [net.json_values(), inputs, outputs, tries, *map(array_hash, jax.tree.leaves(statistics))]
    if (key := content_hash(seen)) not in KNOWN:
        rng = np.random.default_rng(0)
        ends = [relax(net, _alive(net.init(rng, inputs, outputs)), statistics)[1] for _ in range(tries)]
        KNOWN[key] = min(ends), int(np.sum(np.array(ends) <= min(ends) + SAME * max(ends)))
    return KNOWN[key]


def _alive(params):
    """Hidden dense layers start with positive weights: their ReLUs would be dead at many starts."""
    hidden = sorted(name for name in params if name.startswith("W"))[:-1]
    return params | {name: np.abs(params[name]) for name in hidden}
