"""Losses of one residual u = ŷ − y. Each has its minimum, zero, at u = 0, and no other stationary point."""

from abc import abstractmethod
from typing import Any, final

import equinox as eqx

from saddlescope.errors import require
from saddlescope.serialization.part import Part, as_float


class Residual(Part):
    """Abstract base: ℓ(u) ≥ 0 and its derivative d = ℓ'(u), for arrays of numpy or JAX."""

    @abstractmethod
    def value(self, u) -> Any:
        """ℓ(u)."""

    @abstractmethod
    def derivative(self, u) -> Any:
        """ℓ'(u)."""


@final
class Squared(Residual):
    """ℓ(u) = u²/2."""

    def value(self, u):
        return u**2 / 2

    def derivative(self, u):
        return u


@final
class PseudoHuber(Residual):
    """ℓ(u) = δ² (√(1 + u²/δ²) − 1): convex, with a bounded derivative.

    **Arguments:**

    - `delta`: δ, where the loss turns from square to linear.
    """

    delta: float = eqx.field(default=1.0, converter=as_float)

    def __check_init__(self):
        require(self.delta > 0, f"`delta` must be positive; got {self.delta:g}.")

    def value(self, u):
        # By the conjugate: no digits are lost at small u.
        return u**2 / (1 + (1 + (u / self.delta) ** 2) ** 0.5)

    def derivative(self, u):
        return u / (1 + (u / self.delta) ** 2) ** 0.5


@final
class GemanMcClure(Residual):
    """ℓ(u) = u²/(2 (1 + u²/δ²)): bounded and not convex, yet stationary at u = 0 alone.

    **Arguments:**

    - `delta`: δ, where the loss turns from square to flat.
    """

    delta: float = eqx.field(default=1.0, converter=as_float)

    def __check_init__(self):
        require(self.delta > 0, f"`delta` must be positive; got {self.delta:g}.")

    def value(self, u):
        return u**2 / (2 * (1 + (u / self.delta) ** 2))

    def derivative(self, u):
        return u / (1 + (u / self.delta) ** 2) ** 2
