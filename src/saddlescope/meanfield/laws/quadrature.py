"""Rules for averages over a law: nodes and weights that sum to one."""

from functools import reduce
from math import gamma

import numpy as np


def legendre(count: int, bound: float) -> tuple[np.ndarray, np.ndarray]:
    """Uniform on ±bound; a bound of 0 is one node."""
    if bound == 0:
        return np.zeros(1), np.ones(1)
    x, weights = np.polynomial.legendre.leggauss(count)
    return bound * x, weights / 2


def two_sided(x: np.ndarray, weights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """A rule of |L| made one of a symmetric L: exact for functions that bend at 0."""
    return np.concatenate([-x[::-1], x]), np.concatenate([weights[::-1], weights]) / 2


def half_legendre(count: int, bound: float) -> tuple[np.ndarray, np.ndarray]:
    """Uniform on [0, bound]."""
    x, weights = np.polynomial.legendre.leggauss(count)
    return bound * (x + 1) / 2, weights / 2


def from_moments(moments: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The Gauss rule of a law on [0, ∞) with these moments E ρ^0 … E ρ^(2n−1): n nodes, for n up to about 6."""
    n = len(moments) // 2
    hankel = np.array([[moments[i + j] for j in range(n)] for i in range(n)])
    last = -np.linalg.solve(hankel, moments[n : 2 * n])
    nodes = np.sort(np.roots(np.append(1.0, last[::-1])).real)
    return nodes, np.linalg.solve(np.vander(nodes, n, increasing=True).T, moments[:n])


def chi_moments(dimension: int, count: int) -> np.ndarray:
    """E |g|^k for k < count, g a standard Gaussian of this dimension."""
    return np.array([2 ** (k / 2) * gamma((dimension + k) / 2) / gamma(dimension / 2) for k in range(count)])


def circle_rule(radial: int, angles: int) -> tuple[np.ndarray, np.ndarray]:
    """A standard Gaussian in the plane: a Gauss rule of its length times equal angles.

    The length's rule is exact; kinks on rays cost 1/angles².
    """
    length, weights = from_moments(chi_moments(2, 2 * radial))
    theta = 2 * np.pi * (np.arange(angles) + 0.5) / angles
    nodes = length[:, None, None] * np.stack([np.cos(theta), np.sin(theta)], axis=-1)
    return nodes.reshape(-1, 2), np.repeat(weights / angles, angles)


def product_rule(rules) -> tuple[np.ndarray, np.ndarray]:
    """The product of rules in one dimension each: node × coordinate, and weights."""
    grids = np.meshgrid(*(x for x, _ in rules), indexing="ij")
    weights = reduce(np.multiply.outer, (w for _, w in rules))
    return np.stack([g.ravel() for g in grids], axis=1), weights.ravel()
