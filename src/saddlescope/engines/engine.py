"""The kind of all engines. An engine advances a run by optimiser steps; it knows nothing of schedules or files."""

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, ClassVar

import jax
import jax.numpy as jnp
import numpy as np

from saddlescope.engines.batch_order import permutations
from saddlescope.nets.net import Params
from saddlescope.serialization.part import Part, with_traced_floats

if TYPE_CHECKING:
    from saddlescope.setting import Setting


class Engine(Part):
    """How the steps of a run are computed: `Setting(engine=…)`.

    An engine says why it does not fit a setting, what a step costs beside its arithmetic, and makes the stepper that
    starts and advances a run. It is part of a run's identity: two engines agree in numbers, not in their last bits.
    """

    name: ClassVar[str]
    overhead: ClassVar[float]  # of one step, in multiplications

    @abstractmethod
    def why_not(self, setting: "Setting") -> str | None:
        """Why this engine cannot run a setting; None where it can."""

    @abstractmethod
    def begin(self, setting: "Setting") -> "Stepper":
        """What starts and advances a run of this setting."""

    def cost_per_step(self, seen: int, weights: int) -> float:
        """Multiplications of one step that sees so many samples (or features) with so many weights."""
        return seen * weights + self.overhead


class Stepper(ABC):
    """A run's compiled loop. `start` gives the state before step 0: a pytree of arrays, so it can be stored.

    **Arguments:**

    - `setting`: what is trained.
    """

    max_steps: int = 1024  # in one call; the buffer of losses has this length
    watches: bool = False  # whether `advance` takes a `Watch`, and ends a call where a rule may speak
    on_host: bool = False  # whether it does without JAX: it holds arrays of numpy, and has `channels`
    keeps: bool = False  # whether `advance` takes `keep`, a further argument

    def __init__(self, setting: "Setting"):
        self.setting = setting
        parts = setting.net, setting.loss, setting.optimiser
        self.net, self.loss_of, self.optimiser = with_traced_floats(parts, setting.precision, self._array)
        data = setting.data()
        self.data = self._cast(data)
        needed = setting.statistics(data)
        self.statistics = self.data if needed is data else self._cast(needed)  # one copy of large data
        self.batch, self.steps_per_epoch = setting.batch, setting.steps_per_epoch
        self.samples = setting.task.size or 0  # a population has none

    def initial(self) -> Params:
        """The parameters at step 0, in the precision of the run."""
        return self._cast(self.setting.initial_params())

    def _cast(self, tree):
        return jax.tree.map(lambda x: self._array(x, self.setting.precision), tree)

    @property
    def _array(self):
        return np.asarray if self.on_host else jnp.asarray

    def orders(self, step: int, n: int) -> tuple[np.ndarray, int]:
        """The orders of samples of all epochs that n steps from here touch, and the step within the first."""
        epoch, first = divmod(step, self.steps_per_epoch)
        epochs = -(-(first + n) // self.steps_per_epoch)
        start = epoch + self.setting.first_epoch
        return permutations(self.setting.batch_seed, start, epochs, self.samples), first

    @abstractmethod
    def start(self) -> Any: ...

    @abstractmethod
    def advance(self, state: Any, step: int, n: int, lr: float) -> tuple[Any, np.ndarray]:
        """The state n steps on, and the loss before each of them.

        The result does not depend on how a run is cut into calls. A stepper that `keeps` may be given a further
        argument, rising numbers of steps up to n, filled up with n. It then gives a third value, a matrix: all trained
        parameters after each of these numbers of steps, in one row. Rows after the first n mean nothing.
        """

    @abstractmethod
    def params(self, state: Any) -> Params:
        """All parameters of the net in this state."""

    def channels(self, state: Any, x: np.ndarray) -> list[np.ndarray]:
        """The output of every block of the net at inputs x, one row each. Only a stepper `on_host` has it.

        The last is the output of the net. Observables are read from it in place of a function compiled by JAX.
        """
        raise NotImplementedError

    def loss(self, state: Any) -> float:
        """The loss on all data now."""
        return float(_full_loss(self.net, self.loss_of, self.params(state), self.statistics))

    def is_finite(self, state: Any) -> bool:
        """Whether the loss on all data is finite now. An engine may know it without computing the loss."""
        return bool(np.isfinite(self.loss(state)))


def cast(tree, dtype):
    return jax.tree.map(lambda x: jnp.asarray(x, dtype), tree)


_full_loss = jax.jit(lambda net, loss, params, statistics: loss(net, params, statistics))
