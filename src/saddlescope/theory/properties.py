"""What a unit φ(x; u) is like, measured on random inputs and weights (simplicity paper, Theorem 1 and Section 5).

Silent: φ(x; 0) = 0. Homogeneous of degree one: φ(x; αu) = α φ(x; u), for all α or for positive ones only. Linear: also
additive. Odd: φ(x; -u) = -φ(x; u). Order: φ(x; tu) ∝ t^order as t → 0, the first term of its Taylor series that does
not vanish. A unit that can be silenced by other weights than zero is not found out.
"""

from dataclasses import dataclass

import numpy as np

from saddlescope.errors import require, require_kind
from saddlescope.nets.unit import Unit

DRAWS, SMALL, ROUNDING = 16, 1e-3, 1e-9


@dataclass(frozen=True)
class Properties:
    silent: bool
    homogeneous: bool  # for every factor
    positively: bool  # for positive factors
    linear: bool
    odd: bool
    order: int


def properties(unit, inputs, outputs=1, seed=0) -> Properties:
    require_kind(unit, Unit, "`unit` must be one of saddlescope.nets, such as Neuron(ReLU()) or CustomUnit(f)")
    count = all(isinstance(n, int | np.integer) and n > 0 for n in (inputs, outputs))
    require(count, f"`inputs` and `outputs` must be positive whole numbers; got {inputs!r} and {outputs!r}.")
    rng = np.random.default_rng(seed)
    n_u, _ = unit.sizes(inputs, outputs)
    x = rng.standard_normal((DRAWS, inputs))
    a, b = rng.standard_normal((2, DRAWS, n_u))

    def phi(u):
        return np.asarray(unit(x, u))

    def same(p, q):
        return bool(np.abs(p - q).max() <= ROUNDING * max(np.abs(p).max(), np.abs(q).max(), 1e-300))

    size = np.abs(phi(a)).max()
    require(bool(np.isfinite(size) and size > 0), "The unit gives zero, or no number, for random inputs and weights.")
    silent = bool(np.abs(phi(0 * a)).max() <= ROUNDING * np.abs(phi(a)).max())
    positively = all(same(phi(k * a), k * phi(a)) for k in (0.37, 2.5))
    homogeneous = positively and same(phi(-1.3 * a), -1.3 * phi(a))
    additive = same(phi(a + b), phi(a) + phi(b))
    small, smaller = (np.linalg.norm(phi(t * a)) for t in (2 * SMALL, SMALL))
    require(bool(smaller > 0), "The unit is zero for all small weights: it has no first term.")
    power = float(np.log2(small / smaller))
    order = round(power)
    require(
        abs(power - order) < 0.05,
        f"Near zero the unit grows as the power {power:.2g} of its weights, which no term of a Taylor series does.",
    )
    return Properties(silent, homogeneous, positively, homogeneous and additive, same(phi(-a), -phi(a)), order)
