"""Learning-rate rules. After each tick (a step of full batch, an epoch of minibatch) a rule sees the losses so far."""

import math
from abc import abstractmethod
from collections.abc import Sequence
from itertools import pairwise
from typing import final

import equinox as eqx
import numpy as np

from saddlescope.errors import require
from saddlescope.serialization.identity import Part


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
        require(0 < self.factor < math.inf, f"`factor` must be positive and finite; got {self.factor}.")
        require(
            type(self.every) is int and self.every > 0,
            f"`every` must be a positive number of ticks; got {self.every}.",
        )

    def after(self, lr, losses, cuts):
        return lr * self.factor if len(losses) % self.every == 0 else lr

    def quiet(self, ticks, cuts):
        return self.every - ticks % self.every


def check_windows(window, patience):
    require(
        type(window) is type(patience) is int and 0 < 2 * window <= patience,
        f"`patience` must hold two windows; got window={window} and patience={patience}.",
    )


def stagnates(losses, cuts, window, patience):
    """After tick e, counted from 0: e ≥ `patience`, as long since the last cut (the first counts from -1), and the mean
    of the last `window` losses not below that of the window before it. With a loss that is not a number, never."""
    e, last = len(losses) - 1, (cuts[-1] - 1 if cuts else -1)
    if e < patience or e - last < patience:
        return False
    return bool(np.mean(losses[-window:]) >= np.mean(losses[-2 * window : -window]))


def quiet_for(ticks, cuts, patience):
    earliest = max(patience, (cuts[-1] - 1 if cuts else -1) + patience) + 1
    return max(1, earliest - ticks)


@final
class HalveOnStagnation(Schedule):
    """Halve when the loss stagnates. Valleys paper, App. A.2."""

    window: int = eqx.field(default=10, static=True)
    patience: int = eqx.field(default=20, static=True)

    def __check_init__(self):
        check_windows(self.window, self.patience)

    def after(self, lr, losses, cuts):
        return lr / 2 if stagnates(losses, cuts, self.window, self.patience) else lr

    def quiet(self, ticks, cuts):
        return quiet_for(ticks, cuts, self.patience)


def rungs(given):
    return tuple(float(v) for v in given)


@final
class StepDownOnStagnation(Schedule):
    """Go to the next lower rate of a list when the loss stagnates; stay on the last. Meanfield paper, Fig. 2."""

    rates: tuple[float, ...] = eqx.field(converter=rungs)
    window: int = eqx.field(default=10, static=True)
    patience: int = eqx.field(default=20, static=True)

    def __check_init__(self):
        check_windows(self.window, self.patience)
        falling = all(a > b for a, b in pairwise(self.rates))
        require(
            len(self.rates) > 0 and falling and self.rates[-1] > 0,
            f"The rates of a ladder must be positive and fall from rung to rung; got {self.rates}.",
        )

    def after(self, lr, losses, cuts):
        lower = [rate for rate in self.rates if rate < lr]
        return lower[0] if lower and stagnates(losses, cuts, self.window, self.patience) else lr

    def quiet(self, ticks, cuts):
        return quiet_for(ticks, cuts, self.patience)
