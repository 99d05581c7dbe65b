"""The squared error."""

from typing import final

import jax
import jax.numpy as jnp

from saddlescope.losses.loss import Loss
from saddlescope.nets.net import Net, Params
from saddlescope.tasks.task import Moments, Samples


@final
class SquaredError(Loss):
    """The squared error L = ⟨‖y − f(x)‖²⟩, summed over outputs, without a factor ½.

    Simplicity paper, Eq. 64. Nets that are linear in fixed features train on the moments of those, at a cost that
    does not grow with the number of samples.
    """

    def of_outputs(self, outputs, targets):
        residual = targets - outputs
        return jnp.mean(jnp.sum(residual**2, axis=-1))

    def uses_moments(self, net):
        return net.uses_moments

    def statistics(self, net, data):
        return net.statistics(data)

    def __call__(self, net, params, statistics):
        if isinstance(statistics, Moments):
            return net.moment_loss(params, statistics)
        return super().__call__(net, params, statistics)


def squared_error(net: Net, params: Params, statistics: Samples | Moments) -> jax.Array:
    """The squared error of a net, as the papers' theory writes it."""
    return SquaredError()(net, params, statistics)
