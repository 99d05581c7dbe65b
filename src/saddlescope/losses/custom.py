"""A loss of the user's own, from a function."""

from collections.abc import Callable
from typing import final

import equinox as eqx
import jax
import jax.numpy as jnp

from saddlescope.errors import require
from saddlescope.losses.loss import Loss


@final
class CustomLoss(Loss):
    """L = ⟨function(f(x), y)⟩: the mean over samples of a function of your own.

    **Arguments:**

    - `function`: of one sample's outputs and targets, two rows, to a number, in JAX. A named function is stored with
      the setting by its import path and source; a lambda can run but not be stored.
    """

    function: Callable = eqx.field(static=True)

    def __check_init__(self):
        require(
            callable(self.function), f"`function` must be a function of outputs and targets; got {self.function!r}."
        )

    def of_outputs(self, outputs, targets):
        losses = jax.vmap(self.function)(outputs, targets)
        require(
            losses.shape == outputs.shape[:1],
            f"`function` must give one number for a sample; it gave shape {losses.shape[1:]}.",
        )
        return jnp.mean(losses)
