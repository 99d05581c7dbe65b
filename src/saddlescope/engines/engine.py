"""An engine advances a run by whole ticks. It knows nothing of schedules, observables or files; the driver does."""

from abc import ABC, abstractmethod
from typing import Any, ClassVar

import jax
import jax.numpy as jnp
import numpy as np

from saddlescope.nets.net import Params
from saddlescope.serialization.identity import with_traced_floats
from saddlescope.setting import Setting, permutation


class Engine(ABC):
    """`start` gives the state before tick 0; a state is a pytree of arrays, so it can be written and read back."""

    name: ClassVar[str]
    longest: ClassVar[int] = 1024  # ticks in one call; the buffer of losses has this length

    def __init__(self, setting: Setting):
        self.setting = setting
        dtype = jnp.dtype(setting.precision)
        self.net = with_traced_floats(setting.net, dtype)
        self.optimiser = with_traced_floats(setting.optimiser, dtype)
        data = setting.data()
        reduced = setting.batch is None and setting.reduce
        self.data = cast(data, dtype)
        self.statistics = cast(setting.net.statistics(data) if reduced else data, dtype)
        self.seed, self.batch = setting.batch_seed, setting.batch
        self.samples = setting.task.size or 0  # a population has none

    def initial(self) -> Params:
        return cast(self.setting.initial(), self.setting.precision)

    def orders(self, tick: int, n: int) -> np.ndarray:
        """The permutations of n epochs, one row each."""
        return np.stack([permutation(self.seed, tick + i, self.samples) for i in range(n)])

    @abstractmethod
    def start(self) -> Any: ...

    @abstractmethod
    def advance(self, state: Any, tick: int, n: int, lr: float) -> tuple[Any, Any]:
        """The state n ticks on, and an array of losses: one row a tick, one column a step within it.

        A loss is taken before its step. The result does not depend on how a run is cut into calls.
        """

    @abstractmethod
    def params(self, state: Any) -> Params: ...

    def loss(self, state: Any) -> float:
        """The loss on all data now."""
        return float(full_loss(self.net, self.params(state), self.statistics))


def cast(tree, dtype):
    return jax.tree.map(lambda x: jnp.asarray(x, dtype), tree)


full_loss = jax.jit(lambda net, params, statistics: net.loss(params, statistics))
