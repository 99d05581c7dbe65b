"""The kind of all nets."""

from abc import abstractmethod
from typing import Any

import jax
import numpy as np

from saddlescope.serialization.part import Part
from saddlescope.tasks.task import Moments, Samples

Params = Any  # a pytree of arrays; our own nets have a dict of named arrays


class Net(Part):
    """What learns: a net draws its parameters and maps inputs to outputs.

    A net of your own needs two methods, `init` and `__call__`. Its parameters may be any pytree of arrays: a dict of
    named arrays, nested dicts, lists, an equinox module. `frozen` and `rate` go by the names of a dict.
    """

    @abstractmethod
    def init(self, rng: np.random.Generator, inputs: int, outputs: int) -> Params:
        """The initial parameters in float64; `rng` is the only source of chance."""

    @abstractmethod
    def __call__(self, params: Params, x: jax.Array | np.ndarray) -> jax.Array:
        """Outputs, one row per sample."""

    @property
    def frozen(self) -> frozenset[str]:
        """The names of parameters that keep their initial values."""
        return frozenset()

    @property
    def read_transposed(self) -> frozenset[str]:
        """The names of frozen matrices A that the net uses as x Aᵀ alone: a loop may store them so, which is faster."""
        return frozenset()

    def rate(self, name: str) -> float:
        """What the learning rate of a trained parameter is multiplied with."""
        return 1.0

    def parameter_count(self, inputs: int, outputs: int) -> int | None:
        """How many numbers the parameters hold, without drawing them; None where the net does not say."""
        return None

    # ---- Trained parameters, apart from frozen ones ----

    def trained(self, params: Params) -> Params:
        """The parameters that are trained."""
        if not isinstance(params, dict):
            return params
        frozen = self.frozen  # made anew at every access
        return {name: value for name, value in params.items() if name not in frozen}

    def merged(self, params: Params, trained: Params) -> Params:
        """All parameters, with these values of the trained ones."""
        return params | trained if isinstance(params, dict) else trained

    def rates(self, trained: Params) -> Params:
        """The rate of every trained parameter, in the same tree."""
        if not isinstance(trained, dict):
            return jax.tree.map(lambda _: 1.0, trained)
        pairs = ((name, value, self.rate(name)) for name, value in trained.items())
        return {name: jax.tree.map(lambda _, r=rate: r, value) for name, value, rate in pairs}

    # ---- What the squared error needs of the data ----

    @property
    def uses_moments(self) -> bool:
        """Whether squared error sees the data only through moments, so that the net can train on a population's."""
        return False

    def statistics(self, data: Samples | Moments) -> Samples | Moments:
        """What squared error needs of the data. By default the samples themselves."""
        return data

    def moment_loss(self, params: Params, moments: Moments) -> jax.Array:
        """The squared error from moments, of a net that uses them."""
        raise NotImplementedError
