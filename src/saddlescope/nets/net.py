"""What learns: a net draws its parameters, maps inputs to outputs, and has a squared loss.

Loss without ½: L = ⟨|y - f(x)|²⟩ (simplicity paper, Eq. 64). A net that sees the data only through some statistics may
say so: it then trains on those, at a cost that does not grow with the number of samples.
"""

from abc import abstractmethod
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from saddlescope.errors import require
from saddlescope.serialization.identity import Part
from saddlescope.tasks.task import Moments, Samples

Params = dict[str, Any]


class Net(Part):
    @abstractmethod
    def init(self, rng: np.random.Generator, inputs: int, outputs: int) -> Params:
        """The initial parameters in float64; `rng` is the only source of chance."""

    @abstractmethod
    def __call__(self, params: Params, x: jax.Array | np.ndarray) -> jax.Array:
        """Outputs, one row a sample."""

    @property
    def frozen(self) -> frozenset[str]:
        """The names of parameters that keep their initial values."""
        return frozenset()

    def rate(self, name: str) -> float:
        """What the learning rate of a trained parameter is multiplied with."""
        return 1.0

    @property
    def fused(self) -> bool:
        """Whether the fused kernel can train this net."""
        return False

    def trained(self, params: Params) -> Params:
        return {name: value for name, value in params.items() if name not in self.frozen}

    def loss_and_gradient(self, params: Params, statistics: Samples | Moments) -> tuple[jax.Array, Params]:
        """The loss, and its gradient with respect to the trained parameters."""
        return jax.value_and_grad(lambda trained: self.loss(params | trained, statistics))(self.trained(params))

    @property
    def uses_moments(self) -> bool:
        """Whether the net sees the data only through `statistics`, and so can train on population moments."""
        return False

    def statistics(self, data: Samples | Moments) -> Samples | Moments:
        """What the loss needs of the data. By default the samples themselves."""
        return data

    def loss(self, params: Params, statistics: Samples | Moments) -> jax.Array:
        """Mean over samples of the squared error, summed over outputs."""
        assert isinstance(statistics, Samples)  # a population is refused when the setting is made
        outputs = self(params, statistics.x)
        require(
            outputs.shape == statistics.y.shape,
            f"{type(self).__name__} gave outputs of shape {outputs.shape} for targets of shape {statistics.y.shape}.",
        )
        residual = statistics.y - outputs
        return jnp.mean(jnp.sum(residual**2, axis=-1))
