"""The best speed of a three-layer net with one output, exactly, for few points.

The last hidden layer may have one neuron (Prop. 3.2): Y = ε σ(h), h = Σ_i a_i σ(u_i·X) with unit
u_i and Σ|a_i| ≤ 1. With c = -εG, points with c_j > 0 are favourable. For h with the favourable
points A switched on,

    Σ_j c_j σ(h_j) = min over λ ∈ [0,1] of Σ_A c_j h_j - Σ_{c_j<0} λ_j |c_j| h_j,

which is linear in h, and h runs over a convex set. By the minimax theorem, with w = (c on A, -λ|c|
where c < 0),

    s*(3) = max over ε = ±1 and A of  min over λ of  Φ₂(w),   Φ₂(w) = max over unit u of |Σ_j w_j σ(u·x_j)|.

Every λ proves a bound for its A; the λ of all A together are the dual certificate. Φ₂ is exact by
`arrangement`. The minimum over λ is a linear program with one row per direction u, and rows are
added where Φ₂ is attained (cutting planes). Its dual variables are the a_i: weights whose speed is
computed by the net itself. Speed and bound are thus found independently, and `gap` is what remains
between them.

Holds for any X whose arrangement can be enumerated and at most `MOST_SETS` sets A. Points with G_j
= 0 do not matter.
"""

from itertools import chain, combinations

import numpy as np

from saddlescope.errors import require
from saddlescope.theory.escape.certificates.arrangement import arrangement_of, fits, span_of, with_new
from saddlescope.theory.escape.certificates.certificate import Certificate, certify, in_unit_points, norm_bound
from saddlescope.theory.escape.certificates.program import solve_program
from saddlescope.theory.escape.localized import localized_loss

MOST_SETS = 2**12
TOLERANCE = 1e-12  # of the gap of one set A, relative to the scale ‖X‖‖G‖
PATIENCE = 12  # rounds without a smaller gap: rounding then decides which λ of a flat optimum comes next
BETWEEN = (0.0, 0.5)  # from the program's λ to the best one: half-way values settle in a quarter of the rounds
CUTS = 12  # directions that join the pool per round of cutting planes
UNIT = 1e3  # the solver's smallest tolerance is 1e-10 in its own unit: a row is stretched by this


def depth3_fits(X, G) -> bool:
    """Whether `depth3_optimum` can enumerate the cones and sets of these data."""
    used = G[0] != 0
    sets = 2.0 ** max(np.sum(G[0] > 0), np.sum(G[0] < 0))
    return len(G) == 1 and sets <= MOST_SETS and used.any() and fits(span_of(X[:, used]).shape[1], used.sum())


@in_unit_points
def depth3_optimum(X, G) -> Certificate:
    """s*(3) for one output, with weights that attain it.

    `dual[ε, A]` is (bound, λ): this λ proves the bound for nets that switch on the favourable
    points A.
    """
    require(len(G) == 1, f"The certificate of depth 3 needs one output; G has {len(G)}. Use `speed_bound`.")
    require(depth3_fits(X, G), "The data have too many points or dimensions for depth 3. Use `speed_bound`.")
    scale, used = norm_bound(X, G), np.flatnonzero(G[0])
    search = _Search(X[:, used], G[0, used] / scale)
    for sign in (1, -1):
        for chosen in _subsets(np.flatnonzero(-sign * search.g > 0)):
            search.bound_set(sign, chosen)
    dual = {key: (value * scale, lam) for key, (value, lam) in search.dual.items()}
    dual = {(sign, _named(a, used)): (v, _spread(lam, used, X)) for (sign, a), (v, lam) in dual.items()}
    bound, weights = max(value for value, _ in dual.values()), search.weights
    speed = 0.0 if weights is None else -localized_loss(weights, X, G)
    return certify(speed, bound, scale, "minimax over favourable sets", weights, dual)


def set_bounds(X, G, sign, enough):
    """(A, bound) for the sets A of nets whose last weight has this sign; a bound below `enough` is
    not improved.
    """
    scale = norm_bound(X, G)
    search = _Search(X, G[0] / scale)
    search.speed, search.improves = enough / scale, False
    for chosen in _subsets(np.flatnonzero(-sign * search.g > 0)):
        search.bound_set(sign, chosen)
        yield chosen, search.dual[sign, chosen][0] * scale


def set_weights(c, chosen, lam) -> np.ndarray:
    """w: c on the chosen points, λc where c is negative, 0 elsewhere."""
    w = np.where(c < 0, lam * c, 0.0)
    w[list(chosen)] = c[list(chosen)]
    return w


def _subsets(items):
    """All subsets as tuples, the largest first: they bound most, and prune the others."""
    items = [int(i) for i in items]
    return chain.from_iterable(combinations(items, size) for size in range(len(items), -1, -1))


def _named(chosen, used):
    return tuple(int(used[j]) for j in chosen)


def _spread(lam, used, X):
    full = np.zeros(X.shape[1])
    full[used] = lam
    return full


class _Search:
    """The best net so far, the pool of directions of the set at hand, and the bound of each set."""

    def __init__(self, X, g):
        self.X, self.g = X, g
        self.arrangement = arrangement_of(X)
        self.pool = self.arrangement.rays
        self.speed, self.weights, self.dual = 0.0, None, {}
        self.improves = True  # whether a faster net raises the speed below which sets are not looked at

    def bound_set(self, sign, chosen):
        """Bound the nets that switch on `chosen`, by the best λ or by one that is good enough."""
        # Directions of other sets rarely bind in this one, and every row makes its programs slower.
        c, self.pool = -sign * self.g, self.arrangement.rays
        value, lam = min((self._value(c, chosen, full * (c < 0)), full) for full in (0.0, 1.0))
        best, lower, idle = (value, lam * (c < 0)), 0.0, 0
        while best[0] > max(self.speed, lower) + TOLERANCE and idle < PATIENCE:
            gap, size = best[0] - max(self.speed, lower), len(self.pool)
            found, lam, spread = self._program(c, chosen)
            lower = max(lower, found)
            self._improve(sign, spread)
            between = [lam + share * (best[1] - lam) for share in BETWEEN]
            tried = [(self._value(c, chosen, one), one) for one in between]
            best = min(best, *tried, key=lambda pair: pair[0])
            better = best[0] - max(self.speed, lower) < 0.9 * gap and size < len(self.pool)
            idle = 0 if better else idle + 1
        self.dual[sign, chosen] = best

    def _value(self, c, chosen, lam):
        """Φ₂ for this λ; the directions where it is nearly attained join the pool."""
        value, directions = self.arrangement.best(set_weights(c, chosen, lam), CUTS)
        self.pool = with_new(self.pool, directions)
        return value

    def _program(self, c, chosen):
        """The program with the rows of the pool: its value, λ, and the a_i of the pool's
        directions.
        """
        features = self.arrangement.features(self.pool)
        free = np.flatnonzero(c < 0)
        fixed, slope = features[:, list(chosen)] @ c[list(chosen)], features[:, free] * c[free]
        ones = np.ones((len(slope), 1))
        rows = np.block([[UNIT * slope, -ones], [-UNIT * slope, -ones]])
        cost, limits = np.append(np.zeros(len(free)), 1.0), UNIT * np.append(-fixed, fixed)
        found = solve_program(cost, rows, limits, [(0, 1)] * len(free) + [(0, None)])
        if found.status != 0:
            return 0.0, np.zeros(len(c)), np.zeros(len(features))  # the best λ so far stays
        lam = np.zeros(len(c))
        lam[free] = np.clip(found.x[:-1], 0, 1)
        plus, minus = np.split(-found.ineqlin.marginals, 2)
        return found.fun / UNIT, lam, plus - minus

    def _improve(self, sign, spread):
        """Keep the net that the dual variables of a program make, where it is the fastest so far."""
        live = np.abs(spread) > 1e-12
        if not live.any():
            return
        a, u = spread[live] / np.abs(spread[live]).sum(), self.pool[live] @ self.arrangement.basis.T
        u = u / np.linalg.norm(u, axis=1)[:, None]
        root = np.sqrt(np.abs(a))
        weights = [root[:, None] * u, (np.sign(a) * root)[None], np.array([[float(sign)]])]
        speed = -localized_loss(weights, self.X, self.g[None])
        if self.improves and speed > self.speed:
            self.speed, self.weights = speed, weights
