"""The data as a measure: finitely many points with weights."""

from typing import final

import numpy as np

from saddlescope.errors import InvalidInput, require
from saddlescope.tasks.task import Samples, Task

LARGEST = 1e30  # its square, and a sum of them, is still a number


@final
class Measure:
    """A finite data measure Σ π_p δ(x_p, y_p).

    **Arguments:**

    - `x`: inputs, one row per point; a plain list of numbers is one column.
    - `y`: targets, one row per point; a plain list of numbers is one column.
    - `weights`: π, which sum to one; equal where they are not given.
    """

    def __init__(self, x, y, weights=None):
        self.x, self.y = as_rows(x, "inputs of a measure"), as_rows(y, "targets of a measure")
        require(len(self.x) == len(self.y), f"Every input needs a target; got {len(self.x)} and {len(self.y)}.")
        largest = max(np.abs(self.x).max(), np.abs(self.y).max())
        require(largest < LARGEST, f"Inputs and targets must be below {LARGEST:g}; got {largest:g}: scale them to 1.")
        points = len(self.x)
        self.weights = np.full(points, 1 / points) if weights is None else _as_weights(weights)
        require(len(self.weights) == points, f"{points} points need {points} weights; got {len(self.weights)}.")
        require(
            (self.weights >= 0).all() and abs(self.weights.sum() - 1) < 1e-9,
            f"Weights of a measure are not negative and sum to 1; got a sum of {self.weights.sum():.6g}: divide by it.",
        )

    @property
    def inputs(self) -> int:
        """The dimension of x."""
        return self.x.shape[1]

    @property
    def outputs(self) -> int:
        """The dimension of y."""
        return self.y.shape[1]


def as_rows(given, name: str) -> np.ndarray:
    """An array with one row per point; a plain list of numbers is one column."""
    try:
        array = np.asarray(given, float)
    except (TypeError, ValueError):
        raise InvalidInput(f"The {name} are numbers, one row per point; got {given!r}.") from None
    array = array[:, None] if array.ndim == 1 else array
    require(
        array.ndim == 2 and array.size and np.isfinite(array).all(),
        f"The {name} are finite numbers, one row per point; got shape {array.shape}.",
    )
    return array


def _as_weights(given):
    rows = as_rows(given, "weights of a measure")
    require(rows.shape[1] == 1, f"A point has one weight; got {rows.shape[1]} per point.")
    return rows[:, 0]


def as_measure(task: Measure | Task, seed: int = 0) -> Measure:
    """A task's samples with equal weights; a measure passes through."""
    if isinstance(task, Measure):
        return task
    require(isinstance(task, Task), f"A limit needs a task or a Measure; got a {type(task).__name__}.")
    data = task.data(np.random.default_rng(seed))
    if not isinstance(data, Samples):
        raise InvalidInput(
            f"{type(task).__name__} is a population, given by its moments: the limit needs points. Use its samples."
        )
    return Measure(np.asarray(data.x), np.asarray(data.y))
