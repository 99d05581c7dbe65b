"""A linear teacher on normal inputs."""

from typing import final

import equinox as eqx
import numpy as np

from saddlescope.errors import InvalidInput, require
from saddlescope.serialization.part import as_int
from saddlescope.tasks.task import Moments, Samples, Task

Matrix = tuple[tuple[float, ...], ...]


def as_matrix(rows) -> Matrix:
    try:
        array = np.asarray(rows, dtype=float)
    except (TypeError, ValueError):
        array = np.zeros(0)
    if array.ndim != 2 or array.size == 0 or not np.isfinite(array).all():
        raise InvalidInput(f"A matrix is rows of finite numbers of one length, got {rows!r}; write ((1, 0), (0, 1)).")
    return tuple(tuple(float(v) for v in array[i]) for i in range(len(array)))


@final
class LinearTeacher(Task):
    """A linear teacher without noise: y = matrix x with x ~ N(0, covariance).

    Reference: simplicity paper, App. I (Fig. 1B).

    **Arguments:**

    - `matrix`: The teacher's map, output × input, as rows of numbers.
    - `covariance`: The covariance of the inputs, symmetric and positive definite. A direction
      without variance could not be learned.
    - `samples`: The number of samples. The default, None, means the population itself, given by its
      exact moments.
    """

    matrix: Matrix = eqx.field(converter=as_matrix)
    covariance: Matrix = eqx.field(converter=as_matrix)
    samples: int | None = eqx.field(default=None, static=True, converter=as_int)

    def __check_init__(self):
        covariance, inputs = np.array(self.covariance), len(self.matrix[0])
        require(
            covariance.shape == (inputs, inputs),
            f"The covariance must be {inputs} × {inputs} for a matrix of {inputs} columns, got {covariance.shape}.",
        )
        require(
            np.array_equal(covariance, covariance.T) and np.linalg.eigvalsh(covariance)[0] > 0,
            "The covariance must be symmetric and positive definite; a direction without variance cannot be learned.",
        )
        require(
            self.samples is None or (isinstance(self.samples, int) and self.samples > 0),
            f"`samples` must be a positive whole number, or None for the population; got {self.samples}.",
        )

    @property
    def inputs(self):
        return len(self.matrix[0])

    @property
    def outputs(self):
        return len(self.matrix)

    @property
    def size(self):
        return self.samples

    def data(self, rng):
        W, covariance = np.array(self.matrix), np.array(self.covariance)
        if self.samples is None:
            return Moments(W, covariance, np.zeros(()))
        x = rng.standard_normal((self.samples, self.inputs)) @ np.linalg.cholesky(covariance).T
        return Samples(x, x @ W.T)

    def held_out(self, rng):
        """A fresh draw of as many samples."""
        return None if self.samples is None else self.data(rng)
