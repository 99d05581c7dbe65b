"""Losses at a saved instant."""

from typing import final

import equinox as eqx

from saddlescope.errors import InvalidInput, require
from saddlescope.observables.observable import Observable
from saddlescope.serialization.part import as_int
from saddlescope.tasks.task import Moments, Samples


@final
class FullLoss(Observable):
    """The loss on all data at a saved instant. (The loss of every step or epoch is kept anyway, as `loss`.)"""

    name = "full_loss"
    by_engine = True

    def __call__(self, snapshot):
        return snapshot.full_loss()


@final
class LossOnFirst(Observable):
    """The loss on the first samples of the training data, the same ones at every instant.

    Cheaper than all data, and without the noise of batches, which looks like drops.

    **Arguments:**

    - `samples`: how many; all where the data has fewer.
    """

    samples: int = eqx.field(static=True, converter=as_int)

    name = "loss_on_first"

    def __check_init__(self):
        good = type(self.samples) is int and self.samples > 0
        require(good, f"`samples` must be a positive whole number; got {self.samples!r}.")

    def __call__(self, snapshot):
        data = snapshot.data
        if isinstance(data, Moments):
            raise InvalidInput("`LossOnFirst` needs samples, but the task is a population; give it `samples`.")
        return snapshot.loss_at(snapshot.params, Samples(data.x[: self.samples], data.y[: self.samples]))


@final
class HeldOutLoss(Observable):
    """The loss on samples that are not trained on: those of `Task.held_out`."""

    name = "held_out_loss"

    @property
    def uses_held_out(self):
        return True

    def __call__(self, snapshot):
        if snapshot.held_out is None:
            raise InvalidInput("This task has no held-out samples: leave `HeldOutLoss` out.")
        return snapshot.loss_at(snapshot.params, snapshot.held_out)
