"""Equal units."""

from typing import ClassVar, final

import equinox as eqx
import numpy as np

from saddlescope.serialization.part import as_float, as_int
from saddlescope.theory.relations.groups import members, nearest_centres, sides
from saddlescope.theory.relations.kind import Kind, numpy, refuse_unless_unit, split, stacked


@final
class Equal(Kind):
    """(i) Equal units, for any φ: u_H = u_i, v_H = γ v_i, v_i ← (1 - γ) v_i (Eq. 4).

    Gradient flow preserves θ_i = θ_j. Where φ is odd in u, as tanh is, (-v, -u) is the same unit as
    (v, u): units can then be equal up to the sign, which is ours. Reference: simplicity paper,
    Theorems 1 and 3, F.4.

    **Arguments:**

    - `share`: γ, the share of v_i that the new unit takes. The default ½ puts the fixed point on
      the manifold θ_H = θ_i (F.4).
    - `unit`: The number i of the unit that is copied.
    - `mirrored`: Whether units count as equal up to the sign; for odd φ alone.
    """

    share: float = eqx.field(default=0.5, converter=as_float)
    unit: int = eqx.field(default=0, static=True, converter=as_int)
    mirrored: bool = eqx.field(default=False, static=True)

    theorem: ClassVar[str] = "(i)"

    @property
    def name(self):
        return "equal up to sign" if self.mirrored else "equal"

    def fits(self, p):
        return p.odd or not self.mirrored

    def add(self, narrow):
        refuse_unless_unit(narrow, self.unit)
        u, v, i = np.asarray(narrow["u"]), np.array(narrow["v"]), self.unit
        side, new = -1.0 if self.mirrored else 1.0, self.share * v[i]
        v[i] = (1 - self.share) * v[i]
        return {"u": np.vstack([u, side * u[i]]), "v": np.vstack([v, side * new])}

    def project(self, params, width):
        group, side, centre = nearest_centres(stacked(params), width, self.mirrored)
        return split(side[:, None] * centre[group], params)

    def reduce(self, params, width):
        group, _, centre = nearest_centres(stacked(params), width, self.mirrored)
        narrow = split(centre, params)
        return narrow | {"v": narrow["v"] * np.bincount(group, minlength=width)[:, None]}

    def lift(self, narrow, params):
        params, along = numpy(params), np.asarray(params["u"]) @ narrow["u"].T
        side = sides(along, self.mirrored)
        group = members(2 * side * along - (narrow["u"] ** 2).sum(1), len(narrow["u"]))
        side = side[np.arange(len(group)), group, None]
        outer, v = side * params["v"], np.zeros_like(params["v"])
        for k, whole in enumerate(narrow["v"]):
            mine, size = group == k, whole @ whole
            if size:  # a unit without outer weights embeds without them
                share = outer[mine] @ whole / size
                v[mine] = np.outer(share + (1 - share.sum()) / mine.sum(), whole)
        return {"u": side * narrow["u"][group], "v": side * v}
