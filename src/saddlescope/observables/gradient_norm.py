"""The norm of the full gradient over all trained parameters."""

from typing import final

import optax

from saddlescope.observables.observable import Observable


@final
class GradientNorm(Observable):
    name = "gradient_norm"

    def __call__(self, snapshot):
        return optax.tree.norm(snapshot.net.loss_and_gradient(snapshot.params, snapshot.statistics)[1])
