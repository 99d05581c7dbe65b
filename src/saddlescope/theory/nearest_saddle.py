"""Which saddle a plateau is."""

from typing import final

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax.flatten_util import ravel_pytree

from saddlescope.errors import require
from saddlescope.losses import SquaredError, squared_error
from saddlescope.nets import Units
from saddlescope.serialization.part import as_int
from saddlescope.theory.nearest import nearest_embedded
from saddlescope.theory.plateau_weights import middle_weights
from saddlescope.theory.prediction import ConditionalPrediction
from saddlescope.theory.relations import Silent, embed
from saddlescope.theory.relations.kind import stacked
from saddlescope.theory.saddle import perturbed

BESIDE = 1e-2  # how far all weights are moved


@final
class NearestSaddle(ConditionalPrediction):
    """The embedded fixed point of one unit nearest to the weights on a middle plateau; ours.

    A middle plateau lies between two drops.

    `level` is the loss there, `saddle` its kind, `fixed` whether it is a fixed point of the wide
    net, and `distance` how far the weights are from it, over their norm. `lower_here` is how far the
    loss falls beside it: when the smallest unit is moved a little, or all weights along the Hessian's
    lowest direction. `lower_beside` is the same for one unit more, silent there. Where these are
    positive the point is not a minimum, whatever the Hessian says. `plateau_step` is the step of the
    weights that were read.

    Holds for two-layer nets of units under the squared error. A visited saddle is near; where
    weights only drift slowly the nearest one is far.

    **Arguments:**

    - `plateaus`: how many of the plateaus between drops are read, from the first; None for all.
      The one whose fixed point is nearest is told of.
    """

    plateaus: int | None = eqx.field(default=1, static=True, converter=as_int)

    def __check_init__(self):
        good = self.plateaus is None or (isinstance(self.plateaus, int) and self.plateaus > 0)
        require(
            good,
            f"`plateaus` must be a positive whole number, or None for all; got {self.plateaus!r}.",
        )

    def __call__(self, setting, run):
        require(
            isinstance(setting.net, Units) and isinstance(setting.loss, SquaredError),
            "This theory is for two-layer nets of units under the squared error: use Units.",
        )
        net, task, statistics = setting.net, setting.task, setting.statistics()
        found = middle_weights(run, self.plateaus)
        if not found:
            return {"saddle": ((), "no plateau"), "distance": ((), np.nan)}
        about = statistics, 1, task.inputs, task.outputs
        near = [(nearest_embedded(net, params, *about), step) for step, params in found]
        point, step = min(near, key=lambda one: (not one[0].fixed, one[0].distance))
        return _told(net, point, statistics, setting.init_seed) | {"plateau_step": ((), step)}


def _told(net, near, statistics, seed):
    more, rng = embed(near.point, len(near.point["u"]) + 1, Silent()), np.random.default_rng(seed)
    lower = perturbed(net, more, -1, statistics, rng)[1]
    found = {
        "level": near.level,
        "fixed": near.fixed,
        "distance": near.distance,
        "saddle": near.saddle.kind,
        "lower_beside": near.saddle.loss - lower,
        "lower_here": near.saddle.loss - _lowest_beside(net, near, statistics, rng),
    }
    return {name: ((), value) for name, value in found.items()}


def _lowest_beside(net, near, statistics, rng):
    """The lowest loss found a little beside the point, with the net's own units."""
    smallest = int(np.argmin((stacked(near.point) ** 2).sum(1)))
    flat, restore = ravel_pytree(jax.tree.map(jnp.asarray, near.point))
    along = [
        float(squared_error(net, restore(flat + side * BESIDE * near.saddle.escape), statistics)) for side in (1, -1)
    ]
    return min(perturbed(net, near.point, smallest, statistics, rng)[1], *along)
