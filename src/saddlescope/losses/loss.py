"""The kind of all losses."""

from abc import abstractmethod

import jax
import numpy as np

from saddlescope.errors import InvalidInput, require
from saddlescope.nets.net import Net, Params
from saddlescope.serialization.part import Part
from saddlescope.tasks.task import Moments, Samples, Task


class Loss(Part):
    """What training lowers: a mean over samples of some distance between outputs and targets.

    A loss of your own is a subclass with one method, `of_outputs`; or `CustomLoss(function)`. What the loss needs of
    the data belongs to the pair of net and loss: the squared error of a net that is linear in features needs their
    moments alone, any other pair needs the samples.
    """

    @abstractmethod
    def of_outputs(self, outputs: jax.Array, targets: jax.Array | np.ndarray) -> jax.Array:
        """The mean loss of these samples, one row each."""

    def why_not(self, task: Task) -> str | None:
        """Why this loss does not fit a task; None where it does."""
        return None

    def uses_moments(self, net: Net) -> bool:
        """Whether this net under this loss sees the data only through moments."""
        return False

    def statistics(self, net: Net, data: Samples | Moments) -> Samples | Moments:
        """What the loss of this net needs of the data. By default the samples themselves."""
        return data

    def __call__(self, net: Net, params: Params, statistics: Samples | Moments) -> jax.Array:
        """The loss of a net with these parameters."""
        if isinstance(statistics, Moments):
            raise InvalidInput(f"{type(self).__name__} needs samples, but the task is a population; give it `samples`.")
        outputs = net(params, statistics.x)
        require(
            outputs.shape == statistics.y.shape,
            f"{type(net).__name__} gave outputs of shape {outputs.shape} for targets of shape {statistics.y.shape}.",
        )
        return self.of_outputs(outputs, statistics.y)

    def with_gradient(self, net: Net, params: Params, statistics: Samples | Moments) -> tuple[jax.Array, Params]:
        """The loss, and its gradient with respect to the trained parameters."""
        return jax.value_and_grad(lambda trained: self(net, net.merged(params, trained), statistics))(
            net.trained(params)
        )
