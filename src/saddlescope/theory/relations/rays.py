"""Proportional units."""

from typing import ClassVar, final

import equinox as eqx
import numpy as np

from saddlescope.serialization.part import as_float, as_int
from saddlescope.theory.relations.constraint import onto_product
from saddlescope.theory.relations.groups import members, nearest_rays, unit
from saddlescope.theory.relations.kind import Kind, numpy, refuse_unless_unit, split, stacked


@final
class Rays(Kind):
    """(iii) Proportional units, where φ(x; γu) = γ φ(x; u): u_H = γ_u u_i, v_H = γ_v v_i (Eq. 6).

    With them v_i ← (1 - γ_u γ_v) v_i. Gradient flow preserves θ_i = γ θ_j. Some φ, such as ReLU,
    are homogeneous for positive factors alone; γ must then be positive. Reference: simplicity
    paper, Theorems 1 and 3, F.4.

    **Arguments:**

    - `inner`: γ_u.
    - `outer`: γ_v. The default 0.4 is γ_u / (1 + γ_u²), which puts the fixed point on the manifold
      (Eq. 29).
    - `unit`: The number i of the unit that is copied.
    - `lines`: Whether γ may be negative, so that a ray continues behind the origin; for φ homogeneous
      for every factor.
    """

    inner: float = eqx.field(default=0.5, converter=as_float)
    outer: float = eqx.field(default=0.4, converter=as_float)
    unit: int = eqx.field(default=0, static=True, converter=as_int)
    lines: bool = eqx.field(default=False, static=True)

    theorem: ClassVar[str] = "(iii)"

    def fits(self, p):
        return p.homogeneous or (p.positively and self.inner > 0 and not self.lines)

    def add(self, narrow):
        refuse_unless_unit(narrow, self.unit)
        u, v, i = np.asarray(narrow["u"]), np.array(narrow["v"]), self.unit
        new_u, new_v = self.inner * u[i], self.outer * v[i]
        v[i] = (1 - self.inner * self.outer) * v[i]
        return {"u": np.vstack([u, new_u]), "v": np.vstack([v, new_v])}

    def project(self, params, width):
        group, length, ray = nearest_rays(stacked(params), width, self.lines)
        return split(length[:, None] * ray[group], params)

    def reduce(self, params, width):
        group, length, ray = nearest_rays(stacked(params), width, self.lines)
        total = np.sqrt([np.sum(length[group == k] ** 2) for k in range(width)])
        return split(total[:, None] * ray, params)

    def lift(self, narrow, params):
        """As in `Kind`; units that would need a negative factor, which ReLU forbids, are silent."""
        params = numpy(params)
        rows = (lambda p: p["u"]) if self.lines else stacked  # of either sign, u and v may point apart
        along = rows(params) @ np.array([unit(row) for row in rows(narrow)]).T
        group = members(np.abs(along) if self.lines else along, len(narrow["u"]))
        u, v = np.zeros_like(params["u"]), np.zeros_like(params["v"])
        for k, (inner, outer) in enumerate(zip(narrow["u"], narrow["v"], strict=True)):
            if (a := np.linalg.norm(inner)) * (b := np.linalg.norm(outer)) == 0:
                continue
            mine = np.flatnonzero(group == k)
            lengths = params["u"][mine] @ inner / a, params["v"][mine] @ outer / b
            F, G = _either(*lengths, a * b) if self.lines else _ahead(*lengths, a * b)
            u[mine], v[mine] = np.outer(F, inner / a), np.outer(G, outer / b)
        return {"u": u, "v": v}


def _either(F, G, product):
    """The nearest lengths with Σ F G = product."""
    return (x[:, 0] for x in onto_product(F[:, None], G[:, None], np.array([[product]])))


def _ahead(F, G, product):
    """The nearest lengths with Σ F G = product and F ≥ 0; a unit whose F would be negative has none."""
    on, lengths = F > 0, np.zeros((2, len(F)))
    while on.any():
        f, g = _either(F[on], G[on], product)
        if np.all(f > 0) and np.isclose(f @ g, product):
            lengths[:, on] = f, g
            return lengths
        on[np.flatnonzero(on)[(f <= 0) | (f == f.min())]] = False
    lengths[:, np.argmax(F)] = np.sqrt(product)  # none is ahead: one unit carries it all
    return lengths
