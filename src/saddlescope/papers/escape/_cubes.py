"""Circles, and Example 1 in more dimensions, with their certified speeds at depth three."""

import re
from functools import cache
from itertools import product

import numpy as np

from saddlescope.theory.escape.certificates import EXACT, depth3_optimum
from saddlescope.theory.escape.certificates.depth3 import depth3_fits
from saddlescope.theory.escape.localized import circle


def points_of(data):
    """X and G by name: circle8, cube3."""
    size = int(re.sub(r"\D", "", data))
    return circle(size) if data.startswith("circle") else cube(size)


def cube(d):
    """The points ±e_k and the corners of a cube on the unit sphere; for d = 2 the octagon of Example 1."""
    corners = np.array(list(product((1, -1), repeat=d))) / np.sqrt(d)
    X = np.concatenate([np.eye(d), -np.eye(d), corners]).T
    return X, np.append(np.ones(2 * d), np.full(2**d, -2 * d / 2**d))[None]


def certified_speed(data):
    """s*(3); 0 where there are too many points and dimensions to certify it."""
    return _certified(data)  # a plain function: the identity of a job takes a cached one for a new one every time


@cache
def _certified(data):
    X, G = points_of(data)
    if not depth3_fits(X, G):
        return 0.0
    found = depth3_optimum(X, G)
    return found.speed if found.kind == EXACT else 0.0
