"""Effective width: how many units would do. One rule for each of three kinds of unit."""

from abc import abstractmethod
from typing import final

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from saddlescope.errors import require, require_kind
from saddlescope.observables.observable import Observable
from saddlescope.observables.units import unit_weights
from saddlescope.serialization.part import Part, as_float


class WidthRule(Part):
    """Abstract base of rules that count effective units, from one row of weights per unit.

    All rules are relative to the largest weights. They are therefore meaningful once a net has left
    the origin, not before.
    """

    @abstractmethod
    def __call__(self, theta: jax.Array | np.ndarray) -> jax.Array:
        """The count, from one row per unit."""


@final
class ByRank(WidthRule):
    """Count the singular values of [V U] above `share` of the first. For units that are linear in
    u.

    **Arguments:**

    - `share`: The smallest singular value that counts, as a share of the largest. The default 0.1
      lies in the wide gap between grown and silent directions.
    """

    share: float = eqx.field(default=0.1, converter=as_float)

    def __call__(self, theta):
        values = jnp.linalg.svd(theta, compute_uv=False)
        return jnp.sum(values > self.share * values[0])


@final
class ByNorm(WidthRule):
    """Count the units with a norm above `share` of the largest. For units of order 2 and more in u.

    **Arguments:**

    - `share`: The smallest norm that counts, as a share of the largest. The default 0.1 lies in the
      wide gap between grown and silent units.
    """

    share: float = eqx.field(default=0.1, converter=as_float)

    def __call__(self, theta):
        return jnp.sum(_large(theta, self.share))


@final
class ByRays(WidthRule):
    """Count the distinct rays among the large units. For ReLU units.

    Units belong to one ray if a chain of cosines above `cosine` joins them.

    **Arguments:**

    - `share`: The smallest norm of a large unit, as a share of the largest norm.
    - `cosine`: The least cosine between two units of one ray, between 0 and 1. The default 0.98 is
      an angle of 11°.
    """

    share: float = eqx.field(default=0.1, converter=as_float)
    cosine: float = eqx.field(default=0.98, converter=as_float)

    def __check_init__(self):
        require(0 < self.cosine < 1, f"`cosine` must lie between 0 and 1; got {self.cosine}.")

    def __call__(self, theta):
        keep = _large(theta, self.share)
        norm = jnp.linalg.norm(theta, axis=1, keepdims=True)
        ray = theta / jnp.where(norm > 0, norm, 1.0)
        joined = (ray @ ray.T > self.cosine) & keep[:, None] & keep[None, :]
        for _ in range(len(theta).bit_length()):  # paths of any length: double until closed
            joined = joined | (joined.astype(int) @ joined.astype(int) > 0)
        return jnp.sum(jnp.where(keep, 1.0 / jnp.maximum(joined.sum(axis=1), 1), 0.0)).round().astype(int)


def _large(theta, share):
    norms = jnp.linalg.norm(theta, axis=1)
    return norms > share * norms.max()


@final
class EffectiveWidth(Observable):
    """How many units would do, as `effective_width`: the count of a rule on (v_i, u_i).

    For a deep net the units are those of the first layer. Reference: simplicity paper, Theorem 3.

    **Arguments:**

    - `rule`: `ByRank()` for linear units, `ByNorm()` for units of order 2 and more, `ByRays()` for
      ReLU.
    """

    rule: WidthRule

    name = "effective_width"

    def __check_init__(self):
        expected = "`rule` must be a rule such as ByRank(), ByNorm() or ByRays()"
        near = {"rank": "ByRank()", "norm": "ByNorm()", "rays": "ByRays()"}
        hint = f": write {near[self.rule]}" if isinstance(self.rule, str) and self.rule in near else ""
        require_kind(self.rule, WidthRule, expected + hint)

    def __call__(self, snapshot):
        return self.rule(unit_weights(snapshot.params))
