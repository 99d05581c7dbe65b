"""Units of the user's own."""

from collections.abc import Callable
from typing import final

import equinox as eqx
import jax
import jax.numpy as jnp

from saddlescope.errors import InvalidInput, require
from saddlescope.nets.unit import Unit
from saddlescope.serialization.part import as_int


@final
class CustomUnit(Unit):
    """A unit of your own: any JAX function φ(x, u) of one input row and one row of inner weights.

    Where φ gives a number, v holds one weight per output. Where it gives a row, v holds one weight
    per entry, and the net has one output. A function with a name is stored by its import path and
    source. A lambda can be trained but not stored.

    **Arguments:**

    - `function`: φ(x, u), written in JAX; it gives a number or a row.
    - `weights_each`: The length of u. The default, None, means one weight per input.
    """

    function: Callable = eqx.field(static=True)
    weights_each: int | None = eqx.field(default=None, static=True, converter=as_int)

    def __check_init__(self):
        require(
            callable(self.function),
            f"`function` must be a function of (x, u); got {self.function!r}.",
        )
        n = self.weights_each
        require(
            n is None or (isinstance(n, int) and n > 0),
            f"`weights_each`, the length of u, must be a positive whole number, or None for one per input; got {n}.",
        )

    def sizes(self, inputs, outputs):
        own = self.weights_each or inputs
        try:
            shape = jax.eval_shape(self.function, jnp.zeros(inputs), jnp.zeros(own)).shape
        except (TypeError, ValueError, IndexError, AttributeError) as error:
            raise InvalidInput(
                f"The unit cannot be called with x of {inputs} and u of {own} numbers: {error}"
            ) from None
        require(
            len(shape) < 2,
            f"A unit gives a number or a row; this one gives an array of shape {shape}.",
        )
        require(
            not shape or outputs == 1,
            f"A unit that gives a row has one output, but the task has {outputs}.",
        )
        return own, shape[0] if shape else outputs

    def __call__(self, x, u):
        return jax.vmap(lambda row: jax.vmap(lambda w: self.function(row, w))(u))(jnp.asarray(x))
