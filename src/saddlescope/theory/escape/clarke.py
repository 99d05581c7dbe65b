"""Whether a point is stationary in Clarke's sense, where ReLUs are at their kinks.

At z = 0 every σ′ in [0, 1] is a slope of the ReLU. A point is stationary on the sphere if *some*
choice of these slopes gives ∇L0 = −sρ. With σ′(0) = 0 or 1 alone the residual at an optimum is of
order one.

Clarke's gradients are the convex hull of the limits of gradients from nearby weights. Tied kinks
therefore have one slope: σ′(−z) = 1 − σ′(z). If the kinks are independent (see `kinks`), all
slopes that are left belong to the hull, and a residual of zero proves that the point is
stationary. It is also proved where limits of gradients, drawn at random, have a hull that comes
as near to −sρ. Otherwise the slopes may be more than Clarke has: a residual of zero is necessary,
not sufficient.
"""

from typing import NamedTuple

import numpy as np
from scipy.optimize import lsq_linear, nnls

from saddlescope.theory.escape.gradient import gradient_of
from saddlescope.theory.escape.kinks import KINK, kinks_of, patterns_of, rows_of
from saddlescope.theory.escape.localized import layers_of, localized_loss

SWEEPS = 60
ENOUGH = 1e-8  # relative residual at which no other choice is tried
INDEPENDENT = 1e-6  # the least singular value of the kinks' gradients, each of norm one
DRAWS = 300  # of nets nearby, whose gradients are limits
MOST_WORK = 1e8  # weights times points times draws
NEAR = 1e-6  # a hull of limits that comes as near as this, or as the slopes do


class Stationarity(NamedTuple):
    """How far a point of the sphere is from an escape direction.

    **Arguments:**

    - `residual`: the least ‖∇L0 + sρ‖ found over the slopes at kinks, over s√L = ‖sρ‖.
    - `plain`: the same with σ′(0) = 0.
    - `kinks`: how many kinks there are, over all hidden layers.
    - `slopes`: σ′ of every hidden layer at the choice found, (neurons, points) each.
    - `sufficient`: whether a small residual proves that the point is stationary; else it is
      necessary only.
    """

    residual: float
    plain: float
    kinks: int
    slopes: list[np.ndarray]
    sufficient: bool


def stationarity(weights, X, G, kink=KINK) -> Stationarity:
    """The residual at `weights` on ‖θ‖² = L, minimised over the slopes of kinks.

    In the kinks of one layer the gradient is linear: bounded least squares, layer after layer, until
    nothing changes. With kinks in several layers this finds a choice, not always the best: the
    residual is then an upper bound.
    """
    X, G = np.asarray(X, float), np.asarray(G, float)
    before, kinks = layers_of(weights, X).before[:-1], kinks_of(weights, X, X.any(axis=0) & G.any(axis=0), kink)
    speed = -localized_loss(weights, X, G)
    size = max(abs(speed) * np.sqrt(len(weights)), 1e-300)

    def off(slopes):
        """∇L0 + sρ over ‖sρ‖."""
        gradient = gradient_of(weights, X, G, slopes)
        return np.concatenate([(g + speed * w).ravel() for g, w in zip(gradient, weights, strict=True)]) / size

    zero, one = ([np.where(m, v, z > 0) for z, m in zip(before, kinks.masks, strict=True)] for v in (0.0, 1.0))
    choice = lambda values: off(kinks.slopes(one, values))  # noqa: E731
    residual, values = _search(choice, kinks, layers_of(weights, X).after)
    sufficient = _independent(rows_of(weights, X, kinks)) or _near(weights, X, kinks, choice, max(NEAR, 2 * residual))
    count = int(sum(m.sum() for m in kinks.masks))
    return Stationarity(residual, float(np.linalg.norm(off(zero))), count, kinks.slopes(one, values), sufficient)


def _search(off, kinks, inputs):
    """The best of a few starts. First only kinks that some input reaches: behind a kink slopes of
    1 mostly do.
    """
    every = [np.unique(g[g >= 0]) for g in kinks.groups]
    front = [np.unique(g[(g >= 0) & z.any(axis=0)]) for g, z in zip(kinks.groups, inputs, strict=False)]
    best = (np.inf, np.ones(kinks.number))
    for groups, start in ((front, 0.5), (front, 1.0), (every, 0.5), (every, 1.0), (every, 0.0)):
        values = np.ones(kinks.number)
        values[np.concatenate(groups)] = start
        best = min(best, _sweep(off, [g for g in groups if g.size], values), key=lambda f: f[0])
        if best[0] <= ENOUGH:
            break
    return best


def _sweep(off, layers, values):
    """Least squares in the slopes of one layer after the other."""
    last = float(np.linalg.norm(off(values)))
    for _ in range(SWEEPS if len(layers) > 1 else len(layers)):
        for groups in reversed(layers):
            values = _best_slopes(off, values, groups)
        now, before = float(np.linalg.norm(off(values))), last
        last = now
        if now > (1 - 1e-6) * before:
            break
    return last, values


def _best_slopes(off, values, groups):
    """The values of these groups of one layer, in [0, 1], with the least residual."""

    def changed(to):
        new = values.copy()
        new[groups] = to
        return new

    offset = off(changed(0.0))
    columns = np.stack([off(changed(unit)) - offset for unit in np.eye(len(groups))], axis=1)
    found = lsq_linear(columns, -offset, bounds=(0, 1), method="bvls", tol=1e-14)
    return changed(np.clip(found.x, 0, 1))


def _independent(rows):
    if rows is None or not len(rows):
        return rows is not None
    return len(rows) <= rows.shape[1] and bool(np.linalg.svd(rows, compute_uv=False)[-1] > INDEPENDENT)


def _near(weights, X, kinks, choice, residual):
    """Whether the hull of limits of gradients, from nets drawn nearby, is as near to zero as this."""
    if DRAWS * X.shape[1] * sum(w.size for w in weights) > MOST_WORK:
        return False
    limits = [choice(pattern) for pattern in patterns_of(weights, X, kinks, DRAWS)]
    return bool(limits) and bool(_distance(np.stack(limits, axis=1)) <= residual)


def _distance(columns):
    """From zero to the convex hull of the columns: positive shares whose sum is asked to be 1."""
    shares = nnls(np.vstack([columns, np.ones(columns.shape[1])]), np.append(np.zeros(len(columns)), 1.0))[0]
    return np.linalg.norm(columns @ shares) / shares.sum()
