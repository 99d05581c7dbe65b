"""Activations σ of one number. They share this file because each is one line, and theory reads them
side by side."""

from abc import abstractmethod
from typing import final

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from saddlescope.errors import require
from saddlescope.serialization.part import Part, as_float, as_int


class Activation(Part):
    """Abstract base of activations: a function σ, applied to each number by itself.

    An activation of your own is a subclass with `__call__`, written in JAX. Where σ(z) = z^p, say
    so by `power`: units of that kind can then train on moments.
    """

    @abstractmethod
    def __call__(self, z: jax.Array | np.ndarray) -> jax.Array:
        """Apply σ to every entry of z."""

    @property
    def power(self) -> int | None:
        """p where σ(z) = z^p; else None."""
        return None


@final
class Identity(Activation):
    """The identity, σ(z) = z: it makes linear units."""

    @property
    def power(self):
        return 1

    def __call__(self, z):
        return z


@final
class ReLU(Activation):
    """The rectifier, σ(z) = max(z, 0), with derivative 0 at z = 0.

    NaN stays NaN, so that a run that diverges says so.
    """

    def __call__(self, z):
        return jnp.where(z <= 0, 0.0, z)


@final
class LeakyReLU(Activation):
    """The leaky rectifier: σ(z) = z where z > 0, else slope · z. Its derivative at 0 is the slope.

    **Arguments:**

    - `slope`: The slope for negative z, between 0 and 1. The default 0.01 is PyTorch's.
    """

    slope: float = eqx.field(default=0.01, converter=as_float)

    def __check_init__(self):
        require(0 < self.slope < 1, f"`slope` must lie between 0 and 1; got {self.slope:g}.")

    def __call__(self, z):
        return jnp.where(z > 0, z, self.slope * z)


@final
class Tanh(Activation):
    """The hyperbolic tangent, σ(z) = tanh z. It is odd, so that units come in mirrored pairs."""

    def __call__(self, z):
        return jnp.tanh(z)


@final
class Sigmoid(Activation):
    """The logistic function, σ(z) = 1 / (1 + e^{-z}).

    σ(0) = ½, so a unit with zero inner weights is not silent.
    """

    def __call__(self, z):
        return jax.nn.sigmoid(z)


@final
class Erf(Activation):
    """The error function, σ(z) = erf z: odd and bounded, with kernels in closed form."""

    def __call__(self, z):
        return jax.scipy.special.erf(z)


@final
class RoundedLeakyReLU(Activation):
    """A leaky rectifier without a kink: σ(z) = (1 + α)/2 z + (1 − α)/2 (√(z² + s²) − s).

    It tends to `LeakyReLU(α)` as s → 0. Gradient flow on it has no kinks to slide along.

    **Arguments:**

    - `width`: s, the width of the rounding; positive.
    - `slope`: α, the slope for negative z, between 0 and 1. The default is 0.1.
    """

    width: float = eqx.field(default=0.1, converter=as_float)
    slope: float = eqx.field(default=0.1, converter=as_float)

    def __check_init__(self):
        require(self.width > 0, f"`width` must be positive; got {self.width:g}. Use LeakyReLU for width 0.")
        require(0 < self.slope < 1, f"`slope` must lie between 0 and 1; got {self.slope:g}.")

    def __call__(self, z):
        # By the conjugate: √(z² + s²) − s loses its digits at small z.
        bend = z**2 / (jnp.sqrt(z**2 + self.width**2) + self.width)
        return (1 + self.slope) / 2 * z + (1 - self.slope) / 2 * bend


@final
class Square(Activation):
    """The square, σ(z) = z²: it makes quadratic units, which leave a saddle more slowly than linear
    ones."""

    @property
    def power(self):
        return 2

    def __call__(self, z):
        return z**2


@final
class Cube(Activation):
    """The cube, σ(z) = z³."""

    @property
    def power(self):
        return 3

    def __call__(self, z):
        return z**3


@final
class Sin(Activation):
    """The sine, σ(z) = sin z."""

    def __call__(self, z):
        return jnp.sin(z)


@final
class OneMinusCos(Activation):
    """σ(z) = 1 - cos z, which is of order 2 at 0.

    It is computed as 2 sin²(z/2), which keeps its digits near 0. Reference: simplicity paper, Fig.
    4E.
    """

    def __call__(self, z):
        return 2 * jnp.sin(z / 2) ** 2


@final
class TanhTimes(Activation):
    """σ(z) = z^times tanh z, which is of order times + 1 at 0. Reference: simplicity paper, Fig. 4F
    and 4H.

    **Arguments:**

    - `times`: The power of z before tanh, a positive whole number. The default 1 is the paper's z
      tanh z.
    """

    times: int = eqx.field(default=1, static=True, converter=as_int)

    def __check_init__(self):
        require(
            isinstance(self.times, int) and self.times > 0,
            f"`times` must be a positive whole number; got {self.times}.",
        )

    def __call__(self, z):
        return z**self.times * jnp.tanh(z)


def is_kinked(activation: Activation) -> bool:
    """Whether σ has a kink, along which gradient flow may slide."""
    return isinstance(activation, ReLU | LeakyReLU)
