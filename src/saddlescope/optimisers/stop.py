"""Stop rules: when a run ends before its budget. Asked after each tick, once the schedule has spoken."""

import math
from abc import abstractmethod
from collections.abc import Sequence
from typing import final

import equinox as eqx

from saddlescope.errors import require
from saddlescope.serialization.part import Part, as_float


class StopRule(Part):
    """When a run ends before its budget. Asked at the ends of epochs (full batch: after every step), once the
    schedule has spoken; one with `every_step` is asked after every optimiser step, with that step's loss alone."""

    @property
    def every_step(self) -> bool:
        """Whether the rule is asked within an epoch."""
        return False

    @abstractmethod
    def reached(self, lr: float, losses: Sequence[float]) -> bool: ...

    @abstractmethod
    def quiet(self, lr: float) -> float:
        """How many ticks may pass at this learning rate without asking."""

    @property
    def watched_level(self) -> float:
        """The level, of a rule that speaks only where the loss of an epoch is below one; -inf of any other.

        An engine can then look out for that itself.
        """
        return -math.inf

    @property
    @abstractmethod
    def reason(self) -> str: ...


@final
class LossBelow(StopRule):
    """Stop when the loss falls below a level.

    **Arguments:**

    - `level`: the level.
    - `within_epochs`: True looks at the loss of every minibatch step, False at the mean loss of each epoch.
    """

    level: float = eqx.field(converter=as_float)
    within_epochs: bool = eqx.field(default=False, static=True)

    @property
    def every_step(self):
        return self.within_epochs

    def __check_init__(self):
        require(self.level > 0, f"The level to stop below must be positive; got {self.level}.")

    def reached(self, lr, losses):
        return losses[-1] < self.level

    def quiet(self, lr):
        return 1

    @property
    def watched_level(self):
        return -math.inf if self.within_epochs else self.level

    @property
    def reason(self):
        return f"loss below {self.level:g}"


@final
class LearningRateBelow(StopRule):
    """Stop when the learning rate falls below a level.

    **Arguments:**

    - `level`: the level.
    """

    level: float = eqx.field(converter=as_float)

    def __check_init__(self):
        require(self.level > 0, f"The learning rate to stop below must be positive; got {self.level}.")

    def reached(self, lr, losses):
        return lr < self.level

    def quiet(self, lr):
        return 1 if lr < self.level else math.inf

    @property
    def reason(self):
        return f"learning rate below {self.level:g}"
