"""The embedded fixed point nearest to given weights."""

from dataclasses import dataclass, replace

import numpy as np

from saddlescope.errors import require
from saddlescope.nets import Units
from saddlescope.nets.net import Net, Params
from saddlescope.numerics import reproducible
from saddlescope.tasks.task import Moments, Samples
from saddlescope.theory.narrow_levels import narrow
from saddlescope.theory.properties import Properties, properties
from saddlescope.theory.relations import KINDS, Kind, manifold_residual, reduce
from saddlescope.theory.relations.kind import numpy, refuse_unless_weights, stacked
from saddlescope.theory.relax import relax, settle
from saddlescope.theory.saddle import Saddle, saddle

FIXED = 1e-9  # a narrow net's gradient below this is that of a fixed point
STILL = 1e-6  # the wide net's there, at most


@dataclass(frozen=True)
class Nearest:
    """The embedded fixed point nearest to given weights, and how far it is.

    **Arguments:**

    - `kind`: The relation between units whose manifold is nearest.
    - `width`: The effective width that was searched for.
    - `residual`: The distance from the manifold, as a share of the weights' norm.
    - `distance`: The distance from the embedded fixed point, as a share of the weights' norm.
    - `level`: The narrow net's loss.
    - `saddle`: The wide net's loss, gradient and curvature there.
    - `point`: The wide net's weights there.
    - `map`: The narrow net's weights.
    """

    kind: Kind
    width: int
    residual: float
    distance: float
    level: float
    saddle: Saddle
    point: Params
    map: Params

    @property
    def fixed(self) -> bool:
        """Whether the point is a fixed point of the wide net, with the narrow net's loss."""
        same = abs(self.saddle.loss - self.level) <= STILL * max(self.level, STILL)
        return bool(same and self.saddle.gradient <= STILL)


@reproducible()
def nearest_embedded(
    net: Net,
    params: Params,
    statistics: Samples | Moments,
    width: int,
    inputs: int,
    outputs: int,
) -> Nearest:
    """Find the embedded fixed point nearest to given weights; our own prediction.

    The weights are reduced to a narrow net, which relaxes to its fixed point. That point is
    embedded again, as near to the weights as can be. Of the kinds that the unit's measured
    properties allow, the one with the nearest manifold is used. A visited saddle is close; weights
    that only drift slowly are not close to one. Where no fixed point is found, `fixed` is False.

    **Arguments:**

    - `net`: A two-layer net of units.
    - `params`: The wide net's weights; not all zero.
    - `statistics`: What the loss sees of the data.
    - `width`: The number of units of the narrow net.
    - `inputs`: The dimension of x.
    - `outputs`: The dimension of y.
    """
    require(
        isinstance(net, Units),
        "Embedded fixed points are searched for in two-layer nets of units: use Units.",
    )
    refuse_unless_weights(params)
    params, p = numpy(params), properties(net.unit, inputs, outputs)
    sizes = len(params["u"]), params["u"].shape[1]
    expected = net.units, net.unit.sizes(inputs, outputs)[0]
    require(
        sizes == expected,
        f"This net has {expected[0]} units of {expected[1]} inner weights; got {sizes}.",
    )
    require(bool(np.any(stacked(params))), "The weights must not all be zero.")
    kind = nearest_kind(params, p, width)
    start, own = reduce(params, kind, width), narrow(net, width)
    found = [relax(own, start, statistics), settle(own, start, statistics)]
    fixed = [(small, level) for small, level, slope in found if slope < FIXED] or [found[0][:2]]
    lifted = [(kind.lift(small, params), small, level) for small, level in fixed]
    point, small, level = min(lifted, key=lambda f: _gap(params, f[0]))
    about = saddle(net, point, statistics)
    if p.positively and not p.homogeneous and np.any(np.all(point["u"] == 0, axis=1)):
        about = replace(about, kind="not smooth")  # ReLU has no Hessian where u = 0
    return Nearest(
        kind,
        width,
        manifold_residual(params, kind, width),
        _gap(params, point),
        level,
        about,
        point,
        small,
    )


@reproducible()
def nearest_kind(params: Params, p: Properties, width: int) -> Kind:
    """The kind whose manifold is nearest, among those that units of these properties allow; the
    first of equals."""
    kinds = [k for k in KINDS if k.fits(p)]
    return min(kinds, key=lambda k: (round(manifold_residual(params, k, width), 6), kinds.index(k)))


def _gap(params, point):
    theta = stacked(params)
    return float(np.linalg.norm(theta - stacked(point)) / np.linalg.norm(theta))
