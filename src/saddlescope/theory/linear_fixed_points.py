"""Fixed points of two-layer linear nets."""

from itertools import combinations

import numpy as np

from saddlescope.errors import require
from saddlescope.nets.net import Params
from saddlescope.tasks.task import Moments

Set = tuple[int, ...]  # numbers of eigenvectors


class LinearFixedPoints:
    """The fixed points of a two-layer linear net (simplicity paper, Lemma 6, Eq. 40).

    Let e_k, λ_k be the eigenvectors and nonzero eigenvalues of M = Σ_yz Σ_zz⁻¹ Σ_yzᵀ, all
    different. To every set of them belongs one map: the optimum projected on the set. It is reached
    by all weights whose rows v_i lie in the span of the e_k, and u_i in that of Σ_zz⁻¹ Σ_yzᵀ e_k.
    The loss there is ⟨‖y‖²⟩ less the λ_k.

    With as many inputs as outputs, these are all the fixed points. With more inputs there are more:
    a unit with v = 0 may have any u that the residual does not see. `sets` lists the sets, as
    numbers of eigenvectors in ascending order of their eigenvalues.

    **Arguments:**

    - `moments`: The moments of the data, as `Moments.of` gives them.
    """

    def __init__(self, moments: Moments):
        self.optimum, self.floor = np.asarray(moments.optimum), float(moments.floor)
        self.gains, self.vectors = np.linalg.eigh(self.optimum @ np.asarray(moments.xx) @ self.optimum.T)
        kept = self.gains > 1e-12 * self.gains.max()
        self.gains, self.vectors, n = self.gains[kept], self.vectors[:, kept], int(kept.sum())
        self.sets = [chosen for r in range(n + 1) for chosen in combinations(range(n), r)]

    def map(self, chosen: Set) -> np.ndarray:
        """The net's map at this fixed point, output × input."""
        e = self.vectors[:, list(chosen)]
        return e @ e.T @ self.optimum

    def level(self, chosen: Set) -> float:
        """The loss at this fixed point."""
        return self.floor + float(np.delete(self.gains, list(chosen)).sum())

    def bases(self, chosen: Set) -> tuple[np.ndarray, np.ndarray]:
        """Columns that span the rows v_i and u_i."""
        e = self.vectors[:, list(chosen)]
        return e, self.optimum.T @ e

    def weights(self, chosen: Set, units: int, rng: np.random.Generator) -> Params:
        """Random weights at this fixed point: u = F (Σ_zz⁻¹ Σ_yzᵀ e)ᵀ, v = G eᵀ with Gᵀ F = 1."""
        require(len(chosen) <= units, f"{units} units cannot have a map of rank {len(chosen)}.")
        outer, inner = self.bases(chosen)
        F, G = rng.standard_normal((2, units, len(chosen)))
        F = F + G @ np.linalg.pinv(G.T @ G) @ (np.eye(len(chosen)) - G.T @ F)
        return {"u": F @ inner.T, "v": G @ outer.T}

    def outside(self, params: Params, chosen: Set) -> float:
        """The largest part of any row that lies outside the spans."""
        parts = zip((params["v"], params["u"]), self.bases(chosen), strict=True)
        return max(float(np.abs(rows - rows @ basis @ np.linalg.pinv(basis)).max(initial=0)) for rows, basis in parts)

    def nearest(self, params: Params) -> tuple[Set, float]:
        """The set whose map is closest, and the largest gap to it."""
        W = params["v"].T @ params["u"]
        return min(
            ((chosen, float(np.abs(W - self.map(chosen)).max())) for chosen in self.sets),
            key=lambda p: p[1],
        )
