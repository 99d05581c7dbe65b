"""Learning-rate rules. After each tick (a step of full batch, an epoch of minibatch) a rule sees the losses so far."""

import math
from abc import abstractmethod
from collections.abc import Sequence
from itertools import pairwise
from typing import ClassVar, final

import equinox as eqx
import numpy as np

from saddlescope.errors import require
from saddlescope.serialization.part import Part, as_float


class Schedule(Part):
    """How the learning rate changes. A rule is asked at the ends of epochs (full batch: after every step), and sees
    the losses so far; one with `every_step` is asked after every optimiser step, by `after_step`."""

    every_step: ClassVar[bool] = False

    def first(self, lr: float) -> float:
        """The learning rate of the first step, from the optimiser's own."""
        return lr

    @abstractmethod
    def after(self, lr: float, losses: Sequence[float], cuts: Sequence[int]) -> float:
        """The next learning rate. `cuts` are the numbers of ticks done when the rate was changed before."""

    @abstractmethod
    def quiet(self, ticks: int, cuts: Sequence[int], lr: float) -> float:
        """How many more ticks can pass, the last one included, before the rule has to be asked."""

    def window_at(self, lr: float) -> int:
        """How many losses the rule averages, if it speaks only where their mean is not below that of as many before.

        An engine can then look out for that itself. 0 is the answer of any other rule.
        """
        return 0

    def after_step(self, lr: float, steps: int, loss: float) -> float:
        """The next learning rate, of a rule with `every_step`: after so many steps, with the last one's loss."""
        return lr


@final
class Constant(Schedule):
    """The learning rate stays as it is."""

    def after(self, lr, losses, cuts):
        return lr

    def quiet(self, ticks, cuts, lr):
        return math.inf


@final
class StepDecay(Schedule):
    """Multiply the learning rate by a factor at regular times.

    **Arguments:**

    - `factor`: what the learning rate is multiplied with.
    - `every`: after how many epochs (full batch: steps).
    """

    factor: float = eqx.field(converter=as_float)
    every: int = eqx.field(static=True)

    def __check_init__(self):
        require(0 < self.factor < math.inf, f"`factor` must be positive and finite; got {self.factor}.")
        require(
            type(self.every) is int and self.every > 0,
            f"`every` must be a positive whole number of epochs, or of steps in a full-batch run; got {self.every}.",
        )

    def after(self, lr, losses, cuts):
        return lr * self.factor if len(losses) % self.every == 0 else lr

    def quiet(self, ticks, cuts, lr):
        return self.every - ticks % self.every


def _check_windows(window, patience):
    require(
        type(window) is type(patience) is int and 0 < 2 * window <= patience,
        f"`patience` must be at least 2 × `window`; got patience={patience}, window={window}.",
    )


def _stagnates(losses, cuts, window, patience):
    """After tick e, counted from 0: e ≥ `patience`, as long since the last cut (the first counts from -1), and the mean
    of the last `window` losses not below that of the window before it. With a loss that is not a number, never."""
    e, last = len(losses) - 1, (cuts[-1] - 1 if cuts else -1)
    if e < patience or e - last < patience:
        return False
    return bool(np.mean(losses[-window:]) >= np.mean(losses[-2 * window : -window]))


def _quiet_for(ticks, cuts, patience):
    earliest = max(patience, (cuts[-1] - 1 if cuts else -1) + patience) + 1
    return max(1, earliest - ticks)


@final
class HalveOnStagnation(Schedule):
    """Halve the learning rate when the loss stagnates. Valleys paper, App. A.2.

    The loss stagnates when the mean of its last `window` values is not below that of the window before.

    **Arguments:**

    - `window`: how many losses are averaged, in epochs (full batch: steps).
    - `patience`: how long a rate is kept at least; two windows or more.
    """

    window: int = eqx.field(default=10, static=True)
    patience: int = eqx.field(default=20, static=True)

    def __check_init__(self):
        _check_windows(self.window, self.patience)

    def after(self, lr, losses, cuts):
        return lr / 2 if _stagnates(losses, cuts, self.window, self.patience) else lr

    def quiet(self, ticks, cuts, lr):
        return _quiet_for(ticks, cuts, self.patience)

    def window_at(self, lr):
        return self.window


def _rates(given):
    return tuple(float(v) for v in given)


@final
class StepDownOnStagnation(Schedule):
    """Go to the next lower learning rate of a list when the loss stagnates; stay on the last. Meanfield paper, Fig. 2.

    **Arguments:**

    - `rates`: the learning rates, falling.
    - `window`, `patience`: as of `HalveOnStagnation`.
    """

    rates: tuple[float, ...] = eqx.field(converter=_rates)
    window: int = eqx.field(default=10, static=True)
    patience: int = eqx.field(default=20, static=True)

    def __check_init__(self):
        _check_windows(self.window, self.patience)
        falling = all(a > b for a, b in pairwise(self.rates))
        require(
            len(self.rates) > 0 and falling and self.rates[-1] > 0,
            f"The learning rates must be positive and fall; got {self.rates}.",
        )

    def after(self, lr, losses, cuts):
        lower = self._lower(lr)
        return lower[0] if lower and _stagnates(losses, cuts, self.window, self.patience) else lr

    def quiet(self, ticks, cuts, lr):
        return _quiet_for(ticks, cuts, self.patience) if self._lower(lr) else math.inf

    def window_at(self, lr):
        return self.window if self._lower(lr) else 0

    def _lower(self, lr):
        return [rate for rate in self.rates if rate < lr]


@final
class WarmUp(Schedule):
    """Raise the learning rate linearly over the first steps: step k of the first `steps` has lr · k / steps.

    It is asked after every optimiser step, within epochs too.

    **Arguments:**

    - `steps`: how many optimiser steps the rise takes.
    """

    steps: int = eqx.field(static=True)

    every_step = True

    def __check_init__(self):
        good = type(self.steps) is int and self.steps > 0
        require(good, f"`steps` must be a positive whole number; got {self.steps}.")

    def first(self, lr):
        return lr / self.steps

    def after(self, lr, losses, cuts):
        return lr

    def after_step(self, lr, steps, loss):
        return lr * (steps + 1) / steps if steps < self.steps else lr

    def quiet(self, ticks, cuts, lr):
        return 1 if ticks < self.steps else math.inf
