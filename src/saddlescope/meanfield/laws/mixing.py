"""Laws of the mixing weights (L, b) of the blocks above the first: coordinates are independent and symmetric."""

from abc import abstractmethod
from typing import final

import equinox as eqx
import numpy as np

from saddlescope.errors import InvalidInput, require
from saddlescope.meanfield.laws.features import check_deviations
from saddlescope.meanfield.laws.quadrature import (
    chi_moments,
    circle_rule,
    from_moments,
    half_legendre,
    legendre,
    product_rule,
    two_sided,
)
from saddlescope.meanfield.laws.spread import Draws
from saddlescope.serialization.part import Part, as_float
from saddlescope.theory.meanfield.kernel import hermite

MOST_NODES = 200_000
Rule = tuple[np.ndarray, np.ndarray]  # nodes and weights


class MixingLaw(Part):
    """Abstract base of mixing laws."""

    @abstractmethod
    def draw(self, rng: Draws, count: int, rank: int) -> np.ndarray:
        """Draw (L, b), neuron × (rank + 1); b is 0 where there is no bias."""

    @abstractmethod
    def rules(self, count: int, kinked: bool) -> tuple[Rule, Rule]:
        """Rules for one coordinate of L and for b, with `count` nodes or so.

        `kinked` asks for one that is exact where the activation bends at L = 0.
        """

    @property
    @abstractmethod
    def has_bias(self) -> bool:
        """Whether b is drawn."""

    def deviations(self, rank: int) -> np.ndarray | None:
        """The deviations of (L, b) where both are Gaussian; else None."""
        return None

    def nodes(self, rank: int, count: int, kinked: bool) -> Rule:
        """Nodes (L, b) and weights, with `count` nodes or so per coordinate."""
        rule, bias = self.rules(count, kinked)
        size = len(rule[0]) ** rank * len(bias[0])
        require(
            size <= MOST_NODES,
            f"Quadrature over {rank} channels would need {size:,} nodes, more than {MOST_NODES:,}: use "
            "solver='memory' (Gaussian mixing with ReLU, leaky ReLU or erf) or solver='particles'.",
        )
        return product_rule((rule,) * rank + (bias,))


@final
class GaussianMixing(MixingLaw):
    """L and b are Gaussian with mean 0. Kernels have closed forms, so that the limit is solved exactly.

    **Arguments:**

    - `std`: the deviation of every coordinate of L.
    - `bias_std`: the deviation of b; 0, the default, for no bias.
    """

    std: float = eqx.field(default=1.0, converter=as_float)
    bias_std: float = eqx.field(default=0.0, converter=as_float)

    def __check_init__(self):
        check_deviations(self.std, self.bias_std)

    @property
    def has_bias(self):
        return self.bias_std > 0

    def deviations(self, rank):
        return np.append(np.full(rank, self.std), self.bias_std)

    def draw(self, rng, count, rank):
        return rng.standard_normal((count, rank + 1)) * self.deviations(rank)

    def rules(self, count, kinked):
        x, weights = two_sided(*from_moments(chi_moments(1, 8))) if kinked and not self.has_bias else hermite(count)
        b, bias = hermite(count) if self.has_bias else (np.zeros(1), np.ones(1))
        return (self.std * x, weights), (self.bias_std * b, bias)

    def nodes(self, rank, count, kinked):
        if kinked and rank == 2 and not self.has_bias:
            nodes, weights = circle_rule(3, 16 * count)
            return np.hstack([self.std * nodes, np.zeros((len(nodes), 1))]), weights
        if kinked and rank > 2:
            raise InvalidInput(
                f"Quadrature with a kinked activation needs rank 1 or 2; got {rank}. Use solver='memory' or "
                "'particles'."
            )
        return super().nodes(rank, count, kinked)


@final
class UniformMixing(MixingLaw):
    """L is uniform on ±bound and b on ±bias_bound.

    **Arguments:**

    - `bound`: of |L_k|.
    - `bias_bound`: of |b|; 0, the default, for no bias.
    """

    bound: float = eqx.field(default=1.0, converter=as_float)
    bias_bound: float = eqx.field(default=0.0, converter=as_float)

    def __check_init__(self):
        check_deviations(self.bound, self.bias_bound)

    @property
    def has_bias(self):
        return self.bias_bound > 0

    def draw(self, rng, count, rank):
        return rng.uniform(-1, 1, (count, rank + 1)) * np.append(np.full(rank, self.bound), self.bias_bound)

    def rules(self, count, kinked):
        x = two_sided(*half_legendre(count, self.bound)) if kinked else legendre(count, self.bound)
        return x, legendre(count, self.bias_bound)


@final
class RademacherMixing(MixingLaw):
    """Every coordinate of L is ±1 with equal chance, without bias: 2^rank nodes are the law itself."""

    @property
    def has_bias(self):
        return False

    def draw(self, rng, count, rank):
        return np.hstack([rng.choice((-1.0, 1.0), (count, rank)), np.zeros((count, 1))])

    def rules(self, count, kinked):
        return (np.array([-1.0, 1.0]), np.array([0.5, 0.5])), (np.zeros(1), np.ones(1))


@final
class LaplaceMixing(MixingLaw):
    """Every coordinate of L has the two-sided exponential law of deviation `std`, without bias.

    **Arguments:**

    - `std`: the deviation of every coordinate.
    """

    std: float = eqx.field(default=1.0, converter=as_float)

    def __check_init__(self):
        check_deviations(self.std, 0.0)

    @property
    def has_bias(self):
        return False

    def draw(self, rng, count, rank):
        return np.hstack([rng.laplace(0, self.std / np.sqrt(2), (count, rank)), np.zeros((count, 1))])

    def rules(self, count, kinked):
        x, weights = np.polynomial.laguerre.laggauss(count)
        return two_sided(self.std / np.sqrt(2) * x, weights), (np.zeros(1), np.ones(1))
