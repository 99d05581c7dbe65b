"""Targets of the user's own: a function of x on the grid, or arrays of inputs and targets."""

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
    """y = function(x). Its highest frequency is not known to us: look at the grid yourself.

    A function with a name is stored by its import path and source; a lambda runs, but is not stored.
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


def table(given):
    """Converter: rows of finite numbers; a plain list of numbers is one column."""
    try:
        array = np.array(given, float)
    except (TypeError, ValueError):
        raise InvalidInput("Inputs and targets are arrays of numbers, one row a sample.") from None
    array = array[:, None] if array.ndim == 1 else array
    require(
        array.ndim == 2 and array.size > 0 and np.isfinite(array).all(),
        f"Inputs and targets are finite numbers, one row a sample; got shape {array.shape}.",
    )
    array.setflags(write=False)
    return array


@final
class ArrayTask(Task):
    """Inputs x and targets y, one row a sample. A stored setting names them by their SHA-256 alone."""

    x: np.ndarray = eqx.field(converter=table)
    y: np.ndarray = eqx.field(converter=table)

    def __check_init__(self):
        require(len(self.x) == len(self.y), f"Every input needs a target; got {len(self.x)} inputs and {len(self.y)}.")

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
