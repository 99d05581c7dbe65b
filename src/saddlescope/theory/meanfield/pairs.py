"""Averages E φ(L·u) φ(L·v) over a standard Gaussian L, in closed form, with their derivatives by v.

For the leaky rectifier φ(z) = (1 − α) max(z, 0) + α z the arc-cosine kernel of degree 1 (Cho and Saul 2009) gives

    k = (1 − α)²/(2π) |u||v| (sin θ + (π − θ) cos θ) + α u·v,     θ the angle of u and v,
    ∂k/∂v = |u| [((1 − α)²/(2π) (π − θ) + α) û + (1 − α)²/(2π) sin θ v̂].

ReLU has α = 0. For erf it is the arc-sine kernel (Williams 1997), (2/π) arcsin 2u·v/√((1 + 2|u|²)(1 + 2|v|²)).

A bias is one more coordinate, whose u and v are the bias's deviation; a mixing law of deviation σ multiplies u and v by
σ. The angle comes from |û − v̂| and |û + v̂|: the arc cosine of u·v/|u||v| would lose half of the digits near 0 and π.

Scalars for numba; `kernel.py` has the same for arrays.
"""

import math

import numpy as np
from numba import njit

LEAKY, ERF = 0, 1
OPTIONS = {"cache": True, "error_model": "numpy"}


@njit(**OPTIONS)
def pair(kind, alpha, size_u, size_v, apart, together):
    """k, and the factors of û and of v̂ in ∂k/∂v.

    **Arguments:**

    - `kind`, `alpha`: LEAKY with its slope α, or ERF.
    - `size_u`, `size_v`: |u| and |v|.
    - `apart`, `together`: |û − v̂|² and |û + v̂|².
    """
    cosine, sine = (together - apart) / 4, math.sqrt(apart * together) / 2
    product = size_u * size_v
    if kind == LEAKY:
        rest = 2 * math.atan2(math.sqrt(together), math.sqrt(apart))  # π − θ
        part = (1 - alpha) ** 2 / (2 * math.pi)
        value = product * (part * (sine + rest * cosine) + alpha * cosine)
        return value, size_u * (part * rest + alpha), size_u * part * sine
    root = math.sqrt((1 + 2 * size_u**2) * (1 + 2 * size_v**2))
    s = 2 * product * cosine / root
    slope = 2 / math.pi / math.sqrt(max(1 - s * s, 1e-300))
    return 2 / math.pi * math.asin(s), slope * 2 * size_u / root, -slope * 2 * s * size_v / (1 + 2 * size_v**2)


@njit(**OPTIONS)
def single(kind, alpha, size_v):
    """Averages over one Gaussian z = L·v: μ = E φ(z), dμ/d|v|, ν = E φ'(z), dν/d|v|."""
    if kind == LEAKY:
        slope = (1 - alpha) / math.sqrt(2 * math.pi)
        return slope * size_v, slope, (1 + alpha) / 2, 0.0
    root = 1 + 2 * size_v**2
    nu = 2 / math.sqrt(math.pi * root)
    return 0.0, 0.0, nu, -2 * nu * size_v / root


@njit(**OPTIONS)
def singles(kind, alpha, sizes):
    """`single` at every |v|, as four arrays."""
    found = np.empty((4, len(sizes)))
    for i, size in enumerate(sizes):
        found[0, i], found[1, i], found[2, i], found[3, i] = single(kind, alpha, size)
    return found
