"""Units in the span of others."""

from typing import ClassVar, final

import equinox as eqx
import numpy as np

from saddlescope.errors import require
from saddlescope.serialization.part import as_float
from saddlescope.theory.relations.constraint import onto_product
from saddlescope.theory.relations.kind import Kind, numpy, split, stacked

ROUNDING = 1e-9  # of the largest singular value


def _factors(given):
    return tuple(map(as_float, given))


@final
class Span(Kind):
    """(iv) Units in a span, where φ is linear in u: u_H = Σ γ_ui u_i, v_H = Σ γ_vi v_i (Eq. 7).

    With them v_i ← v_i - γ_ui v_H. Gradient flow preserves θ_i = Σ_j γ_j θ_j: the rank of all
    weights. Reference: simplicity paper, Theorems 1 and 3, F.4.

    **Arguments:**

    - `inner`: γ_u, one number per unit; units beyond the last have 0.
    - `outer`: γ_v, one number per unit. The default is γ_u / (1 + Σ γ_u²), which puts the fixed
      point on the manifold (Eq. 31).
    """

    inner: tuple[float, ...] = eqx.field(default=(0.5,), converter=_factors)
    outer: tuple[float, ...] = eqx.field(default=(0.4,), converter=_factors)

    theorem: ClassVar[str] = "(iv)"

    def fits(self, p):
        return p.linear

    def add(self, narrow):
        u, v = numpy(narrow)["u"], numpy(narrow)["v"]
        require(
            max(len(self.inner), len(self.outer)) <= len(u),
            f"There are more factors than the {len(u)} units.",
        )
        inner, outer = (np.pad(g, (0, len(u) - len(g))) for g in (self.inner, self.outer))
        new = outer @ v
        return {"u": np.vstack([u, inner @ u]), "v": np.vstack([v - np.outer(inner, new), new])}

    def project(self, params, width):
        A, s, Bt = np.linalg.svd(stacked(params), full_matrices=False)
        return split(A[:, :width] * s[:width] @ Bt[:width], params)

    def reduce(self, params, width):
        # Σ v_i u_iᵀ is the same for Θ and for any rotation of its rows: rotate all weight into the first units.
        _, s, Bt = np.linalg.svd(stacked(params), full_matrices=False)
        return split(s[:width, None] * Bt[:width], params)

    def lift(self, narrow, params):
        params = numpy(params)
        outer, s, inner = directions(narrow, len(narrow["u"]))
        F, G = onto_product(params["u"] @ inner.T, params["v"] @ outer, np.diag(s))
        return {"u": F @ inner, "v": G @ outer.T}


def directions(params, most):
    """The map Σ v_i u_iᵀ in its singular directions, at most so many: output × r, r, r × input. What is rounding is
    left out: weights along it would be no fixed point."""
    outer, s, inner = np.linalg.svd(params["v"].T @ params["u"], full_matrices=False)
    kept = min(most, int(np.sum(s > ROUNDING * max(s[0], 1e-300))))
    return outer[:, :kept], s[:kept], inner[:kept]


def narrow_of_map(params, width):
    """A narrow net with the map of these weights, as far as so many units can have it: of weights that lie at a fixed
    point of Theorem 1, but off the manifold of Theorem 3."""
    outer, s, inner = directions(params, width)
    root = np.zeros(width)
    root[: len(s)] = np.sqrt(s)
    pad = lambda rows: np.pad(rows, ((0, width - len(rows)), (0, 0)))  # noqa: E731
    return {"u": root[:, None] * pad(inner), "v": root[:, None] * pad(outer.T)}


def without(params, unit, factors):
    """Eq. 28: the net without a unit that is Σ_j γ_j θ_j of the others, with the same map."""
    u, v = (np.delete(np.asarray(params[name]), unit, axis=0) for name in ("u", "v"))
    return {"u": u, "v": v + np.outer(factors, factors @ v)}
