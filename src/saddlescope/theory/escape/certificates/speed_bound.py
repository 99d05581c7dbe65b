"""The best bound on the escape speed that fits the data, its depth and size, with the name of the
argument.

| data | depth 2 | depth 3 | deeper |
|---|---|---|---|
| one output (or G of rank one), few points | exact | exact | exact or bounded |
| two outputs, few points | exact | to 1e-6 | bounded |
| two to four inputs, more points or outputs | exact | bounded | bounded |
| anything else | bounded | bounded | bounded |

`speed` in the certificate is what is attained at this depth or a smaller one (Prop. 3.2), with
weights for this depth.
"""

import numpy as np

from saddlescope.errors import require
from saddlescope.theory.escape.certificates.all_depths import all_depths_optimum
from saddlescope.theory.escape.certificates.certificate import Certificate, certify, in_unit_points, norm_bound
from saddlescope.theory.escape.certificates.depth2 import depth2_optimum
from saddlescope.theory.escape.certificates.depth3 import depth3_fits, depth3_optimum
from saddlescope.theory.escape.certificates.output_directions import best_direction, reduced_outputs
from saddlescope.theory.escape.certificates.plain_bounds import NORMS, enumerable, every_depth_bound, plain_name

MOST_DEEP = 10  # points for which a closed set is searched
DIRECTIONS = "output directions"


@in_unit_points
def speed_bound(X, G, depth) -> Certificate:
    """A bound on s*(depth), "exact" where weights attain it, else "bounded"."""
    require(int(depth) == depth and depth >= 2, f"The depth must be an integer of at least 2; got {depth!r}.")
    back, inner = reduced_outputs(G)
    found = depth2_optimum(X, inner)
    if depth > 2:
        found = _deeper(X, inner, int(depth), found)
    return found._replace(weights=_lifted(found.weights, back, int(depth)))


def _deeper(X, G, depth, two):
    if len(G) == 2:
        return _two_outputs(X, G, depth, two)
    if len(G) > 2 or not depth3_fits(X, G):
        return _plainly(X, G, two)
    if depth > 3 and np.count_nonzero(G) <= MOST_DEEP:
        return all_depths_optimum(X, G)
    three = depth3_optimum(X, G)
    return three if depth == 3 else _plainly(X, G, three)


def _plainly(X, G, known):
    """The bound that needs no search over nets, with a speed that is known."""
    bound = every_depth_bound(X, G)
    return certify(known.speed, bound, norm_bound(X, G), plain_name(X, G), known.weights)


def _two_outputs(X, G, depth, two):
    """Depth 3 where the cones and sets are few enough; else the plain bound in the best output
    direction.
    """
    scale = norm_bound(X, G)
    if depth == 3 and depth3_fits(X, np.ones_like(G[:1])):
        _, bound, b = best_direction(lambda b: depth3_optimum(X, (b @ G)[None]).bound)
        inner = depth3_optimum(X, (b @ G)[None])
        if inner.weights is None or inner.speed <= two.speed:
            return certify(two.speed, bound, scale, DIRECTIONS, two.weights)
        weights = [*inner.weights[:-1], b[:, None] @ inner.weights[-1]]
        return certify(inner.speed, bound, scale, DIRECTIONS, weights)
    # A bound by norms is loose and slow: 8 directions bound the others to 2 %.
    name, evaluations = (DIRECTIONS, 200) if enumerable(X) else (NORMS, 0)
    _, bound, _ = best_direction(lambda b: every_depth_bound(X, (b @ G)[None]), 1e-4, evaluations)
    return certify(two.speed, min(bound, scale), scale, name, two.weights)


def _lifted(weights, back, depth):
    """The net with its outputs back in their own space, and layers [1] before the last one, up to
    the depth (Prop. 3.2).
    """
    if weights is None:
        return None
    through = [np.ones((1, 1))] * (depth - len(weights))
    return [*weights[:-1], *through, back @ weights[-1]]
