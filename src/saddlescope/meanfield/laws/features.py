"""Laws of the first layer's frozen weights (L⁰, b): the kernel they make, and how a net draws them."""

from abc import abstractmethod
from typing import final

import equinox as eqx
import numpy as np

from saddlescope.errors import InvalidInput, require
from saddlescope.meanfield.laws.quadrature import legendre, product_rule
from saddlescope.meanfield.laws.spread import Draws
from saddlescope.nets.activation import Activation
from saddlescope.serialization.part import Part, as_float
from saddlescope.theory.meanfield.kernel import closed_form, gaussian_kernel, gaussian_mean, uniform_kernel


class FeatureLaw(Part):
    """Abstract base. Inputs have one row per point; the bias is added here."""

    @abstractmethod
    def kernel(self, activation: Activation, x: np.ndarray, z: np.ndarray) -> np.ndarray:
        """K(x, z) = E φ(L·x + b) φ(L·z + b)."""

    @abstractmethod
    def mean(self, activation: Activation, x: np.ndarray) -> np.ndarray:
        """E φ(L·x + b)."""

    @abstractmethod
    def slope(self, activation: Activation, x: np.ndarray) -> np.ndarray:
        """E (L, b) φ(L·x + b), point × (input + 1)."""

    @abstractmethod
    def draw(self, rng: Draws, count: int, inputs: int) -> np.ndarray:
        """Draw (L, b), neuron × (input + 1)."""

    @property
    @abstractmethod
    def has_bias(self) -> bool:
        """Whether b is drawn."""


def with_one(x: np.ndarray) -> np.ndarray:
    """Inputs with a last coordinate 1, for the bias."""
    return np.hstack([x, np.ones((len(x), 1))])


def check_deviations(std, bias):
    require(std > 0, f"The deviation or bound of features must be positive; got {std:g}.")
    require(bias >= 0, f"The deviation or bound of biases must not be negative; got {bias:g}.")


@final
class GaussianFeatures(FeatureLaw):
    """L and b are Gaussian with mean 0.

    **Arguments:**

    - `std`: the deviation of every coordinate of L.
    - `bias_std`: the deviation of b; 0 for no bias.
    """

    std: float = eqx.field(default=1.0, converter=as_float)
    bias_std: float = eqx.field(default=1.0, converter=as_float)

    def __check_init__(self):
        check_deviations(self.std, self.bias_std)

    @property
    def has_bias(self):
        return self.bias_std > 0

    def _deviations(self, inputs):
        return np.append(np.full(inputs, self.std), self.bias_std)

    def _scaled(self, x):
        return with_one(x) * self._deviations(x.shape[1])

    def kernel(self, activation, x, z):
        return gaussian_kernel(activation, self._scaled(x), self._scaled(z))

    def mean(self, activation, x):
        return gaussian_mean(activation, self._scaled(x))[0]

    def slope(self, activation, x):
        return gaussian_mean(activation, self._scaled(x))[1][:, None] * self._scaled(x) * self._deviations(x.shape[1])

    def draw(self, rng, count, inputs):
        return rng.standard_normal((count, inputs + 1)) * self._deviations(inputs)


@final
class SphereFeatures(FeatureLaw):
    """(L, b) is uniform on the unit sphere; for activations that are homogeneous, such as ReLU.

    **Arguments:**

    - `bias`: whether b is one of the coordinates.
    """

    bias: bool = eqx.field(default=True, static=True)

    def __check_init__(self):
        require(isinstance(self.bias, bool), f"`bias` must be True or False; got {self.bias!r}.")

    @property
    def has_bias(self):
        return self.bias

    def _gaussian(self, activation, x):
        code = closed_form(activation)
        require(
            code is not None and code[0] == 0,
            "SphereFeatures has closed forms for ReLU and leaky ReLU alone: use GaussianFeatures.",
        )
        dimension = x.shape[1] + self.bias
        return GaussianFeatures(1.0, float(self.bias)), dimension

    def kernel(self, activation, x, z):
        law, dimension = self._gaussian(activation, x)
        return law.kernel(activation, x, z) / dimension  # |g|² has mean `dimension`, and the kernel is of degree 2

    def mean(self, activation, x):
        law, dimension = self._gaussian(activation, x)
        return law.mean(activation, x) / _mean_length(dimension)

    def slope(self, activation, x):
        law, dimension = self._gaussian(activation, x)
        return law.slope(activation, x) / dimension

    def draw(self, rng, count, inputs):
        drawn = rng.standard_normal((count, inputs + 1)) * np.append(np.ones(inputs), float(self.bias))
        return drawn / np.linalg.norm(drawn, axis=1, keepdims=True)


def _mean_length(dimension):
    """E |g| of a standard Gaussian in this dimension."""
    from scipy.special import gammaln

    return np.sqrt(2) * np.exp(gammaln((dimension + 1) / 2) - gammaln(dimension / 2))


@final
class UniformFeatures(FeatureLaw):
    """L is uniform on ±bound and b on ±bias_bound, in one dimension.

    For ReLU and leaky ReLU with both bounds 1 and inputs in [−1, 1] the kernel is exact; smooth activations are
    integrated.

    **Arguments:**

    - `bound`: of |L|.
    - `bias_bound`: of |b|; 0 for no bias.
    """

    bound: float = eqx.field(default=1.0, converter=as_float)
    bias_bound: float = eqx.field(default=1.0, converter=as_float)

    def __check_init__(self):
        check_deviations(self.bound, self.bias_bound)

    @property
    def has_bias(self):
        return self.bias_bound > 0

    def _features(self, activation, x):
        code = closed_form(activation)
        if x.shape[1] != 1 or (code is not None and code[0] == 0):
            raise InvalidInput(
                "UniformFeatures needs one input, and for ReLU and leaky ReLU both bounds 1: use GaussianFeatures."
            )
        nodes, weights = product_rule((legendre(80, self.bound), legendre(80, self.bias_bound)))
        return nodes, weights, np.asarray(activation(with_one(x) @ nodes.T))

    def kernel(self, activation, x, z):
        code = closed_form(activation)
        if code and code[0] == 0 and self.bound == self.bias_bound == 1 and x.shape[1] == 1:
            return uniform_kernel(code[1], x[:, 0], z[:, 0])
        _, weights, features = self._features(activation, x)
        return features * weights @ self._features(activation, z)[2].T

    def mean(self, activation, x):
        code = closed_form(activation)
        if code and code[0] == 0 and self.bound == self.bias_bound == 1 and x.shape[1] == 1:
            return (1 - code[1]) * (3 + x[:, 0] ** 2) / 12
        _, weights, features = self._features(activation, x)
        return features @ weights

    def slope(self, activation, x):
        code = closed_form(activation)
        if code and code[0] == 0 and self.bound == self.bias_bound == 1 and x.shape[1] == 1:
            return (1 + code[1]) / 6 * with_one(x)
        nodes, weights, features = self._features(activation, x)
        return features * weights @ nodes

    def draw(self, rng, count, inputs):
        return rng.uniform(-1, 1, (count, inputs + 1)) * np.append(np.full(inputs, self.bound), self.bias_bound)
