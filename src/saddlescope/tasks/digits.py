"""Two kinds of handwritten digits, told apart."""

from typing import final

import equinox as eqx
import numpy as np

from saddlescope.errors import require
from saddlescope.serialization.part import as_int
from saddlescope.tasks.datasets.mnist import COUNTS
from saddlescope.tasks.images import load_images
from saddlescope.tasks.task import Samples, Task

SIDES = {"mnist": 28, "small": 8}


@final
class DigitPair(Task):
    """Tell two handwritten digits apart: pixels in [0, 1], one-hot targets of two outputs.

    The samples are all training images of the two digits, in their order. Nothing is centred or
    shuffled. Reference: simplicity paper, Fig. 3 and Table 1.

    **Arguments:**

    - `first`: The digit of output 0, from 0 to 9.
    - `second`: The digit of output 1; another digit.
    - `dataset`: "mnist" are 28 × 28 images, which `saddlescope data mnist` fetches once; they are
      the default because the paper uses them. "small" are the 8 × 8 digits of scikit-learn, which
      need no network.
    """

    first: int = eqx.field(static=True, converter=as_int)
    second: int = eqx.field(static=True, converter=as_int)
    dataset: str = eqx.field(default="mnist", static=True)

    def __check_init__(self):
        require(
            {self.first, self.second} <= set(range(10)) and self.first != self.second,
            f"A pair is two different digits from 0 to 9; got {self.first} and {self.second}.",
        )
        require(
            self.dataset in SIDES,
            f"`dataset` must be one of {', '.join(SIDES)}; got {self.dataset!r}.",
        )

    @property
    def inputs(self):
        return SIDES[self.dataset] ** 2

    @property
    def outputs(self):
        return 2

    @property
    def size(self):
        if self.dataset == "mnist":  # known without the images
            return COUNTS[self.first] + COUNTS[self.second]
        return len(self.images()[1])

    def images(self, part: str = "train"):
        """Pixels in [0, 1] and labels of the two digits, of the training or the test images."""
        x, y, top = load_images(self.dataset, part)
        chosen = (y == self.first) | (y == self.second)
        return x[chosen] / top, y[chosen]

    def data(self, rng):
        return self._samples("train")

    def held_out(self, rng):
        """The test images of MNIST; the small digits have none."""
        return self._samples("test") if self.dataset == "mnist" else None

    def _samples(self, part):
        x, y = self.images(part)
        return Samples(x, np.stack([y == self.first, y == self.second], axis=1).astype(float))
