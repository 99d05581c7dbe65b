"""Activations, each a function σ of one number."""

from abc import abstractmethod
from typing import final

import equinox as eqx
import jax
import jax.numpy as jnp

from saddlescope.identity import Part
from saddlescope.refusal import refuse_unless


class Activation(Part):
    @abstractmethod
    def __call__(self, z: jax.Array) -> jax.Array: ...


@final
class Identity(Activation):
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
        refuse_unless(0 < self.slope < 1, f"`slope` must lie between 0 and 1; got {self.slope:g}.")

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
    def __call__(self, z):
        return z**2
