"""Bounds on the speed at every depth that need no search over nets.

For weights w ≥ 0 of the points depth gains nothing: σ(Σ a_i z_i) ≤ Σ |a_i| z_i for features z ≥ 0,
so that

    max over nets of Σ_j w_j σ(h_j) = Φ₂(w),   Φ₂(w) = max over unit u of |Σ_j w_j σ(u·x_j)|.

One output. The last hidden layer may have one neuron (Prop. 3.2), so Y = ±σ(h). Dropping the points
where it loses,

    s*(L) ≤ max(Φ₂(G₊), Φ₂(G₋))   for every L ≥ 2.

Several outputs. Y = b σ(h) with ‖b‖ = 1, so s* ≤ Φ₂(‖G_1‖, …, ‖G_N‖). Also ‖h‖ ≤ ‖X‖_op, because h
is a convex combination of ±σ(…) of vectors of that size. So s* ≤ ‖X‖_op ‖Gᵀb‖ ≤ ‖X‖_op ‖G‖_op,
which is never above ‖X‖_op ‖G‖_F.

Where Φ₂ itself cannot be enumerated: σ(t) = (t + |t|)/2, so for w ≥ 0, by Cauchy-Schwarz,

    Φ₂(w) ≤ ½‖Xw‖ + ½ √(Σ w_j) √(λ_max(Σ_j w_j x_j x_jᵀ)).
"""

import numpy as np

from saddlescope.theory.escape.certificates.arrangement import arrangement_of, fits, span_of
from saddlescope.theory.escape.certificates.certificate import norm_bound

ONE_SIGN, NORMS = "weights of one sign", "norms of the data"


def every_depth_bound(X, G) -> float:
    """An upper bound on s*(L) for every L ≥ 2 and data of any size."""
    bound = max(_one_signed_maximum(X, w) for w in _sides(G))
    return bound if len(G) == 1 else min(norm_bound(X, G), bound)


def plain_name(X, G) -> str:
    """Why `every_depth_bound` holds: by the cones of the data, or by their norms alone."""
    return ONE_SIGN if all(enumerable(X[:, w > 0]) for w in _sides(G) if w.any()) else NORMS


def enumerable(X) -> bool:
    """Whether the cones of these points can be enumerated."""
    return fits(span_of(X).shape[1], X.shape[1])


def _sides(G):
    """Weights w ≥ 0 of the points: of both signs of one output, or the sizes of several."""
    return [np.maximum(G[0], 0), np.maximum(-G[0], 0)] if len(G) == 1 else [np.linalg.norm(G, axis=0)]


def _one_signed_maximum(X, w):
    """Φ₂(w) for w ≥ 0: exact where the cones can be enumerated, else bounded from above."""
    used = w > 0
    if not used.any():
        return 0.0
    if enumerable(X):  # all points: other weights of them then need no other cones
        return arrangement_of(X).one_signed_maximum(w)
    X, w = X[:, used], w[used]
    if enumerable(X):
        return arrangement_of(X).one_signed_maximum(w)
    spread = np.linalg.norm(X * np.sqrt(w), 2)
    halves = (np.linalg.norm(X @ w) + np.sqrt(w.sum()) * spread) / 2
    return float(min(halves, norm_bound(X, w[None])))
