"""One cosine on an equally spaced grid over [-1, 1], ends included: y = cos(2π frequency x)."""

from typing import final

import equinox as eqx
import numpy as np

from saddlescope.identity import whole
from saddlescope.refusal import refuse_unless
from saddlescope.tasks.task import Samples, Task


@final
class Cosine(Task):
    frequency: float = eqx.field(converter=float)
    samples: int = eqx.field(static=True, converter=whole)

    def __check_init__(self):
        refuse_unless(
            isinstance(self.samples, int) and self.samples >= 2,
            f"A grid needs two samples or more, a whole number; got {self.samples}.",
        )
        limit = (self.samples - 1) / 4  # two samples a period, on a grid of spacing 2 / (samples - 1)
        refuse_unless(
            0 < self.frequency <= limit,
            f"The frequency must lie in (0, {limit:g}], the limit of a grid of {self.samples} samples; "
            f"got {self.frequency:g}: use more samples.",
        )

    @property
    def inputs(self):
        return 1

    @property
    def outputs(self):
        return 1

    @property
    def size(self):
        return self.samples

    def data(self, rng):
        x = np.linspace(-1, 1, self.samples)[:, None]
        return Samples(x, np.cos(2 * np.pi * self.frequency * x))
