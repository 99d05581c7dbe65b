"""The norm of the full gradient over all parameters."""

from typing import final

import jax
import optax

from saddlescope.observables.observable import Observable


@final
class GradientNorm(Observable):
    name = "gradient_norm"

    def __call__(self, snapshot):
        return optax.tree.norm(jax.grad(snapshot.net.loss)(snapshot.params, snapshot.statistics))
