"""Stop rules: when a run ends before its budget. Asked after each tick, once the schedule has spoken."""

import math
from abc import abstractmethod
from collections.abc import Sequence
from typing import final

import equinox as eqx

from saddlescope.errors import require
from saddlescope.serialization.identity import Part


class StopRule(Part):
    @abstractmethod
    def reached(self, lr: float, losses: Sequence[float]) -> bool: ...

    @abstractmethod
    def quiet(self, lr: float) -> float:
        """How many ticks may pass at this learning rate without asking."""

    @property
    @abstractmethod
    def reason(self) -> str: ...


@final
class LossBelow(StopRule):
    level: float = eqx.field(converter=float)

    def __check_init__(self):
        require(self.level > 0, f"The level to stop below must be positive; got {self.level}.")

    def reached(self, lr, losses):
        return losses[-1] < self.level

    def quiet(self, lr):
        return 1

    @property
    def reason(self):
        return f"loss below {self.level:g}"


@final
class LearningRateBelow(StopRule):
    level: float = eqx.field(converter=float)

    def __check_init__(self):
        require(self.level > 0, f"The rate to stop below must be positive; got {self.level}.")

    def reached(self, lr, losses):
        return lr < self.level

    def quiet(self, lr):
        return 1 if lr < self.level else math.inf

    @property
    def reason(self):
        return f"learning rate below {self.level:g}"
