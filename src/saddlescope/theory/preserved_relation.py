"""A relation between units that gradient descent preserves."""

from typing import final

import equinox as eqx
import numpy as np

from saddlescope.errors import require
from saddlescope.nets import Units
from saddlescope.numerics import reproducible
from saddlescope.theory.drop_schedule import plain_descent
from saddlescope.theory.prediction import Prediction
from saddlescope.theory.properties import properties
from saddlescope.theory.relations import Equal, Kind, Rays, Silent, Span

ROUNDING = 1e-12


def _row(given):
    return tuple(float(v) for v in given)


@final
class PreservedRelation(Prediction):
    """The last unit stays Σ_j γ_j θ_j of the others, and the net without it has the same map
    (simplicity paper, Theorem 3 and F.3).

    Predicted are `off_manifold`, its distance from the relation, and `map_gap`, the change of the
    map: both zero. What φ must be like depends on γ. One factor of 1: any φ (equal units). No
    factor: φ(x; 0) = 0 (silent units). One factor: φ homogeneous in u, for positive factors at
    least if it is positive (rays). Several: φ linear in u (span).

    Holds for two-layer nets of units, for plain full-batch descent at any learning rate, as for the
    flow. The initial weights must obey the relation.

    **Arguments:**

    - `factors`: γ, one number for each of the other units.
    """

    factors: tuple[float, ...] = eqx.field(converter=_row)

    def __check_init__(self):
        good = len(self.factors) > 0 and np.isfinite(self.factors).all()
        require(good, f"`factors` must be finite numbers, one for each other unit; got {self.factors}.")

    @reproducible()
    def __call__(self, setting):
        plain_descent(setting)
        net, task, kind = setting.net, setting.task, self._kind()
        require(isinstance(net, Units), "Theorem 3 is about two-layer nets of units: use Units.")
        require(
            net.units == len(self.factors) + 1,
            f"{len(self.factors)} factors relate {len(self.factors) + 1} units; the net has {net.units}.",
        )
        require(
            kind.fits(properties(net.unit, task.inputs, task.outputs)),
            f"Theorem 3 {kind.theorem} does not apply to these units: φ lacks the property that it needs.",
        )
        require(
            _off(setting.initial_params(), self.factors) < ROUNDING,
            "The last unit of the initial weights does not obey the relation: use `initial=given_weights(…)`.",
        )
        return {"off_manifold": ((), 0.0), "map_gap": ((), 0.0)}

    def _kind(self) -> Kind:
        """The weakest relation that these factors are a case of."""
        some = [v for v in self.factors if v]
        if len(some) > 1:
            return Span()
        return Rays(inner=some[0]) if some and some != [1.0] else Equal() if some else Silent()


def _off(params, factors):
    """The last unit's distance from the relation, over the size of all weights."""
    rows = np.concatenate([np.asarray(w) for w in params.values()], axis=1)
    return np.linalg.norm(rows[-1] - np.array(factors) @ rows[:-1]) / np.linalg.norm(rows)
