"""Kernels of random features, K(x, z) = E φ(L·x + b) φ(L·z + b), for arrays of inputs.

Closed forms: Gaussian L and b with ReLU, leaky ReLU and erf (`pairs.py`); L and b uniform on ±1 in one dimension with
ReLU and leaky ReLU. Anything smooth under a Gaussian law is integrated by the trapezoidal rule: its error is
e^{−2πa/h} for a step h and a function that is analytic at a distance less than a of the real line.
"""

import numpy as np
from numba import njit

from saddlescope.errors import require
from saddlescope.nets.activation import Activation, Erf, Identity, LeakyReLU, ReLU, RoundedLeakyReLU, Sigmoid, Tanh
from saddlescope.theory.meanfield.pairs import ERF, LEAKY, pair, singles

REACH, WIDEST, MOST_NODES = 8.6, 0.25, 2001  # e^{−REACH²/2} = 1e-16
DIGITS = 34.0  # 2πa/h, where rounding is reached
CHUNK = 1 << 22  # features held at once


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
    rule = smooth_rule(activation, max(size_u.max(), size_v.max()))
    if u.shape[1] <= 2:
        return _in_the_plane(activation, u, v, rule)
    apart = np.linalg.norm(unit_u[:, None] - unit_v, axis=-1)
    together = np.linalg.norm(unit_u[:, None] + unit_v, axis=-1)
    cosine, sine = (together**2 - apart**2) / 4, apart * together / 2
    return _by_angles(activation, size_u[:, None], size_v[None], cosine, sine, rule)


def gaussian_mean(activation: Activation, v: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """E φ(g·v) and E φ'(g·v) over a standard Gaussian g, for every row of v."""
    code, size = closed_form(activation), np.linalg.norm(v, axis=1)
    if code:
        found = singles(*code, size)
        return found[0], found[2]
    z, weights = smooth_rule(activation, size.max())
    values = np.asarray(activation(size[:, None] * z))
    # E φ'(s z) = E z φ(s z) / s, by parts.
    slope = np.divide((values * z) @ weights, size, out=np.full(len(size), np.nan), where=size > 0)
    return values @ weights, slope


def smooth_rule(activation: Activation, size: float) -> tuple[np.ndarray, np.ndarray]:
    """The trapezoidal rule for φ(size · z) under a standard Gaussian z: to rounding, or 2,001 nodes."""
    known = {Tanh: np.pi / 2, Sigmoid: np.pi, RoundedLeakyReLU: getattr(activation, "width", 1.0)}
    analytic = known.get(type(activation), 1.0) / max(size, 1e-3)
    half = int(np.ceil(REACH / min(WIDEST, 2 * np.pi * analytic / DIGITS)))
    z = np.linspace(-REACH, REACH, min(2 * half + 1, MOST_NODES))
    weights = np.exp(-(z**2) / 2)
    return z, weights / weights.sum()


def _in_the_plane(activation, u, v, rule):
    """For one or two coordinates: features at all nodes of a product rule."""
    z, weights = rule
    z2, weights2 = rule if u.shape[1] == 2 else (np.zeros(1), np.ones(1))
    total = np.zeros((len(u), len(v)))
    rows = max(CHUNK // (len(z2) * max(len(u), len(v))), 1)
    for start in range(0, len(z), rows):
        first = z[start : start + rows]
        nodes = np.stack(np.meshgrid(first, z2, indexing="ij"), axis=-1).reshape(-1, 2)[:, : u.shape[1]]
        shares = np.outer(weights[start : start + rows], weights2).ravel()
        of_u, of_v = (np.asarray(activation(w @ nodes.T)) for w in (u, v))
        total += (of_u * shares) @ of_v.T
    return total


def _by_angles(activation, size_u, size_v, cosine, sine, rule):
    """E φ(|u| g) φ(|v| (cos θ g + sin θ h)), for any number of coordinates."""
    z, weights = rule
    first = np.asarray(activation(size_u[..., None] * z))
    total = np.zeros(np.broadcast_shapes(size_u.shape, size_v.shape, cosine.shape))
    for i, w in enumerate(weights):
        second = np.asarray(activation(size_v[..., None] * (cosine[..., None] * z[i] + sine[..., None] * z)))
        total += w * first[..., i] * (second @ weights)
    return total


def uniform_kernel(alpha: float, x: np.ndarray, z: np.ndarray) -> np.ndarray:
    """E φ(Lx + b) φ(Lz + b), L and b uniform on ±1, leaky rectifier of slope α, inputs in [−1, 1].

    ReLU's is (1 + xz)/6 + |x − z|³/96.
    """
    require(
        np.abs(x).max() <= 1 and np.abs(z).max() <= 1, "The uniform law's kernel needs inputs in [−1, 1]: rescale them."
    )
    relu = (1 + x[:, None] * z) / 6 + np.abs(x[:, None] - z) ** 3 / 96
    return (1 - alpha) ** 2 * relu + alpha * (1 + x[:, None] * z) / 3


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
