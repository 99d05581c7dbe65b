"""The best speed at every depth from three on, for one output: exact where an argument closes, else
bounded.

From below s*(L) ≥ s*(3) for L ≥ 3 (Prop. 3.2). From above, in this order:

- weights of one sign: s*(L) ≤ max(Φ₂(G₊), Φ₂(G₋)), exact where one side of G decides (`plain_bounds`);
- a closed set of weight vectors for s = s*(3), by linear programs and then on levels (`closed_set`);
- a closed set for a larger s, found by bisection: then the certificate is "bounded".

An exact one proves that depth gains nothing beyond three on these data, so that layers from the
third on may be rank one (conjecture 2 of the paper, for these data).
"""

import numpy as np
from scipy.optimize import minimize_scalar

from saddlescope.theory.escape.certificates.arrangement import arrangement_of
from saddlescope.theory.escape.certificates.certificate import CLOSED, Certificate, certify, in_unit_points, norm_bound
from saddlescope.theory.escape.certificates.closed_set import ClosedSet
from saddlescope.theory.escape.certificates.depth3 import depth3_optimum, set_weights
from saddlescope.theory.escape.certificates.plain_bounds import ONE_SIGN, every_depth_bound

MOST_LEVELS = 5
HALVINGS = 5
ALIKE, SAME = 1e-4, 1e-8  # weights this near are one by symmetry; levels this near are one
CLOSED_SET = "closed set of weight vectors"


@in_unit_points
def all_depths_optimum(X, G) -> Certificate:
    """What is proved of s*(L) for every L ≥ 3. The weights are those of depth 3."""
    scale, three = norm_bound(X, G), depth3_optimum(X, G)
    plain = every_depth_bound(X, G)
    if plain - three.bound <= CLOSED * scale:
        return certify(three.speed, max(plain, three.bound), scale, ONE_SIGN, three.weights)
    used = G[0] != 0
    points, g = X[:, used], G[0, used] / scale
    levels = _tight_levels(three, X, G) / scale
    if _has_closed_set(points, g, three.bound / scale, levels):
        return certify(three.speed, three.bound, scale, CLOSED_SET, three.weights)
    bound = _bisected(points, g, three.bound / scale, plain / scale) * scale
    return certify(three.speed, bound, scale, CLOSED_SET if bound < plain else ONE_SIGN, three.weights)


def _has_closed_set(X, g, s, levels):
    if ClosedSet(X, s).contains(g):
        return True
    return len(levels) <= MOST_LEVELS and ClosedSet(X, s, budget=100_000, levels=levels).contains(g)


def _tight_levels(three, X, G):
    """0, the |G_j|, and the values of |w| in the sets A that decide depth 3, without repetition."""
    found = [np.zeros(1), np.abs(G[0])]
    for (sign, chosen), (bound, lam) in three.dual.items():
        if bound >= three.bound * (1 - CLOSED):
            w = set_weights(-sign * G[0], chosen, lam)
            found.append(np.abs(w if np.count_nonzero(lam) < 2 else _tied(w, lam, X)))
    values = np.sort(np.concatenate(found))
    return values[np.append(True, np.diff(values) > SAME * values[-1])]


def _tied(w, lam, X):
    """w with one value for weights that nearly agree: Φ₂ is flat across λ, but has a kink along
    their common value.
    """
    free = np.flatnonzero((lam > 0) & (lam < 1))
    for first in free:
        same = free[np.abs(np.abs(w[free]) - np.abs(w[first])) <= ALIKE * np.abs(w).max()]
        value = np.abs(w[same]).mean()

        def speed(factor, same=same, value=value):
            return arrangement_of(X).maximum(np.where(np.isin(np.arange(len(w)), same), factor * value * np.sign(w), w))

        best = minimize_scalar(speed, bounds=(1 - 2 * ALIKE, 1 + 2 * ALIKE), options={"xatol": 1e-14}).x
        w[same] = best * value * np.sign(w[same])
    return w


def _bisected(X, g, low, high):
    """The least s between the two for which a closed set was found."""
    for _ in range(HALVINGS):
        middle = np.sqrt(low * high) if low > 0 else high / 2
        low, high = (low, middle) if ClosedSet(X, middle, budget=400).contains(g) else (middle, high)
    return high
