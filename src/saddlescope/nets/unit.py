"""The kind of all units: neurons, convolution kernels, attention heads."""

from abc import abstractmethod

import jax
import numpy as np

from saddlescope.serialization.part import Part


class Unit(Part):
    """Abstract base of units φ(x; u), which layers are made of (simplicity paper, Eq. 1).

    A layer is f(x) = Σ_i φ(x; u_i) v_i. All inner weights of a unit are one row u_i, and all its
    outer weights are one row v_i. Theory and observables can therefore treat every kind of unit
    alike. Whether φ is silent at zero, homogeneous or linear is not declared here but measured: see
    `theory.properties`.

    A unit of your own is a subclass with `sizes` and `__call__`; a function alone can be wrapped in
    `CustomUnit`.
    """

    @abstractmethod
    def sizes(self, inputs: int, outputs: int) -> tuple[int, int]:
        """How many numbers u and v hold. Refuses data that the unit cannot read."""

    @abstractmethod
    def __call__(self, x: jax.Array | np.ndarray, u: jax.Array | np.ndarray) -> jax.Array:
        """φ of every sample and unit.

        The result is sample × unit where φ is a number; v then holds one weight per output. It is
        sample × unit × weight where φ is a row; the net then has one output.
        """

    def features(self, x: jax.Array | np.ndarray) -> jax.Array | np.ndarray | None:
        """z(x), one row per sample, where the net is linear in fixed features, f = W z(x).

        The loss of such a net needs the moments of z alone. None where there are no such features.
        """
        return None

    def maps(self, u: jax.Array | np.ndarray, features: int) -> jax.Array:
        """φ as a linear map of the features, unit × entry × feature; there is one entry if φ is a
        number."""
        raise NotImplementedError

    @property
    def power(self) -> int | None:
        """p where the features are x^{⊗p}, so that a population can be given by its moments; else
        None."""
        return None
