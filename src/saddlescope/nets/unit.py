"""A unit φ(x; u), what a layer is made of: a neuron, a convolution kernel, an attention head (simplicity paper, Eq. 1).

A layer is f(x) = Σ_i φ(x; u_i) v_i. All of a unit's inner weights are one row u_i and all of its outer weights one row
v_i, so that theory and observables speak of any kind of unit alike. What φ is like (silent at zero, homogeneous,
linear) is not declared here but measured: see `theory.properties`.
"""

from abc import abstractmethod

import jax
import numpy as np

from saddlescope.serialization.part import Part


class Unit(Part):
    @abstractmethod
    def sizes(self, inputs: int, outputs: int) -> tuple[int, int]:
        """How many numbers u and v hold. Refuses data that the unit cannot read."""

    @abstractmethod
    def __call__(self, x: jax.Array | np.ndarray, u: jax.Array | np.ndarray) -> jax.Array:
        """φ of every sample and unit: sample × unit, where it is a number and v holds one weight an output; or
        sample × unit × weight, where it is a row and the net has one output."""

    def features(self, x: jax.Array | np.ndarray) -> jax.Array | np.ndarray | None:
        """z(x), one row a sample, where the net is linear in fixed features, f = W z(x): its loss then needs the
        moments of z alone. None where it is not."""
        return None

    def maps(self, u: jax.Array | np.ndarray, features: int) -> jax.Array:
        """φ as a linear map of the features, unit × entry × feature; entries are one where φ is a number."""
        raise NotImplementedError

    @property
    def power(self) -> int | None:
        """p where the features are x^{⊗p}, so that a population can be given by its moments; None where not."""
        return None
