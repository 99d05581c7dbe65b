"""Several outputs: the best output direction, by branch and bound on a half circle.

The last hidden layer may have one neuron, so Y = b σ(h) with ‖b‖ = 1 and s* = max over b of s(b),
the best speed of the one-output problem with G_b = bᵀG. Only b in the range of G matters: outputs
are reduced to rank(G) first. G of rank one, as of two classes under cross-entropy, is a problem of
one output.

s(b) is a maximum of functions linear in b, hence convex and positively homogeneous: for b = αb₁ +
βb₂ with α, β ≥ 0, s(b) ≤ αs(b₁) + βs(b₂). For rank two that bounds s on the arc between b₁ and b₂,
and the arc with the largest bound is halved until bound and best value agree. The same holds of any
convex bound in place of s. s(-b) = s(b).
"""

import heapq

import numpy as np

ARCS = 8


def reduced_outputs(G) -> tuple[np.ndarray, np.ndarray]:
    """(U, G') with G = U G' and orthonormal columns of U: as few outputs as G has independent rows."""
    left, values, right = np.linalg.svd(G, full_matrices=False)
    keep = values > 1e-12 * values.max(initial=0)
    return left[:, keep], values[keep, None] * right[keep]


def best_direction(speed, tolerance=1e-6, evaluations=200) -> tuple[float, float, np.ndarray]:
    """The largest value found, an upper bound, and the unit vector b of a convex, even, homogeneous
    speed(b) in the plane.
    """
    angles = np.linspace(0, np.pi, ARCS + 1)
    values = [speed(_unit(angle)) for angle in angles[:-1]]
    values.append(values[0])
    best = max(zip(values, angles, strict=True))
    arcs = [_arc(*ends) for ends in zip(angles, angles[1:], values, values[1:], strict=False)]
    heapq.heapify(arcs)
    for _ in range(evaluations):
        bound, left, right, first, last = arcs[0]
        if -bound <= best[0] * (1 + tolerance):
            break
        middle = (left + right) / 2
        value = speed(_unit(middle))
        best = max(best, (value, middle))
        heapq.heapreplace(arcs, _arc(left, middle, first, value))
        heapq.heappush(arcs, _arc(middle, right, value, last))
    return best[0], float(max(-arcs[0][0], best[0])), _unit(best[1])


def _unit(angle):
    return np.array([np.cos(angle), np.sin(angle)])


def _arc(left, right, first, last):
    """(-bound, ends, values at the ends): the bound is that of p·b with p·b₁ = first, p·b₂ = last."""
    p = np.linalg.solve(np.array([_unit(left), _unit(right)]), np.array([first, last]))
    inside = left < np.arctan2(p[1], p[0]) % (2 * np.pi) < right
    return -(np.linalg.norm(p) if inside else max(first, last)), left, right, first, last
