"""The finitely many places where a weighted sum of ReLUs can be largest.

For weights w of the points, f(u) = Σ_j w_j σ(u·x_j) is linear on each cone of the arrangement of
the hyperplanes u·x_j = 0. On a cone with active points A, f(u) = v·u with v = Σ_A w_j x_j. Over
unit vectors of a pointed cone the largest value of v·u, where positive, is attained at the
projection of v on the cone. That projection lies inside one face, and equals the projection of v on
the face's flat. So the maximum of |f| lies among ±(projection of v on flat F), over all flats F and
the cones that the arrangement cuts out on F. Rays (flats of dimension one) do not depend on w.

Every candidate is evaluated by f itself: a superfluous candidate does no harm, and no cone has to
be tested for it.

Holds for any X that spans its space (others are reduced first), and for points in special position:
sets of points on one hyperplane are found with the tolerance `FLAT`. The number of cones grows as
points^(d-1), hence `fits`.
"""

from functools import lru_cache
from itertools import combinations, product
from math import comb

import numpy as np

FLAT = 1e-9  # a point this close to a hyperplane, relative to its norm, lies on it
NEAR = 1e-7
MOST_CONES = 20_000


def span_of(X) -> np.ndarray:
    """Orthonormal columns that span the points: a neuron gains nothing by weights outside."""
    left, values, _ = np.linalg.svd(X, full_matrices=False)
    return left[:, values > FLAT * values.max(initial=0)]


def fits(dimension, points) -> bool:
    """Whether the arrangement is small enough to be enumerated."""
    return dimension <= 1 or comb(points, dimension - 1) * 2**dimension <= MOST_CONES


def active_sets(Y) -> np.ndarray:
    """Which points are active in each open cone: a boolean array (cones, points). Y has full row
    rank.
    """
    found = [_around(Y, ray) for ray in _rays(Y)] if len(Y) > 1 else [Y > 0, Y < 0]
    return np.unique(np.concatenate(found), axis=0)


def _around(Y, ray):
    """The cones that touch a ray: points off it keep their sign, those on it are cut again in the
    space across.
    """
    height = ray @ Y
    on = np.abs(height) <= FLAT * np.linalg.norm(Y, axis=0)
    # As few points as a ray needs are independent, and have every pattern of signs.
    few = on.sum() == len(Y) - 1
    inner = _patterns(len(Y) - 1) if few else active_sets(_complement(ray[:, None]).T @ Y[:, on])
    sets = np.tile(height > 0, (len(inner), 1))
    sets[:, on] = inner
    return sets


@lru_cache(maxsize=8)
def _patterns(points):
    return np.array(list(product((False, True), repeat=points)))


def _rays(Y):
    """Unit vectors on which the hyperplanes of len(Y) - 1 independent points meet, with both signs."""
    units = Y[:, (length := np.linalg.norm(Y, axis=0)) > FLAT] / length[length > FLAT]
    chosen = np.array(list(combinations(range(units.shape[1]), len(Y) - 1)))
    left, values, _ = np.linalg.svd(np.moveaxis(units[:, chosen], 0, 1))
    lines = left[values[:, -1] > FLAT, :, -1]
    return np.concatenate([lines, -lines])


def _flat(normals):
    """Orthonormal columns of the space where all u·x = 0; None where the points are not
    independent.
    """
    length = np.linalg.norm(normals, axis=0)
    if (length <= FLAT).any():
        return None
    values = np.linalg.svd(normals / length, compute_uv=False)
    return _complement(normals) if values[-1] > FLAT else None


def _complement(columns):
    return np.linalg.svd(columns, full_matrices=True)[0][:, columns.shape[1] :]


class Arrangement:
    """The flats and cones of the points, and the exact maximum of |Σ_j w_j σ(u·x_j)| over unit
    vectors u.

    **Arguments:**

    - `X`: the points, of shape (inputs, points).
    """

    def __init__(self, X):
        X = np.asarray(X, float)
        self.basis = span_of(X)
        self.points = self.basis.T @ X
        dimension = len(self.points)
        flats = [np.eye(dimension)]
        for size in range(1, dimension):
            flats += [f for s in combinations(range(X.shape[1]), size) if (f := _flat(self.points[:, s])) is not None]
        self.cells = active_sets(self.points)
        self.flats = [(flat, active_sets(flat.T @ self.points)) for flat in flats if flat.shape[1] > 1]
        lines = [flat[:, 0] for flat in flats if flat.shape[1] == 1]
        self.rays = np.array([sign * line for line in lines for sign in (1, -1)])
        maps = [_projected(flat, sets, self.points) for flat, sets in self.flats]
        self.maps = np.concatenate(maps) if maps else np.zeros((0, *self.points.shape))

    def candidates(self, w) -> np.ndarray:
        """Unit vectors, one per row, among which |f| is largest."""
        found = self.maps @ w
        length = np.linalg.norm(found, axis=1)
        keep = length > 0
        inside = found[keep] / length[keep, None]
        return np.concatenate([self.rays, inside, -inside])

    def maximum(self, w) -> float:
        """Φ₂(w) = max over unit u of |Σ_j w_j σ(u·x_j)|."""
        return self.best(w, 1)[0]

    def one_signed_maximum(self, w) -> float:
        """Φ₂(w) for w ≥ 0, from open cones alone: Σ_j w_j σ(u·x_j) is then the largest of the v·u."""
        return float(np.linalg.norm(self.cells @ (w * self.points).T, axis=1).max())

    def best(self, w, count=1) -> tuple[float, np.ndarray]:
        """Φ₂(w), and the `count` best unit vectors, largest first, in the coordinates of `points`."""
        directions = self.candidates(w)
        values = np.abs(self.features(directions) @ w)
        order = np.argsort(-values)[:count]
        return float(values[order[0]]), directions[order]

    def features(self, directions) -> np.ndarray:
        """σ(u·x_j), one row per direction."""
        return np.maximum(directions @ self.points, 0)


def with_new(pool, directions) -> np.ndarray:
    """The pool and those directions that are not in it, up to `NEAR`: rows that nearly agree make a
    program cycle.

    At a smooth maximum a direction that is off by 1e-7 is off by 1e-14 in value. Rays are exact,
    and are in a pool from the start.
    """
    far = np.abs(directions[:, None] - pool).max(axis=2).min(axis=1) > NEAR
    new: list[np.ndarray] = []
    for one in directions[far]:
        if all(np.abs(one - other).max() > NEAR for other in new):
            new.append(one)
    return np.concatenate([pool, *(one[None] for one in new)])


def _projected(flat, sets, points):
    """The linear maps from w to the projection of Σ_A w_j x_j on a flat, one for each cone on it."""
    return (flat @ flat.T @ points)[None] * sets[:, None, :]


def arrangement_of(X) -> Arrangement:
    """The arrangement of these points, made once: several arguments about the same data ask for it."""
    X = np.ascontiguousarray(X, float)
    return _made(X.tobytes(), X.shape)


@lru_cache(maxsize=16)
def _made(content, shape):
    return Arrangement(np.frombuffer(content).reshape(shape))
