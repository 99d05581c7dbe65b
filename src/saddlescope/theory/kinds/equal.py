"""(i) Equal units, for any φ: u_H = u_i, v_H = γ v_i, v_i ← (1 - γ) v_i (Eq. 4); θ_i = θ_j is preserved."""

from dataclasses import dataclass

import numpy as np

from saddlescope.theory.kinds.groups import members, nearest_centres
from saddlescope.theory.kinds.kind import Kind, numpy, refuse_unless_unit, split, stacked


@dataclass(frozen=True)
class Equal(Kind):
    share: float = 0.5  # γ; ½ puts the fixed point on the manifold θ_H = θ_i (F.4)
    unit: int = 0

    theorem = "(i)"

    def fits(self, p):
        return True

    def add(self, narrow):
        refuse_unless_unit(narrow, self.unit)
        u, v, i = np.asarray(narrow["u"]), np.array(narrow["v"]), self.unit
        new = self.share * v[i]
        v[i] = (1 - self.share) * v[i]
        return {"u": np.vstack([u, u[i]]), "v": np.vstack([v, new])}

    def project(self, params, width):
        theta = stacked(params)
        group, centre = nearest_centres(theta, width)
        return split(centre[group], params)

    def reduce(self, params, width):
        theta = stacked(params)
        group, centre = nearest_centres(theta, width)
        narrow = split(centre, params)
        return narrow | {"v": narrow["v"] * np.bincount(group, minlength=width)[:, None]}

    def lift(self, narrow, params):
        params = numpy(params)
        group = members(-((params["u"][:, None] - narrow["u"][None]) ** 2).sum(-1), len(narrow["u"]))
        v = np.zeros_like(params["v"])
        for k, whole in enumerate(narrow["v"]):
            mine, size = group == k, whole @ whole
            if size:  # a unit without outer weights embeds without them
                share = params["v"][mine] @ whole / size
                v[mine] = np.outer(share + (1 - share.sum()) / mine.sum(), whole)
        return {"u": narrow["u"][group], "v": v}
