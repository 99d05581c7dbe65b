"""What a unit is like, measured."""

from dataclasses import dataclass

import numpy as np

from saddlescope.errors import require, require_kind
from saddlescope.nets.unit import Unit
from saddlescope.numerics import reproducible

DRAWS, SMALL, ROUNDING = 16, 1e-3, 1e-9


@dataclass(frozen=True)
class Properties:
    """What a unit φ(x; u) is like (simplicity paper, Theorem 1 and Section 5).

    **Arguments:**

    - `silent`: φ(x; 0) = 0.
    - `homogeneous`: φ(x; αu) = α φ(x; u) for every factor α.
    - `positively`: The same for positive factors, at least.
    - `linear`: Homogeneous, and additive in u.
    - `odd`: φ(x; -u) = -φ(x; u).
    - `order`: φ(x; tu) ∝ t^order as t → 0: the first term of its Taylor series that does not
      vanish.
    """

    silent: bool
    homogeneous: bool
    positively: bool
    linear: bool
    odd: bool
    order: int


@reproducible()
def properties(unit: Unit, inputs: int, outputs: int = 1, seed: int = 0) -> Properties:
    """Measure what a unit is like, on random inputs and weights.

    A unit that other weights than zero can silence is not found out.

    **Arguments:**

    - `unit`: Any unit, such as `Neuron(ReLU())`.
    - `inputs`: The dimension of x.
    - `outputs`: The dimension of y.
    - `seed`: The seed of the random inputs and weights.
    """
    require_kind(
        unit,
        Unit,
        "`unit` must be one of saddlescope.nets, such as Neuron(ReLU()) or CustomUnit(f)",
    )
    count = all(isinstance(n, int | np.integer) and n > 0 for n in (inputs, outputs))
    require(
        count,
        f"`inputs` and `outputs` must be positive whole numbers; got {inputs!r} and {outputs!r}.",
    )
    rng = np.random.default_rng(seed)
    n_u, _ = unit.sizes(inputs, outputs)
    x = rng.standard_normal((DRAWS, inputs))
    a, b = rng.standard_normal((2, DRAWS, n_u))

    def phi(u):
        return np.asarray(unit(x, u))

    def same(p, q):
        return bool(np.abs(p - q).max() <= ROUNDING * max(np.abs(p).max(), np.abs(q).max(), 1e-300))

    size = np.abs(phi(a)).max()
    require(
        bool(np.isfinite(size) and size > 0),
        "The unit gives zero, or no number, for random inputs and weights.",
    )
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
