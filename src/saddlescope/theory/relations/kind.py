"""The kind of all relations between units, and what can be done with any of them."""

from abc import abstractmethod
from collections.abc import Mapping
from typing import ClassVar

import jax
import numpy as np

from saddlescope.errors import require
from saddlescope.nets.net import Params
from saddlescope.serialization.part import Part
from saddlescope.theory.properties import Properties


class Kind(Part):
    """Abstract base of the ways in which a wide net is a narrow one.

    Each kind says the same thing twice. `add` says how a fixed point of a narrow net is a fixed
    point of a wider one (Theorem 1). `project` and `reduce` say which relation between units
    gradient flow preserves, so that the wide net stays as expressive as a narrow one (Theorem 3).
    They meet in `lift`: the embedded fixed point nearest to given weights. Reference: simplicity
    paper, Theorems 1 and 3, F.3 and F.4. `theorem` is the case of the theorems, (i) to (iv).
    """

    theorem: ClassVar[str]  # (i) to (iv)

    @property
    def name(self) -> str:
        """The kind in one word."""
        return type(self).__name__.lower()

    @abstractmethod
    def fits(self, p: Properties) -> bool:
        """Whether the theorems say this of units with these properties."""

    @abstractmethod
    def add(self, narrow: Params) -> Params:
        """Theorem 1: one unit more, the same map, and a fixed point if the narrow net is at one."""

    @abstractmethod
    def project(self, params: Params, width: int) -> Params:
        """Weights near these on an invariant manifold of this effective width (Theorem 3).

        They are the nearest for silent units and spans, and the nearest that regrouping finds for
        equal units and rays.
        """

    @abstractmethod
    def reduce(self, params: Params, width: int) -> Params:
        """A net of that many units with the map of the projection (F.3)."""

    @abstractmethod
    def lift(self, narrow: Params, params: Params) -> Params:
        """The wide weights nearest to `params` that embed the narrow net, to second order in the distance."""


def embed(narrow: Params, wide: int, kind: Kind) -> Params:
    """Embed a narrow net in a wider one: Theorem 1 again and again (Corollary 2).

    **Arguments:**

    - `narrow`: The narrow net's weights {'u', 'v'}.
    - `wide`: The number of units of the wide net.
    - `kind`: How units are added, such as `Silent()`.
    """
    refuse_unless_weights(narrow)
    _refuse_unless_way(kind)
    require(
        isinstance(wide, int | np.integer),
        f"`wide`, a number of units, must be whole; got {wide!r}.",
    )
    require(
        wide >= len(narrow["u"]),
        f"{wide} units are fewer than the {len(narrow['u'])} to be embedded.",
    )
    while len(narrow["u"]) < wide:
        narrow = kind.add(narrow)
    return narrow


def manifold_residual(params: Params, kind: Kind, width: int) -> float:
    """The distance from the manifold of this kind and effective width, as a share of the weights'
    norm.

    **Arguments:**

    - `params`: The weights {'u', 'v'}.
    - `kind`: The relation between units, such as `Rays()`.
    - `width`: The effective width, from 1 to the number of units.
    """
    _refuse_unless_manifold(params, kind, width)
    theta, on = stacked(params), stacked(kind.project(params, width))
    size = np.linalg.norm(theta)
    return float(np.linalg.norm(theta - on) / size) if size else 0.0


def reduce(params: Params, kind: Kind, width: int) -> Params:
    """Reduce weights to a net of `width` units; its map is the wide net's if they lie on the
    manifold.

    **Arguments:**

    - `params`: The weights {'u', 'v'}.
    - `kind`: The relation between units, such as `Rays()`.
    - `width`: The effective width, from 1 to the number of units.
    """
    _refuse_unless_manifold(params, kind, width)
    return kind.reduce(numpy(params), width)


def _refuse_unless_way(kind):
    require(isinstance(kind, Kind), f"`kind` is Equal(), Silent(), Rays() or Span(); got {kind!r}.")


def refuse_unless_weights(params):
    """Both u and v, one row per unit, all numbers."""
    require(
        isinstance(params, Mapping) and {"u", "v"} <= {*params},
        "The weights of a net of units are {'u': …, 'v': …}.",
    )
    u, v = np.asarray(params["u"]), np.asarray(params["v"])
    require(
        u.ndim == v.ndim == 2 and len(u) == len(v) > 0,
        f"u and v must have a row for each unit, at least one; got shapes {u.shape} and {v.shape}.",
    )
    require(bool(np.isfinite(u).all() and np.isfinite(v).all()), "The weights must be finite numbers.")


def _refuse_unless_manifold(params, kind, width):
    refuse_unless_weights(params)
    _refuse_unless_way(kind)
    most = len(params["u"])
    good = isinstance(width, int | np.integer) and 0 < width <= most
    require(good, f"`width` must be a whole number between 1 and {most}; got {width!r}.")


def refuse_unless_unit(narrow, unit):
    n = len(narrow["u"])
    good = isinstance(unit, int | np.integer) and 0 <= unit < n
    require(good, f"There are {n} units, numbered from 0; there is no unit {unit!r}.")


def numpy(params) -> Params:
    return jax.tree.map(np.asarray, params)


def stacked(params) -> np.ndarray:
    """One row per unit: v_i, then u_i."""
    return np.concatenate([np.asarray(params["v"]), np.asarray(params["u"])], axis=1)


def split(theta, like) -> Params:
    n = np.shape(like["v"])[1]
    return {"u": theta[:, n:], "v": theta[:, :n]}
