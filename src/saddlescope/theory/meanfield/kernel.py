"""Kernels of random features, K(x, z) = E φ(L·x + b) φ(L·z + b), for arrays of inputs.

Closed forms: Gaussian L and b with ReLU, leaky ReLU and erf (`pairs.py`); L and b uniform on ±1 in one dimension with
ReLU and leaky ReLU. Anything smooth under a Gaussian law is integrated: `gauss_pair`.
"""

import numpy as np
from numba import njit

from saddlescope.errors import require
from saddlescope.nets.activation import Activation, Erf, Identity, LeakyReLU, ReLU
from saddlescope.theory.meanfield.pairs import ERF, LEAKY, pair, singles

NODES = 96  # Gauss-Hermite nodes per coordinate: tanh and sigmoid to 1e-12 at sizes up to 3


def closed_form(activation: Activation) -> tuple[int, float] | None:
    """The code of an activation in `pairs`, (kind, α); None where there is no closed form."""
    if isinstance(activation, Erf):
        return ERF, 0.0
    slopes = {ReLU: 0.0, Identity: 1.0, LeakyReLU: getattr(activation, "slope", None)}
    alpha = slopes.get(type(activation))
    return None if alpha is None else (LEAKY, float(alpha))


def gaussian_kernel(activation: Activation, u: np.ndarray, v: np.ndarray) -> np.ndarray:
    """E φ(g·u) φ(g·v) over a standard Gaussian g, for every row of u and every row of v."""
    code = closed_form(activation)
    unit_u, size_u = unit_rows(u)
    unit_v, size_v = unit_rows(v)
    if code:
        return _pairs(*code, unit_u, size_u, unit_v, size_v)
    apart = np.linalg.norm(unit_u[:, None] - unit_v, axis=-1)
    together = np.linalg.norm(unit_u[:, None] + unit_v, axis=-1)
    cosine, sine = (together**2 - apart**2) / 4, apart * together / 2
    return gauss_pair(activation, size_u[:, None], size_v[None], cosine, sine)


def gaussian_mean(activation: Activation, v: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """E φ(g·v) and E φ'(g·v) over a standard Gaussian g, for every row of v."""
    code, size = closed_form(activation), np.linalg.norm(v, axis=1)
    if code:
        found = singles(*code, size)
        return found[0], found[2]
    z, weights = hermite(NODES)
    values = np.asarray(activation(size[:, None] * z))
    # E φ'(s z) = E z φ(s z) / s, by parts.
    slope = np.divide((values * z) @ weights, size, out=np.full(len(size), np.nan), where=size > 0)
    return values @ weights, slope


def uniform_kernel(alpha: float, x: np.ndarray, z: np.ndarray) -> np.ndarray:
    """E φ(Lx + b) φ(Lz + b), L and b uniform on ±1, leaky rectifier of slope α, inputs in [−1, 1].

    ReLU's is (1 + xz)/6 + |x − z|³/96.
    """
    require(
        np.abs(x).max() <= 1 and np.abs(z).max() <= 1, "The uniform law's kernel needs inputs in [−1, 1]: rescale them."
    )
    relu = (1 + x[:, None] * z) / 6 + np.abs(x[:, None] - z) ** 3 / 96
    return (1 - alpha) ** 2 * relu + alpha * (1 + x[:, None] * z) / 3


def gauss_pair(activation, size_u, size_v, cosine, sine) -> np.ndarray:
    """E φ(|u| g) φ(|v| (cos θ g + sin θ h)) by Gauss-Hermite quadrature; for smooth φ."""
    z, weights = hermite(NODES)
    first = np.asarray(activation(size_u[..., None] * z))
    total = np.zeros(np.broadcast_shapes(size_u.shape, size_v.shape, cosine.shape))
    for i, w in enumerate(weights):
        second = np.asarray(activation(size_v[..., None] * (cosine[..., None] * z[i] + sine[..., None] * z)))
        total += w * first[..., i] * (second @ weights)
    return total


def hermite(count: int) -> tuple[np.ndarray, np.ndarray]:
    """Nodes and weights for a standard Gaussian."""
    z, weights = np.polynomial.hermite_e.hermegauss(count)
    return z, weights / weights.sum()


def unit_rows(v: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Every row as unit vector and size; a zero row stays zero."""
    size = np.sqrt((v**2).sum(axis=-1))
    return v / np.where(size > 0, size, 1.0)[..., None], size


@njit(cache=True, error_model="numpy")
def _pairs(kind, alpha, unit_u, size_u, unit_v, size_v):
    found = np.empty((len(size_u), len(size_v)))
    for i in range(len(size_u)):
        for j in range(len(size_v)):
            apart = ((unit_u[i] - unit_v[j]) ** 2).sum()
            together = ((unit_u[i] + unit_v[j]) ** 2).sum()
            found[i, j] = pair(kind, alpha, size_u[i], size_v[j], apart, together)[0]
    return found
