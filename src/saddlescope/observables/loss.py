"""The loss on all data at a saved instant. (The loss of every step or epoch is kept anyway, as `loss`.)"""

from typing import final

from saddlescope.observables.observable import Observable


@final
class FullLoss(Observable):
    name = "full_loss"

    def __call__(self, snapshot):
        return snapshot.net.loss(snapshot.params, snapshot.statistics)
