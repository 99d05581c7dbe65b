"""Parameterisations: how the maps of a net are drawn, multiplied and paced as its width n grows.

A block maps h to c + m · C σ(A h + b), with A, b from few to n and C, c from n to few. A parameterisation says how each
is drawn from its fan-in (the number of its inputs), what m is, and by what the learning rate of each is multiplied.
"""

from abc import abstractmethod
from typing import final

import numpy as np

from saddlescope.serialization.part import Part


class Parameterisation(Part):
    @abstractmethod
    def wide(self, rng: np.random.Generator, shape, fan_in: int) -> np.ndarray:
        """A draw of A or b."""

    @abstractmethod
    def narrow(self, rng: np.random.Generator, shape, fan_in: int) -> np.ndarray:
        """A draw of C or c; the fan-in is the width."""

    def multiplier(self, width: int) -> float:
        return 1.0

    def rate(self, name: str, width: int) -> float:
        """Of A, b, C or c."""
        return 1.0


@final
class UniformFanIn(Parameterisation):
    """Weights and biases uniform on ±1/√fan-in, one learning rate: PyTorch's Linear. It fits the valleys paper's
    numbers, though that paper names another."""

    def wide(self, rng, shape, fan_in):
        return rng.uniform(-1, 1, shape) / np.sqrt(fan_in)

    def narrow(self, rng, shape, fan_in):
        return self.wide(rng, shape, fan_in)


@final
class Gaussian(Parameterisation):
    """Weights and biases N(0, 1/fan-in), one learning rate: three times the variance of UniformFanIn."""

    def wide(self, rng, shape, fan_in):
        return rng.standard_normal(shape) / np.sqrt(fan_in)

    def narrow(self, rng, shape, fan_in):
        return self.wide(rng, shape, fan_in)


@final
class MeanField(Parameterisation):
    """C and c are N(0, 1) and N(0, 1/n), m = 1/n, and the weights learn n times as fast; A and b as in Gaussian.

    The dynamics have a limit as the width grows. Without clipping, descent with only C and c trained is the
    maximal-update parameterisation (C of deviation 1/n, learning at rate 1/n) written with a multiplier. A clip is on
    the gradient of C itself, here n times smaller than there: the same clip bites less.
    """

    def wide(self, rng, shape, fan_in):
        return rng.standard_normal(shape) / np.sqrt(fan_in)

    def narrow(self, rng, shape, fan_in):
        return rng.standard_normal(shape) / (1.0 if len(shape) == 2 else np.sqrt(fan_in))

    def multiplier(self, width):
        return 1.0 / width

    def rate(self, name, width):
        return 1.0 if name == "c" else float(width)


@final
class MuP(Parameterisation):
    """Maximal update (Yang and Hu 2021) for SGD: A and b of variance 1/fan-in learn n times as fast, where they are
    trained; C of deviation 1/n learns 1/n times as fast. With A and b frozen it is MeanField but for clipping, which
    sees another gradient."""

    def wide(self, rng, shape, fan_in):
        return rng.standard_normal(shape) / np.sqrt(fan_in)

    def narrow(self, rng, shape, fan_in):
        return rng.standard_normal(shape) / (fan_in if len(shape) == 2 else np.sqrt(fan_in))

    def rate(self, name, width):
        return {"A": float(width), "b": float(width), "C": 1.0 / width, "c": 1.0}[name]
