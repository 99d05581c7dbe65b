"""Effective width: how many units would do. Three rules, for three kinds of unit.

All are relative to the largest weights, so they speak once a net has left the origin, not before.
"""

from abc import abstractmethod
from typing import final

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from saddlescope.errors import require
from saddlescope.observables.observable import Observable
from saddlescope.observables.units import unit_weights
from saddlescope.serialization.part import Part


class WidthRule(Part):
    @abstractmethod
    def __call__(self, theta: jax.Array | np.ndarray) -> jax.Array:
        """The count, from one row a unit."""


@final
class ByRank(WidthRule):
    """Singular values of [V U] above `share` of the first. For units linear in u."""

    share: float = eqx.field(default=0.1, converter=float)

    def __call__(self, theta):
        values = jnp.linalg.svd(theta, compute_uv=False)
        return jnp.sum(values > self.share * values[0])


@final
class ByNorm(WidthRule):
    """Units with a norm above `share` of the largest. For units of order 2 and more in u."""

    share: float = eqx.field(default=0.1, converter=float)

    def __call__(self, theta):
        return jnp.sum(large(theta, self.share))


@final
class ByRays(WidthRule):
    """Distinct rays among the large units: groups joined by cosines above `cosine`. For ReLU units."""

    share: float = eqx.field(default=0.1, converter=float)
    cosine: float = eqx.field(default=0.98, converter=float)

    def __check_init__(self):
        require(0 < self.cosine < 1, f"`cosine` must lie between 0 and 1; got {self.cosine}.")

    def __call__(self, theta):
        keep = large(theta, self.share)
        norm = jnp.linalg.norm(theta, axis=1, keepdims=True)
        ray = theta / jnp.where(norm > 0, norm, 1.0)
        joined = (ray @ ray.T > self.cosine) & keep[:, None] & keep[None, :]
        for _ in range(len(theta).bit_length()):  # paths of any length: double until closed
            joined = joined | (joined.astype(int) @ joined.astype(int) > 0)
        return jnp.sum(jnp.where(keep, 1.0 / jnp.maximum(joined.sum(axis=1), 1), 0.0)).round().astype(int)


def large(theta, share):
    norms = jnp.linalg.norm(theta, axis=1)
    return norms > share * norms.max()


@final
class EffectiveWidth(Observable):
    rule: WidthRule

    name = "effective_width"

    def __call__(self, snapshot):
        return self.rule(unit_weights(snapshot.params))
