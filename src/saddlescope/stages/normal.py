"""Quantiles of the normal distribution, by Moshier's Cephes library: the bits of `scipy.special.ndtri`.

Importing `scipy.special` takes longer than finding the stages of most curves.
"""

from functools import lru_cache
from math import exp, log, pi, sqrt

TAIL = exp(-2)
ROOT = sqrt(2) * sqrt(pi)  # its last bit is that of Cephes; √(2π) has another
MIDDLE = (
    (-59.96335010141079, 98.00107541859997, -56.67628574690703, 13.931260938727968, -1.2391658386738125),
    (1.0, 1.9544885833814176, 4.676279128988815, 86.36024213908905, -225.46268785411937, 200.26021238006066,
     -82.03722561683334, 15.90562251262117, -1.1833162112133),
)  # fmt: skip
OUTSIDE = (
    (4.0554489230596245, 31.525109459989388, 57.16281922464213, 44.08050738932008, 14.684956192885803,
     2.1866330685079025, -0.1402560791713545, -0.03504246268278482, -0.0008574567851546854),
    (1.0, 15.779988325646675, 45.39076351288792, 41.3172038254672, 15.04253856929075, 2.504649462083094,
     -0.14218292285478779, -0.03808064076915783, -0.0009332594808954574),
)  # fmt: skip


@lru_cache(1 << 14)
def upper_quantile(share: float) -> float:
    """Φ⁻¹(1 − share), for shares from 10⁻¹³ to one half."""
    below = 1 - share
    if below <= 1 - TAIL:
        y = below - 0.5
        return (y + y * _ratio(MIDDLE, y * y)) * ROOT
    x = sqrt(-2 * log(1 - below))  # numpy's logarithm has other last bits on some processors
    return x - log(x) / x - _ratio(OUTSIDE, 1 / x)


def _ratio(polynomials, x):
    """x P(x) / Q(x)."""
    above, below = (_value(coefficients, x) for coefficients in polynomials)
    return x * above / below


def _value(coefficients, x):
    total = coefficients[0]
    for c in coefficients[1:]:
        total = total * x + c
    return total
