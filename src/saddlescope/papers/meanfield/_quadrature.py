"""Averages of two features by brute force, for the table of kernels: none of the closed forms is used.

Only the plane of two inputs matters. There a Gaussian has a length and an angle, a uniform point of
the sphere too. Pieces end where a feature bends, so that every piece is smooth.
"""

from functools import cache

import numpy as np

legendre = cache(np.polynomial.legendre.leggauss)


def pieces(breaks, count=120):
    """Gauss-Legendre nodes and weights on every piece between sorted breaks."""
    x, weights = legendre(count)
    low, high = np.asarray(breaks[:-1]), np.asarray(breaks[1:])
    nodes = (low + high)[:, None] / 2 + (high - low)[:, None] / 2 * x
    return nodes.ravel(), ((high - low)[:, None] / 2 * weights).ravel()


def angles_of(u, v):
    """Where the two features bend on the circle, and both inputs as (length, angle)."""
    along = u / np.linalg.norm(u)
    rest = v - (v @ along) * along
    theta = np.arctan2(np.linalg.norm(rest), v @ along)
    bends = np.mod([np.pi / 2, -np.pi / 2, theta + np.pi / 2, theta - np.pi / 2], 2 * np.pi)
    return np.unique([0.0, *bends, 2 * np.pi]), np.linalg.norm(u), np.linalg.norm(v), theta


def gaussian_average(phi, u, v):
    """E φ(g·u) φ(g·v) over a standard Gaussian g."""
    breaks, size_u, size_v, theta = angles_of(u, v)
    angle, of_angle = pieces(breaks)
    length, of_length = pieces([0, 0.5, 2, 10], 100)
    of_length = of_length * length * np.exp(-(length**2) / 2)
    first = phi(size_u * np.outer(length, np.cos(angle)))
    second = phi(size_v * np.outer(length, np.cos(angle - theta)))
    return float(of_length @ (first * second) @ of_angle / (2 * np.pi))


def sphere_average(phi, u, v):
    """The same over the unit sphere, for φ of degree 1: a coordinate plane has length² 2/D on average."""
    breaks, size_u, size_v, theta = angles_of(u, v)
    angle, of_angle = pieces(breaks)
    product = phi(size_u * np.cos(angle)) * phi(size_v * np.cos(angle - theta))
    return float(2 / len(u) * (product @ of_angle) / (2 * np.pi))


def uniform_average(phi, x, z):
    """E φ(Lx + b) φ(Lz + b) for L and b uniform on ±1 and inputs in [−1, 1]."""
    total = 0.0
    for slope, weight in zip(*pieces([-1, 0, 1], 60), strict=True):
        bends = np.clip([-slope * x, -slope * z], -1, 1)
        b, of_b = pieces(np.unique([-1.0, *bends, 1.0]), 60)
        total += weight * (phi(slope * x + b) * phi(slope * z + b)) @ of_b
    return float(total / 4)
