"""Losses at a saved instant."""

from typing import final

from saddlescope.errors import InvalidInput
from saddlescope.observables.observable import Observable


@final
class FullLoss(Observable):
    """The loss on all data at a saved instant. (The loss of every step or epoch is kept anyway, as `loss`.)"""

    name = "full_loss"

    def __call__(self, snapshot):
        return snapshot.loss_at(snapshot.params)


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
