"""In-context linear regression."""

from typing import final

import equinox as eqx
import numpy as np

from saddlescope.errors import InvalidInput, require
from saddlescope.serialization.part import as_int
from saddlescope.tasks.task import Samples, Task


def _numbers(given) -> tuple[float, ...]:
    try:
        return tuple(float(v) for v in given)
    except (TypeError, ValueError):
        raise InvalidInput(f"`variances` is a row of numbers, one per dimension; got {given!r}.") from None


@final
class InContextRegression(Task):
    """Linear regression in context: from N pairs (x_n, w·x_n) and a query x_q, predict w·x_q.

    Inputs are x ~ N(0, diag(variances)), and every sample has its own w ~ N(0, I). A sample is the
    matrix X of (D + 1) × (N + 1), flattened row by row. Its columns are the tokens (x_n, w·x_n),
    with the query (x_q, 0) as the last one. Reference: simplicity paper, Fig. 1F.

    **Arguments:**

    - `variances`: The variance of x along each of its D dimensions; positive.
    - `context`: N, the number of pairs before the query.
    - `samples`: The number of samples.
    """

    variances: tuple[float, ...] = eqx.field(converter=_numbers)
    context: int = eqx.field(static=True, converter=as_int)
    samples: int = eqx.field(static=True, converter=as_int)

    def __check_init__(self):
        require(
            len(self.variances) > 0 and all(0 < v < np.inf for v in self.variances),
            f"`variances` must be positive, one per dimension; got {self.variances}.",
        )
        for name, n in (("context", self.context), ("samples", self.samples)):
            require(isinstance(n, int) and n > 0, f"`{name}` must be a positive whole number; got {n}.")

    @property
    def dimension(self):
        """D, the dimension of x."""
        return len(self.variances)

    @property
    def inputs(self):
        return (self.dimension + 1) * (self.context + 1)

    @property
    def outputs(self):
        return 1

    @property
    def size(self):
        return self.samples

    def data(self, rng):
        w = rng.standard_normal((self.samples, self.dimension))
        x = rng.standard_normal((self.samples, self.dimension, self.context + 1)) * np.sqrt(self.variances)[:, None]
        y = np.einsum("sd,sdn->sn", w, x)
        known = np.concatenate([y[:, :-1], np.zeros((self.samples, 1))], axis=1)
        X = np.concatenate([x, known[:, None]], axis=1)
        return Samples(X.reshape(self.samples, -1), y[:, -1:])

    def held_out(self, rng):
        """A fresh draw of as many samples."""
        return None if self.samples is None else self.data(rng)
