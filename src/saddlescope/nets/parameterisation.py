"""Parameterisations: how a net is drawn, multiplied and paced as its width grows."""

from abc import abstractmethod
from typing import final

import numpy as np

from saddlescope.serialization.part import Part


class Parameterisation(Part):
    """Abstract base of parameterisations of a block h ↦ c + m · C σ(A h + b) of width n.

    A and b map few numbers to n; C and c map n to few. A parameterisation says how each is drawn
    from its fan-in, the number of its inputs. It also says what m is, and what the learning rate of
    each is multiplied by.
    """

    @abstractmethod
    def wide(self, rng: np.random.Generator, shape, fan_in: int) -> np.ndarray:
        """Draw A or b."""

    @abstractmethod
    def narrow(self, rng: np.random.Generator, shape, fan_in: int) -> np.ndarray:
        """Draw C or c; their fan-in is the width."""

    def multiplier(self, width: int) -> float:
        """m, the factor of C's sum."""
        return 1.0

    def rate(self, name: str, width: int) -> float:
        """What the learning rate of A, b, C or c is multiplied by."""
        return 1.0


@final
class UniformFanIn(Parameterisation):
    """Weights and biases are uniform on ±1/√fan-in, with one learning rate, as in PyTorch's Linear.

    It fits the numbers of the valleys paper, though that paper names another.
    """

    def wide(self, rng, shape, fan_in):
        return rng.uniform(-1, 1, shape) / np.sqrt(fan_in)

    def narrow(self, rng, shape, fan_in):
        return self.wide(rng, shape, fan_in)


@final
class Gaussian(Parameterisation):
    """Weights and biases are N(0, 1/fan-in), with one learning rate: three times UniformFanIn's
    variance."""

    def wide(self, rng, shape, fan_in):
        return rng.standard_normal(shape) / np.sqrt(fan_in)

    def narrow(self, rng, shape, fan_in):
        return self.wide(rng, shape, fan_in)


@final
class MeanField(Parameterisation):
    """The mean-field parameterisation, whose training dynamics have a limit as the width n grows.

    C is N(0, 1), c is N(0, 1/n), m = 1/n, and all but c learn n times as fast. A and b are drawn as
    in `Gaussian`. Without clipping, and with C and c alone trained, descent is that of `MuP`,
    written with a multiplier. A clip acts on the gradient of C itself, which is n times smaller
    here than there: the same clip bites less.
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
    """The maximal-update parameterisation for SGD (Yang and Hu 2021).

    A and b are N(0, 1/fan-in) and learn n times as fast where they are trained. C is of deviation
    1/n and learns 1/n times as fast. With A and b frozen it is `MeanField`, except for clipping,
    which sees another gradient.
    """

    def wide(self, rng, shape, fan_in):
        return rng.standard_normal(shape) / np.sqrt(fan_in)

    def narrow(self, rng, shape, fan_in):
        return rng.standard_normal(shape) / (fan_in if len(shape) == 2 else np.sqrt(fan_in))

    def rate(self, name, width):
        return {"A": float(width), "b": float(width), "C": 1.0 / width, "c": 1.0}[name]
