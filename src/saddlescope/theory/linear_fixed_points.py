"""Fixed points of a two-layer linear net (simplicity paper, Lemma 6, Eq. 40): all, with as many inputs as outputs.

Let e_k, λ_k be the eigenvectors and nonzero values of M = Σ_yz Σ_zz⁻¹ Σ_yzᵀ, no two alike. To every set of them belongs
one map, the optimum projected on the set; it is reached by all weights whose rows v_i lie in the span of the e_k and
u_i in that of Σ_zz⁻¹ Σ_yzᵀ e_k. The loss there is ⟨|y|²⟩ less the λ_k. With more inputs than outputs these are fixed
points still, but there are more: a unit with v = 0 may have any u that the residual does not see.
"""

from itertools import combinations

import numpy as np

from saddlescope.errors import require


class LinearFixedPoints:
    """Of given moments; `sets` are the sets of eigenvectors, as numbers in ascending order of their eigenvalues."""

    def __init__(self, moments):
        self.optimum, self.floor = np.asarray(moments.optimum), float(moments.floor)
        self.gains, self.vectors = np.linalg.eigh(self.optimum @ np.asarray(moments.xx) @ self.optimum.T)
        kept = self.gains > 1e-12 * self.gains.max()
        self.gains, self.vectors, n = self.gains[kept], self.vectors[:, kept], int(kept.sum())
        self.sets = [chosen for r in range(n + 1) for chosen in combinations(range(n), r)]

    def map(self, chosen):
        e = self.vectors[:, list(chosen)]
        return e @ e.T @ self.optimum

    def level(self, chosen):
        return self.floor + float(np.delete(self.gains, list(chosen)).sum())

    def bases(self, chosen):
        """Columns that span the rows v_i and u_i."""
        e = self.vectors[:, list(chosen)]
        return e, self.optimum.T @ e

    def weights(self, chosen, units, rng):
        """Random weights at this fixed point: u = F (Σ_zz⁻¹ Σ_yzᵀ e)ᵀ, v = G eᵀ with Gᵀ F = 1."""
        require(len(chosen) <= units, f"{units} units cannot have a map of rank {len(chosen)}.")
        outer, inner = self.bases(chosen)
        F, G = rng.standard_normal((2, units, len(chosen)))
        F = F + G @ np.linalg.pinv(G.T @ G) @ (np.eye(len(chosen)) - G.T @ F)
        return {"u": F @ inner.T, "v": G @ outer.T}

    def outside(self, params, chosen):
        """The largest part of any row that lies outside the spans."""
        parts = zip((params["v"], params["u"]), self.bases(chosen), strict=True)
        return max(float(np.abs(rows - rows @ basis @ np.linalg.pinv(basis)).max(initial=0)) for rows, basis in parts)

    def nearest(self, params):
        """The set whose map is closest, and the largest gap to it."""
        W = params["v"].T @ params["u"]
        return min(((chosen, float(np.abs(W - self.map(chosen)).max())) for chosen in self.sets), key=lambda p: p[1])
