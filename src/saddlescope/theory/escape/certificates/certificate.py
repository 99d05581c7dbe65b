"""What a certificate says: a speed that weights attain, a bound that no weights exceed, and why."""

from functools import wraps
from typing import NamedTuple

import numpy as np

from saddlescope.errors import require

EXACT, BOUNDED = "exact", "bounded"
ROUNDING = 1e-12  # of the norm of a point that is one
CLOSED = 1e-9  # a gap below this, relative to the bound, is rounding and the solver's tolerance


class Certificate(NamedTuple):
    """A bound on the escape speed s* of some depth, and what is known from below.

    **Arguments:**

    - `speed`: the speed that `weights` attain; 0 where none are known.
    - `bound`: s* is at most this.
    - `kind`: "exact" where both agree to rounding, else "bounded".
    - `name`: which argument gave the bound.
    - `weights`: [W_1, …, W_L] with every ‖W_ℓ‖_F = 1; None where there is no direction of positive speed.
    - `dual`: what proves the bound, in the form that the argument needs; None where it needs nothing.
    """

    speed: float
    bound: float
    kind: str
    name: str
    weights: list[np.ndarray] | None = None
    dual: object = None

    @property
    def gap(self) -> float:
        """Bound minus speed: the optimum lies between."""
        return self.bound - self.speed

    def times(self, size) -> "Certificate":
        """That of G times a positive number."""
        dual = self.dual
        if isinstance(dual, dict):
            dual = {key: (size * bound, factors) for key, (bound, factors) in dual.items()}
        return self._replace(speed=size * self.speed, bound=size * self.bound, dual=dual)


def certify(speed, bound, scale, name, weights=None, dual=None) -> Certificate:
    """A certificate whose kind follows from its gap; a speed that is rounding of `scale` is no
    escape.
    """
    bound = max(bound, speed)
    if bound <= CLOSED * scale:
        speed, weights = 0.0, None
    closed = bound - speed <= CLOSED * max(scale, bound)
    return Certificate(float(speed), float(bound), EXACT if closed else BOUNDED, name, weights, dual)


def data_of(X, G) -> tuple[np.ndarray, np.ndarray]:
    """X and G as arrays, refused where they do not fit each other."""
    X, G = np.asarray(X, float), np.atleast_2d(np.asarray(G, float))
    require(X.ndim == 2, f"X has the shape (inputs, points); got {X.shape}.")
    require(
        G.ndim == 2 and G.shape[1] == X.shape[1],
        f"G has the shape (outputs, points) with as many points as X, which has {X.shape[1]}; got {G.shape}.",
    )
    require(np.isfinite(X).all() and np.isfinite(G).all(), "X and G must be finite; some entries are not.")
    return X, G


def norm_bound(X, G) -> float:
    """s* ≤ ‖X‖_op ‖G‖_op at every depth, see `plain_bounds`."""
    return float(np.linalg.norm(X, 2) * np.linalg.norm(G, 2))


def in_unit_points(optimum):
    """An optimum of checked data, with every point and G of size one.

    A net without biases answers to a point times r > 0 by r times its answer. So x_j / r with G_j r is the same
    question, and the size of G is that of the speed. A point at zero, or without weight, says nothing: its size does
    not count.
    """

    @wraps(optimum)
    def scaled(X, G, *rest) -> Certificate:
        X, G = data_of(X, G)
        require(X.any() and G.any(), "X and G must not be all zero: there is then no direction to escape.")
        largest = np.maximum(np.abs(X).max(axis=0), 1e-300)
        sizes = largest * np.linalg.norm(X / largest, axis=0)
        sizes = np.where((sizes > 0) & (np.abs(sizes - 1) > ROUNDING), sizes, 1.0)
        G = np.where(X.any(axis=0), G * sizes, 0.0)
        require(np.isfinite(G).all(), "The sizes of X and G are too large together; scale the data.")
        size = float(np.linalg.norm(G, 2))
        if size == 0:
            return Certificate(0.0, 0.0, EXACT, "no point with a weight")
        return optimum(X / sizes, G / size, *rest).times(size)

    return scaled
