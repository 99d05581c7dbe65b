"""Two kinds of handwritten digits, told apart."""

from functools import cache
from typing import final

import equinox as eqx
import numpy as np

from saddlescope.errors import require
from saddlescope.serialization.identity import whole
from saddlescope.tasks.datasets.mnist import COUNTS, DATASET
from saddlescope.tasks.task import Samples, Task

SIDES = {"mnist": 28, "small": 8}


@cache
def _all_images(dataset):
    """Pixels, labels, and the largest value of a pixel."""
    if dataset == "mnist":
        arrays = DATASET.load()
        return arrays["train_x"], arrays["train_y"], 255.0
    from sklearn.datasets import load_digits  # two seconds to import

    digits = load_digits()
    return digits.data, digits.target, 16.0


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

    first: int = eqx.field(static=True, converter=whole)
    second: int = eqx.field(static=True, converter=whole)
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

    def images(self):
        """Pixels in [0, 1] and labels of the two digits."""
        x, y, top = _all_images(self.dataset)
        chosen = (y == self.first) | (y == self.second)
        return x[chosen] / top, y[chosen]

    def data(self, rng):
        x, y = self.images()
        return Samples(x, np.stack([y == self.first, y == self.second], axis=1).astype(float))
