"""Activations, each a function σ of one number."""

from abc import abstractmethod
from typing import final

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from saddlescope.errors import require
from saddlescope.serialization.part import Part, as_int


class Activation(Part):
    @abstractmethod
    def __call__(self, z: jax.Array | np.ndarray) -> jax.Array: ...

    @property
    def power(self) -> int | None:
        """p where σ(z) = z^p."""
        return None


@final
class Identity(Activation):
    @property
    def power(self):
        return 1

    def __call__(self, z):
        return z


@final
class ReLU(Activation):
    """Its derivative at 0 is 0. What is not a number stays so: a run that diverges must say so."""

    def __call__(self, z):
        return jnp.where(z <= 0, 0.0, z)


@final
class LeakyReLU(Activation):
    """z where z > 0, else slope · z; its derivative at 0 is the slope."""

    slope: float = eqx.field(default=0.01, converter=float)

    def __check_init__(self):
        require(0 < self.slope < 1, f"`slope` must lie between 0 and 1; got {self.slope:g}.")

    def __call__(self, z):
        return jnp.where(z > 0, z, self.slope * z)


@final
class Tanh(Activation):
    def __call__(self, z):
        return jnp.tanh(z)


@final
class Sigmoid(Activation):
    """σ(0) = 1/2: a unit with zero weights is not a zero unit."""

    def __call__(self, z):
        return jax.nn.sigmoid(z)


@final
class Square(Activation):
    @property
    def power(self):
        return 2

    def __call__(self, z):
        return z**2


@final
class Cube(Activation):
    @property
    def power(self):
        return 3

    def __call__(self, z):
        return z**3


@final
class Sin(Activation):
    def __call__(self, z):
        return jnp.sin(z)


@final
class OneMinusCos(Activation):
    """1 - cos z, as 2 sin²(z/2), which keeps its digits near 0."""

    def __call__(self, z):
        return 2 * jnp.sin(z / 2) ** 2


@final
class TanhTimes(Activation):
    """z^times tanh z: of order times + 1 at 0."""

    times: int = eqx.field(default=1, static=True, converter=as_int)

    def __check_init__(self):
        require(
            isinstance(self.times, int) and self.times > 0,
            f"`times` must be a positive whole number; got {self.times}.",
        )

    def __call__(self, z):
        return z**self.times * jnp.tanh(z)
