"""The embedded fixed point nearest to given weights."""

from dataclasses import dataclass, replace
from itertools import product
from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from saddlescope.errors import require
from saddlescope.losses import squared_error
from saddlescope.nets import Units
from saddlescope.nets.net import Net, Params
from saddlescope.numerics import reproducible
from saddlescope.tasks.task import Moments, Samples
from saddlescope.theory.linear_fixed_points import LinearFixedPoints
from saddlescope.theory.linear_modes import is_linear
from saddlescope.theory.narrow_levels import narrow
from saddlescope.theory.properties import Properties, properties
from saddlescope.theory.relations import KINDS, Kind, Rays, Span, manifold_residual, reduce
from saddlescope.theory.relations.kind import numpy, refuse_unless_weights, stacked
from saddlescope.theory.relations.span import narrow_of_map
from saddlescope.theory.relax import relax, settle
from saddlescope.theory.saddle import Saddle, saddle

FIXED = 1e-9  # a narrow net's gradient below this is that of a fixed point
STILL = 1e-6  # the wide net's there, at most
MANY = 256  # sets of eigenvectors are not gone through
EQUAL = 1e-6  # distances that differ by less are one: the first kind is told of
ALL = (*KINDS, Rays(lines=True))


@dataclass(frozen=True)
class Nearest:
    """The embedded fixed point nearest to given weights, and how far it is.

    **Arguments:**

    - `kind`: The relation between units by which that point is embedded.
    - `width`: The effective width that was searched for.
    - `residual`: The distance from the manifold of that kind, as a share of the weights' norm.
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

    The weights are reduced to a narrow net, whose fixed points beside them are searched for: by
    Newton's method, which finds saddles of the narrow net too, and by relaxing to a minimum. Each is
    embedded again, as near to the weights as can be. All kinds that the unit's measured properties
    allow are tried, and the nearest point is taken. A visited saddle is close; weights that only
    drift slowly are not close to one. Where no fixed point is found, `fixed` is False.

    For linear neurons Lemma 6 lists all maps of fixed points, and the nearest is exact. Elsewhere what
    is found is a fixed point, but a search cannot show that none is nearer.

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
    own = narrow(net, width)
    found = [one for kind in ALL if kind.fits(p) for one in _embedded(own, params, statistics, kind, width)]
    found += _listed(own, params, statistics, width) if is_linear(net) else []
    found = [one for one in found if one.slope < FIXED and _is_still(net, one, statistics)] or found[:1]
    least = min(one.distance for one in found)
    kind, point, small, level, _, _ = next(one for one in found if one.distance <= least + EQUAL)
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


class _Embedded(NamedTuple):
    kind: Kind
    point: Params
    small: Params
    level: float
    slope: float
    distance: float


def _embedded(own, params, statistics, kind, width):
    """The fixed points of the narrow net beside these weights, embedded by one kind."""
    starts = [reduce(params, kind, width)] + ([narrow_of_map(params, width)] if isinstance(kind, Span) else [])
    for start, search in product(starts, (settle, relax)):
        small, level, slope = search(own, start, statistics)
        point = kind.lift(small, params)
        yield _Embedded(kind, point, small, level, slope, _gap(params, point))


def _listed(own, params, statistics, width):
    """The fixed points of a linear net: Lemma 6 lists all of them, so that none is missed."""
    points = LinearFixedPoints(Moments.of(statistics))
    for chosen in points.sets if len(points.sets) <= MANY else ():
        if len(chosen) <= width:
            W = points.map(chosen)
            small = narrow_of_map({"v": np.eye(len(W)), "u": W}, width)
            point = Span().lift(small, params)
            yield _Embedded(Span(), point, small, points.level(chosen), 0.0, _gap(params, point))


def _is_still(net, one, statistics):
    """Whether the wide net has no gradient there, and the narrow net's loss."""
    loss, slope = _with_gradient(net, one.point, statistics)
    same = abs(float(loss) - one.level) <= STILL * max(one.level, STILL)
    return same and max(float(jnp.abs(g).max()) for g in slope.values()) <= STILL


@eqx.filter_jit
def _with_gradient(net, params, statistics):
    return jax.value_and_grad(lambda p: squared_error(net, p, statistics))(jax.tree.map(jnp.asarray, params))


@reproducible()
def nearest_kind(params: Params, p: Properties, width: int) -> Kind:
    """The kind whose manifold is nearest, among those that units of these properties allow; the
    first of equals."""
    kinds = [k for k in KINDS if k.fits(p)]
    return min(kinds, key=lambda k: (round(manifold_residual(params, k, width), 6), kinds.index(k)))


def _gap(params, point):
    theta = stacked(params)
    return float(np.linalg.norm(theta - stacked(point)) / np.linalg.norm(theta))
