"""Activations, each a function σ of one number."""

from abc import abstractmethod
from typing import final

import jax
import jax.numpy as jnp

from saddlescope.identity import Part


class Activation(Part):
    @abstractmethod
    def __call__(self, z: jax.Array) -> jax.Array: ...


@final
class Identity(Activation):
    def __call__(self, z):
        return z


@final
class ReLU(Activation):
    """Its derivative at 0 is 0."""

    def __call__(self, z):
        return jnp.where(z > 0, z, 0.0)


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
