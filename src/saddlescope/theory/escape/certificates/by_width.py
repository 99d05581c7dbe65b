"""The best three-layer speed of a net whose first hidden layer is narrow, for points in the plane
and one output.

With k neurons in the first layer, h = Σ_{i≤k} ε_i σ(p_i·x) and Σ‖p_i‖ ≤ 1 (`depth3` has no limit on
k, which makes the set of all h convex). Two neurons of one cone and one sign ε add up to one. So
choose k different pairs (cone, ε), and a favourable set A: what remains is concave in (p_1, …,
p_k), and a linear program with tangents for ‖p_i‖ solves it. Its value, an upper bound at every
stage, is cut until it falls to the best speed known or is attained.

Sets A whose bound without a limit on k does not exceed the best speed are skipped: `depth3` proves
that bound.
"""

from itertools import combinations

import numpy as np

from saddlescope.errors import require
from saddlescope.theory.escape.certificates.certificate import Certificate, certify, in_unit_points, norm_bound
from saddlescope.theory.escape.certificates.depth2 import depth2_optimum
from saddlescope.theory.escape.certificates.depth3 import set_bounds
from saddlescope.theory.escape.certificates.program import solve_program

TOLERANCE = 1e-10
ROUNDS = 60


@in_unit_points
def width_optimum(X, G, width) -> Certificate:
    """s*(3) with `width` neurons in the first hidden layer. The cost grows as points^width: for
    widths up to three.
    """
    require(len(X) == 2 and len(G) == 1, "The certificate by width needs two inputs and one output.")
    scale, two = norm_bound(X, G), depth2_optimum(X, G)
    neurons = [(cone, sign) for cone in _cones(X) for sign in (1, -1)]
    best, bound = two.speed, two.speed
    for sign in (1, -1):
        c = -sign * G[0]
        for chosen, most in set_bounds(X, G, sign, two.speed):
            if most <= best + TOLERANCE * scale:
                continue
            for some in combinations(neurons, min(width, len(neurons))):
                found, upper = _best_of(X, c, chosen, some, most, best, scale)
                best, bound = max(best, found), max(bound, upper)
    return certify(best, bound, scale, f"first layers of {width}")


def _cones(X):
    """The two unit rays and the active points of every cone in the plane."""
    angles = np.arctan2(X[1], X[0])
    edges = np.unique(np.concatenate([angles + np.pi / 2, angles - np.pi / 2]).round(12) % (2 * np.pi))
    edges = edges[np.append(True, np.diff(edges) > 1e-9)]
    ends = np.append(edges[1:], edges[0] + 2 * np.pi)
    middle = (edges + ends) / 2
    active = np.cos(middle[:, None] - angles) > 0
    return [(np.array([_unit(a), _unit(b)]), on) for a, b, on in zip(edges, ends, active, strict=True)]


def _unit(angle):
    return np.array([np.cos(angle), np.sin(angle)])


def _best_of(X, c, chosen, neurons, most, known, scale):
    """The speed of the best p in these cones, and its upper bound; cut off once the bound is known
    to be too small. Where a program cannot be solved, the bound so far stays: at first `most`.
    """
    losing = np.flatnonzero(c < 0)
    tangents = [list(rays) for (rays, _), _ in neurons]
    fast, value = 0.0, most
    for _ in range(ROUNDS):
        found = _program(X, c, chosen, losing, neurons, tangents)
        if found is None:
            break
        value, p, t = found
        h = sum(sign * on * (p_i @ X) for p_i, ((_, on), sign) in zip(p, neurons, strict=True))
        length = np.linalg.norm(p, axis=1)
        fast = max(fast, float(c @ np.maximum(h, 0)) / max(length.sum(), 1.0))
        if value <= max(known, fast) + TOLERANCE * scale:
            break
        for i in np.flatnonzero(length > t + 1e-12):
            tangents[i].append(p[i] / length[i])
    return fast, value


def _program(X, c, chosen, losing, neurons, tangents):
    """Columns: p_i = α_i r_i + β_i r'_i, then lengths t_i, then z_j ≥ σ(h_j) of the losing points.

    None where the solver gave up.
    """
    k = len(neurons)
    h = np.concatenate([sign * on * (rays @ X) for (rays, on), sign in neurons]).T  # (points, 2k)
    size = 3 * k + len(losing)
    cost = np.zeros(size)
    cost[: 2 * k] = -(c[list(chosen)] @ h[list(chosen)])
    cost[3 * k :] = -c[losing]
    rows = np.zeros((len(losing), size))
    rows[:, : 2 * k], rows[:, 3 * k :] = h[losing], -np.eye(len(losing))
    cuts = []
    for i, ((rays, _), _) in enumerate(neurons):
        for e in tangents[i]:
            row = np.zeros(size)
            row[2 * i : 2 * i + 2], row[2 * k + i] = rays @ e, -1
            cuts.append(row)
    budget = np.zeros(size)
    budget[2 * k : 3 * k] = 1
    limits = np.append(np.zeros(len(rows) + len(cuts)), 1.0)
    found = solve_program(cost, np.concatenate([rows, cuts, budget[None]]), limits, (0, None))
    if found.status != 0:
        return None
    parts = found.x[: 2 * k].reshape(k, 2)
    p = np.array([part @ rays for part, ((rays, _), _) in zip(parts, neurons, strict=True)])
    return -found.fun, p, found.x[2 * k : 3 * k]
