"""The share of samples that are classified rightly."""

from typing import final

import equinox as eqx
import jax.numpy as jnp

from saddlescope.errors import InvalidInput, require
from saddlescope.observables.observable import Observable
from saddlescope.tasks.task import Moments


@final
class Accuracy(Observable):
    """The share of samples whose largest output is that of the largest target; with one output, whose sign is right.

    **Arguments:**

    - `on`: "held_out" for the samples of `Task.held_out`, "train" for the training data.
    """

    on: str = eqx.field(default="held_out", static=True)

    name = "accuracy"

    def __check_init__(self):
        require(self.on in ("held_out", "train"), f"`on` must be 'held_out' or 'train'; got {self.on!r}.")

    @property
    def uses_held_out(self):
        return self.on == "held_out"

    def __call__(self, snapshot):
        data = snapshot.held_out if self.on == "held_out" else snapshot.data
        if data is None or isinstance(data, Moments):
            raise InvalidInput(f"Accuracy on {self.on} needs samples, and this task has none: give it `samples`.")
        outputs, targets = snapshot.net(snapshot.params, data.x), data.y
        if targets.shape[1] == 1:
            right = (outputs[:, 0] > 0) == (targets[:, 0] > 0)
        else:
            right = jnp.argmax(outputs, axis=1) == jnp.argmax(targets, axis=1)
        return jnp.mean(right.astype(outputs.dtype))
