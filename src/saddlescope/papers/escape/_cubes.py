"""Circles, and Example 1 in more dimensions, with their certified speeds at depth three.

`planes3` are three octagons in orthogonal planes, d = 6. With ‖W_1‖ = w_p in plane p the loss is a sum over planes of
nets of depth three, each of speed at most w_p/2; so s* ≤ √k/2 for k planes. Four neurons that each read one direction
in every plane attain it.
"""

from functools import cache
from itertools import product

import numpy as np

from saddlescope.errors import require
from saddlescope.theory.escape.certificates import EXACT, depth3_optimum
from saddlescope.theory.escape.localized import circle


def points_of(data):
    """X and G by name: circle8, cube3, planes2."""
    kind, size = _name(data)
    return {"circle": circle, "cube": cube, "planes": planes}[kind](size)


def _name(data):
    kind = data.rstrip("0123456789")
    return kind, int(data[len(kind) :])


def planes(k):
    """The octagon of Example 1 in each of k orthogonal planes."""
    X, G = circle(8)
    return np.kron(np.eye(k), X), np.tile(G, k)


def cube(d):
    """The points ±e_k and the corners of a cube on the unit sphere; for d = 2 the octagon of Example 1."""
    corners = np.array(list(product((1, -1), repeat=d))) / np.sqrt(d)
    X = np.concatenate([np.eye(d), -np.eye(d), corners]).T
    return X, np.append(np.ones(2 * d), np.full(2**d, -2 * d / 2**d))[None]


def certified_speed(data):
    """s*(3)."""
    return _certified(data)  # a plain function: the identity of a job takes a cached one for a new one every time


@cache
def _certified(data):
    kind, size = _name(data)
    found = depth3_optimum(*(circle(8) if kind == "planes" else points_of(data)))
    require(found.kind == EXACT, f"The speed of {data} is not certified.")
    return found.speed * (np.sqrt(size) if kind == "planes" else 1)
