"""Growth of weights: what Lemma D.2 can promise, with constants.

Let |d| ≤ D, |φ₁| ≤ K₁ on the data, |φ₂'| ≤ S and |L| ≤ K_L, in a net of two blocks with ξ = 1.

*Bounded φ₂*, |φ₂| ≤ K₂ (tanh, sigmoid, erf): |w₂| grows as t at most and |w₁| as t²,

    |w₂(t) − w₂(0)| ≤ D K₂ t,     |w₁(t) − w₁(0)| ≤ D K₁ S K_L (E|w₂(0)| t + D K₂ t²/2).

*Leaky ReLU or ReLU*: |φ₂(H)| ≤ |H|, and the averages obey u̇ ≤ D K₁ K_L v, v̇ ≤ D r K₁ K_L u, for
u = max_k E|w₁| and v = E|w₂|: an exponential. It is reached while d stays near −D, for example for a
large target and a loss that is linear far away, so that no polynomial bound holds for all data.

Lemma D.2 of the meanfield paper prints a polynomial for both.
"""

from typing import NamedTuple

import numpy as np


class Sizes(NamedTuple):
    """The constants.

    **Arguments:**

    - `residual`: D.
    - `features`: K₁; `slope`: S; `mixing`: K_L.
    - `rank`: r.
    """

    residual: float
    features: float
    slope: float
    mixing: float
    rank: int


def bounded_growth(sizes: Sizes, largest: float, mean_start: float, t):
    """Bounds of |w₁(t) − w₁(0)| and |w₂(t) − w₂(0)|, for |φ₂| ≤ `largest`; E|w₂(0)| = `mean_start`."""
    second = sizes.residual * largest * t
    factor = sizes.residual * sizes.features * sizes.slope * sizes.mixing
    return factor * (mean_start * t + sizes.residual * largest * t**2 / 2), second


def leaky_growth(sizes: Sizes, first: float, second: float, t):
    """Bounds of u(t) and v(t) from u(0) and v(0), for an activation with |φ₂(z)| ≤ |z|, S = 1."""
    pull = sizes.residual * sizes.features * sizes.mixing
    rate, root = pull * np.sqrt(sizes.rank), np.sqrt(sizes.rank)
    cosh, sinh = np.cosh(rate * t), np.sinh(rate * t)
    return first * cosh + second / root * sinh, second * cosh + first * root * sinh
