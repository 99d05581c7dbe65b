"""Bounds on the speed at every depth that need no search over nets.

For weights w ≥ 0 of the points depth gains nothing: σ(Σ a_i z_i) ≤ Σ |a_i| z_i for features z ≥ 0, so that

    max over nets of Σ_j w_j σ(h_j) = Φ₂(w),   Φ₂(w) = max over unit u of |Σ_j w_j σ(u·x_j)|.

One output. The last hidden layer may have one neuron (Prop. 3.2), so Y = ±σ(h). Dropping the points where it loses,

    s*(L) ≤ max(Φ₂(G₊), Φ₂(G₋))   for every L ≥ 2.

Several outputs. Y = b σ(h) with ‖b‖ = 1, and ‖h‖ ≤ ‖X‖_op because h is a convex combination of ±σ(…) of vectors of
that size. So s* ≤ ‖X‖_op ‖Gᵀb‖ ≤ ‖X‖_op ‖G‖_op, which is never above ‖X‖_op ‖G‖_F.

Where Φ₂ itself cannot be enumerated: σ(t) = (t + |t|)/2, so by Cauchy-Schwarz

    Φ₂(w) ≤ ½‖Xw‖ + ½ √(Σ|w_j|) √(λ_max(Σ_j |w_j| x_j x_jᵀ)).
"""

import numpy as np

from saddlescope.theory.escape.certificates.arrangement import Arrangement, fits, span_of
from saddlescope.theory.escape.certificates.certificate import norm_bound


def one_neuron_bound(X, G) -> float:
    """An upper bound on s*(2) for data of any size."""
    return min(norm_bound(X, G), _halves(X, G[0])) if len(G) == 1 else norm_bound(X, G)


def one_signed_bound(X, G) -> float:
    """max(Φ₂(G₊), Φ₂(G₋)) for one output, exactly where the cones can be enumerated, else bounded."""
    parts = np.maximum(G[0], 0), np.maximum(-G[0], 0)
    if fits(span_of(X).shape[1], X.shape[1]):
        arrangement = Arrangement(X)
        return max(arrangement.maximum(part) for part in parts)
    return max(min(norm_bound(X, part[None]), _halves(X, part)) for part in parts)


def _halves(X, w):
    """½‖Xw‖ + ½ √(Σ|w|) √(λ_max(Σ |w_j| x_j x_jᵀ))."""
    spread = np.linalg.norm(X * np.sqrt(np.abs(w)), 2)
    return float(np.linalg.norm(X @ w) + np.sqrt(np.abs(w).sum()) * spread) / 2
