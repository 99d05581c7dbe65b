"""A few points given by hand. Simplicity paper, App. I (Fig. 1D: two orthogonal inputs)."""

from typing import final

import equinox as eqx
import numpy as np

from saddlescope.errors import require
from saddlescope.tasks.linear_teacher import Matrix, as_matrix
from saddlescope.tasks.task import Samples, Task


@final
class Points(Task):
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


def two_sided_step(delta, height) -> Points:
    """Two points -δ and +δ with targets +A and -A. Valleys paper, App. B.1."""
    require(delta > 0 and height > 0, f"`delta` and `height` must be positive; got {delta} and {height}.")
    return Points(((-delta,), (delta,)), ((height,), (-height,)))
