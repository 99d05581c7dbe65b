"""Silent units."""

from typing import ClassVar, final

import numpy as np
import scipy  # its parts are imported when first used

from saddlescope.theory.relations.kind import Kind, numpy, split, stacked


@final
class Silent(Kind):
    """(ii) Silent units, where φ(x; 0) = 0: u_H = 0, v_H = 0 (Eq. 5).

    Gradient flow keeps a unit of zero weights at zero. Reference: simplicity paper, Theorems 1 and
    3.
    """

    theorem: ClassVar[str] = "(ii)"

    def fits(self, p):
        return p.silent

    def add(self, narrow):
        return {name: np.vstack([w, np.zeros_like(w[:1])]) for name, w in numpy(narrow).items()}

    def project(self, params, width):
        theta = stacked(params)
        kept = np.zeros_like(theta)
        large = _largest(theta, width)
        kept[large] = theta[large]
        return split(kept, params)

    def reduce(self, params, width):
        theta = stacked(params)
        return split(theta[_largest(theta, width)], params)

    def lift(self, narrow, params):
        theta, units = stacked(params), stacked(narrow)
        large = _largest(theta, len(units))
        mine, theirs = scipy.optimize.linear_sum_assignment(((theta[large][:, None] - units[None]) ** 2).sum(-1))
        lifted = np.zeros_like(theta)
        lifted[large[mine]] = units[theirs]
        return split(lifted, params)


def _largest(theta, width):
    """The largest units, in their own order."""
    return np.sort(np.argsort(-(theta**2).sum(1), kind="stable")[:width])
