"""A few points given by hand."""

from typing import final

import equinox as eqx
import numpy as np

from saddlescope.errors import require
from saddlescope.tasks.linear_teacher import Matrix, as_matrix
from saddlescope.tasks.task import Samples, Task


@final
class Points(Task):
    """A few points that are given by hand, such as two orthogonal inputs.

    The numbers themselves are part of the setting; for large arrays use `ArrayTask`. Reference:
    simplicity paper, App. I (Fig. 1D).

    **Arguments:**

    - `x`: The inputs, one row per point.
    - `y`: The targets, one row per point.
    """

    x: Matrix = eqx.field(converter=as_matrix)
    y: Matrix = eqx.field(converter=as_matrix)

    def __check_init__(self):
        require(
            len(self.x) == len(self.y),
            f"Points need one target for each input, got {len(self.x)} inputs and {len(self.y)} targets.",
        )

    @property
    def inputs(self):
        return len(self.x[0])

    @property
    def outputs(self):
        return len(self.y[0])

    @property
    def size(self):
        return len(self.x)

    def data(self, rng):
        return Samples(np.array(self.x), np.array(self.y))


def two_sided_step(delta: float, height: float) -> Points:
    """Make two points -δ and +δ with targets +A and -A (valleys paper, App. B.1).

    **Arguments:**

    - `delta`: δ, the distance of each point from 0; positive.
    - `height`: A, the size of each target; positive.
    """
    require(
        delta > 0 and height > 0,
        f"`delta` and `height` must be positive; got {delta} and {height}.",
    )
    return Points(((-delta,), (delta,)), ((height,), (-height,)))
