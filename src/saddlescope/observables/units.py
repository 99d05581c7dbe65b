"""Norms, directions and balance of units."""

from typing import final

import jax.numpy as jnp

from saddlescope.errors import require
from saddlescope.observables.observable import Observable


def unit_weights(params):
    """One row per unit: v_i then u_i; of a deep net the first layer's u_i."""
    require("u" in params, f"This reads units (u, v), but the net has {', '.join(params)}.")
    return jnp.concatenate([params["v"], params["u"]], axis=1) if "v" in params else jnp.asarray(params["u"])


@final
class UnitNorms(Observable):
    """The norm |θ_i| of each unit θ_i = (v_i, u_i), as `unit_norm`. For a deep net: of its first
    layer."""

    name = "unit_norm"
    axes = ("unit",)

    def __call__(self, snapshot):
        return jnp.linalg.norm(unit_weights(snapshot.params), axis=1)


@final
class UnitDirections(Observable):
    """The direction θ_i / |θ_i| of each unit θ_i = (v_i, u_i), as `unit_direction`.

    A unit of zero weights has direction zero.
    """

    name = "unit_direction"
    axes = ("unit", "weight")

    def __call__(self, snapshot):
        theta = unit_weights(snapshot.params)
        norm = jnp.linalg.norm(theta, axis=1, keepdims=True)
        return theta / jnp.where(norm > 0, norm, 1.0)


@final
class Balancedness(Observable):
    """The balance |v_i|² - |u_i|² of each unit, as `balancedness`.

    Gradient flow conserves it where a unit is homogeneous of degree 1 in u, as linear and ReLU
    units are.
    """

    name = "balancedness"
    axes = ("unit",)

    def __call__(self, snapshot):
        u, v = snapshot.params["u"], snapshot.params["v"]
        return jnp.sum(v**2, axis=1) - jnp.sum(u**2, axis=1)
