"""Tasks of the user's own: a function of x on a grid, or arrays of inputs and targets."""

from collections.abc import Callable
from typing import final

import equinox as eqx
import numpy as np

from saddlescope.errors import InvalidInput, require
from saddlescope.serialization.part import as_int
from saddlescope.tasks.curve import Curve
from saddlescope.tasks.task import Samples, Task


@final
class FunctionTask(Curve):
    """Learn a function of your own, y = function(x) for x in [-1, 1].

    The highest frequency of the function is not known here, so aliasing is not detected: choose
    enough samples yourself. A function with a name is stored by its import path and source. A
    lambda can be trained but not stored.

    **Arguments:**

    - `function`: Takes the column of inputs and returns as many finite numbers, in the same shape.
    - `samples`: The number of equally spaced points over [-1, 1].
    - `allow_aliasing`: Has no effect here, because `highest` is unknown; every curve has this
      field.
    """

    function: Callable = eqx.field(static=True)
    samples: int = eqx.field(static=True, converter=as_int)
    allow_aliasing: bool = eqx.field(default=False, static=True)

    def __check_init__(self):
        require(callable(self.function), f"`function` must be a function of x; got {self.function!r}.")

    def target(self, x):
        y = np.asarray(self.function(x), float)
        require(
            y.shape == x.shape and np.isfinite(y).all(),
            f"The function must give one finite number for each x; got shape {y.shape} for {x.shape}.",
        )
        return y

    @property
    def highest(self):
        return 0.0


def _table(given):
    """Converter: rows of finite numbers; a plain list of numbers is one column."""
    try:
        array = np.array(given, float)
    except (TypeError, ValueError):
        raise InvalidInput("Inputs and targets are arrays of numbers, one row per sample.") from None
    array = array[:, None] if array.ndim == 1 else array
    require(
        array.ndim == 2 and array.size > 0 and np.isfinite(array).all(),
        f"Inputs and targets are finite numbers, one row per sample; got shape {array.shape}.",
    )
    array.setflags(write=False)
    return array


def _maybe_table(given):
    return None if given is None else _table(given)


@final
class ArrayTask(Task):
    """Learn arrays of your own: inputs x and targets y.

    A stored setting names the arrays by their SHA-256 alone. To build the setting again, pass the
    same arrays.

    **Arguments:**

    - `x`: The inputs, one row per sample; a plain list of numbers becomes one column.
    - `y`: The targets, one row per sample; a plain list of numbers becomes one column.
    - `held_out_x`, `held_out_y`: Inputs and targets that are not trained on, if there are any.
    """

    x: np.ndarray = eqx.field(converter=_table)
    y: np.ndarray = eqx.field(converter=_table)
    held_out_x: np.ndarray | None = eqx.field(default=None, converter=_maybe_table)
    held_out_y: np.ndarray | None = eqx.field(default=None, converter=_maybe_table)

    def __check_init__(self):
        require(
            len(self.x) == len(self.y),
            f"Every input needs a target; got {len(self.x)} inputs and {len(self.y)}.",
        )
        x, y = self.held_out_x, self.held_out_y
        require((x is None) == (y is None), "Give `held_out_x` and `held_out_y` together.")
        if x is not None and y is not None:
            alike = len(x) == len(y) and x.shape[1:] == self.x.shape[1:] and y.shape[1:] == self.y.shape[1:]
            require(alike, f"Held-out rows must be like the others; got shapes {x.shape} and {y.shape}.")

    @property
    def inputs(self):
        return self.x.shape[1]

    @property
    def outputs(self):
        return self.y.shape[1]

    @property
    def size(self):
        return len(self.x)

    def data(self, rng):
        return Samples(np.array(self.x), np.array(self.y))

    def held_out(self, rng):
        if self.held_out_x is None or self.held_out_y is None:
            return None
        return Samples(np.array(self.held_out_x), np.array(self.held_out_y))
