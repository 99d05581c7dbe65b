"""Learning-rate rules. After each tick (a step of full batch, an epoch of minibatch) a rule sees the losses so far."""

import math
from abc import abstractmethod
from collections.abc import Sequence
from typing import final

import equinox as eqx
import numpy as np

from saddlescope.identity import Part
from saddlescope.refusal import refuse_unless


class Schedule(Part):
    @abstractmethod
    def after(self, lr: float, losses: Sequence[float], cuts: Sequence[int]) -> float:
        """The next learning rate. `cuts` are the numbers of ticks done when the rate was changed before."""

    @abstractmethod
    def quiet(self, ticks: int, cuts: Sequence[int]) -> float:
        """How many more ticks can pass, the last one included, before the rule has to be asked."""


@final
class Constant(Schedule):
    def after(self, lr, losses, cuts):
        return lr

    def quiet(self, ticks, cuts):
        return math.inf


@final
class StepDecay(Schedule):
    """Multiply the rate by `factor` after every `every` ticks."""

    factor: float = eqx.field(converter=float)
    every: int = eqx.field(static=True)

    def __check_init__(self):
        refuse_unless(0 < self.factor < math.inf, f"`factor` must be positive and finite; got {self.factor}.")
        refuse_unless(
            type(self.every) is int and self.every > 0,
            f"`every` must be a positive number of ticks; got {self.every}.",
        )

    def after(self, lr, losses, cuts):
        return lr * self.factor if len(losses) % self.every == 0 else lr

    def quiet(self, ticks, cuts):
        return self.every - ticks % self.every


@final
class HalveOnStagnation(Schedule):
    """Halve when the mean loss of the last `window` ticks is not below that of the window before it.

    After tick e, counted from 0: only if e ≥ `patience`, and `patience` ticks after the last halving at the earliest.
    A loss that is not a number never halves. Valleys paper, training protocol.
    """

    window: int = eqx.field(default=10, static=True)
    patience: int = eqx.field(default=20, static=True)

    def __check_init__(self):
        refuse_unless(
            type(self.window) is type(self.patience) is int and 0 < 2 * self.window <= self.patience,
            f"`patience` must hold two windows; got window={self.window} and patience={self.patience}.",
        )

    def after(self, lr, losses, cuts):
        e, last = len(losses) - 1, (cuts[-1] - 1 if cuts else -1)
        if e < self.patience or e - last < self.patience:
            return lr
        recent = np.mean(losses[-self.window :])
        before = np.mean(losses[-2 * self.window : -self.window])
        return lr / 2 if recent >= before else lr

    def quiet(self, ticks, cuts):
        earliest = max(self.patience, (cuts[-1] - 1 if cuts else -1) + self.patience) + 1
        return max(1, earliest - ticks)
