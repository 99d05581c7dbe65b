"""The norm of the gradient."""

from typing import final

from saddlescope.observables.observable import Observable


@final
class GradientNorm(Observable):
    """|∇L|, the norm of the gradient of the loss on all data over all trained parameters."""

    name = "gradient_norm"

    def __call__(self, snapshot):
        import optax

        return optax.tree.norm(snapshot.gradient_at(snapshot.params))
