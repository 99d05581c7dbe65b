"""The best speed of a two-layer net, exactly.

At depth 2 a net is Y = Σ_i b_i σ(u_i·X). With ‖W_1‖_F = ‖W_2‖_F = 1 (the best split of ‖θ‖² = 2)
its speed is at most

    s*(2) = max over unit u of ‖G σ(Xᵀu)‖,   attained by one neuron with b = -Gσ(Xᵀu)/‖Gσ(Xᵀu)‖,

since Σ_i ‖b_i‖‖u_i‖ ≤ ‖W_1‖_F ‖W_2‖_F. For one output this is Φ₂(G) of `arrangement`, with finitely
many candidates.

For several outputs ‖Gσ(Xᵀu)‖² is a quadratic form uᵀM_A u on each cone. Its maximum over unit
vectors of a cone lies inside some face, and is there an eigenvector of M_A restricted to the face's
flat. Where that eigenvalue is multiple, walking in its eigenspace keeps the value and ends at a
smaller face, because the cone is pointed. So eigenvectors of all flats and cones, and all rays,
contain the maximum.

Exact where the arrangement can be enumerated (inputs that span two or three dimensions, four with
few points). Otherwise the bound is that of `plain_bounds`, and the speed is the best of an ascent
from every point.
"""

import numpy as np

from saddlescope.theory.escape.certificates.arrangement import arrangement_of, fits, span_of
from saddlescope.theory.escape.certificates.certificate import Certificate, certify, in_unit_points, norm_bound
from saddlescope.theory.escape.certificates.plain_bounds import every_depth_bound, plain_name

ASCENT, STARTS = 50, 32  # steps; points to start from


@in_unit_points
def depth2_optimum(X, G) -> Certificate:
    """s*(2) with weights that attain it; "bounded" where the cones are too many to enumerate."""
    basis, scale = span_of(X), norm_bound(X, G)
    if fits(basis.shape[1], X.shape[1]):
        u = _best_of(basis @ _candidates(arrangement_of(X), G).T, X, G)
        speed = _speed(u, X, G)
        return certify(speed, speed, scale, "activation cones", _one_neuron(u, X, G))
    u = _best_of(_ascended(X, G), X, G)
    bound = every_depth_bound(X, G)
    return certify(_speed(u, X, G), bound, scale, plain_name(X, G), _one_neuron(u, X, G))


def _candidates(arrangement, G):
    """One unit vector per row."""
    if len(G) == 1:
        return arrangement.candidates(G[0])
    found = [arrangement.rays]
    for flat, sets in arrangement.flats:
        maps = np.einsum("on,cn,kn->cok", G, sets, flat.T @ arrangement.points)
        vectors = np.linalg.eigh(np.einsum("coj,cok->cjk", maps, maps))[1]
        units = np.swapaxes(vectors, 1, 2).reshape(-1, flat.shape[1]) @ flat.T
        found += [units, -units]
    return np.concatenate(found)


def _ascended(X, G):
    """Unit vectors, one per column: from ±x_j, the best direction for the points that are active,
    again and again.
    """
    some = X[:, :: -(-X.shape[1] // STARTS)]
    u = np.concatenate([some, -some], axis=1)
    found = [u]
    for _ in range(ASCENT):
        outputs = G @ np.maximum(X.T @ u, 0)
        steps = [X @ ((X.T @ u[:, i] > 0) * (outputs[:, i] @ G)) for i in range(u.shape[1])]
        u = np.stack(steps, axis=1)
        u = u / np.maximum(np.linalg.norm(u, axis=0), 1e-300)
        found.append(u)
    return np.concatenate(found, axis=1)


def _best_of(columns, X, G):
    length = np.linalg.norm(columns, axis=0)
    units = columns[:, length > 0] / length[length > 0]
    values = np.linalg.norm(G @ np.maximum(X.T @ units, 0), axis=0)
    return units[:, np.argmax(values)]


def _speed(u, X, G):
    return float(np.linalg.norm(G @ np.maximum(X.T @ u, 0)))


def _one_neuron(u, X, G):
    """[W_1, W_2] of one neuron, each of norm one."""
    output = -G @ np.maximum(X.T @ u, 0)
    length = np.linalg.norm(output)
    return [u[None], output[:, None] / length] if length > 0 else None
