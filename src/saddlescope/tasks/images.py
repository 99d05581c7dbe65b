"""Images of ten classes."""

from functools import cache
from typing import final

import equinox as eqx
import numpy as np

from saddlescope.errors import require
from saddlescope.serialization.part import as_int
from saddlescope.tasks.datasets import find_dataset
from saddlescope.tasks.task import Samples, Task

SIZES = {  # images to train on, and pixels: known without the images
    "small": (1797, 64),
    "mnist": (60_000, 784),
    "fashion": (60_000, 784),
    "cifar10": (50_000, 1024),
}
LUMA = (0.299, 0.587, 0.114)  # of red, green and blue in a grey value, by ITU-R BT.601


@cache
def load_images(dataset: str, part: str = "train") -> tuple[np.ndarray, np.ndarray, float]:
    """Values, labels, and the largest value that a pixel can have. Colours of a pixel lie side by side."""
    if dataset == "small":
        from sklearn.datasets import load_digits  # two seconds to import

        digits = load_digits()
        return digits.data, digits.target, 16.0
    arrays = find_dataset(dataset).load()
    return arrays[f"{part}_x"], arrays[f"{part}_y"], 255.0


@final
class ImageClasses(Task):
    """Name the class of an image: normalised pixels in, one-hot targets of ten classes out.

    A pixel x becomes (x/top - μ)/σ, where top is its largest possible value. μ and σ are the mean and
    deviation of all pixels of all training images. Colours become grey values. Reference: escape
    paper, Appendices B and C.

    **Arguments:**

    - `dataset`: "mnist", "fashion" or "cifar10", which `saddlescope data` fetches once; or "small",
      the 8 × 8 digits of scikit-learn, which need no network.
    - `samples`: How many of the training images are used, from the first on. The default, None,
      means all of them.
    """

    dataset: str = eqx.field(default="mnist", static=True)
    samples: int | None = eqx.field(default=None, static=True, converter=as_int)

    def __check_init__(self):
        known = f"`dataset` must be one of {', '.join(SIZES)}; got {self.dataset!r}."
        require(self.dataset in SIZES, known)
        there = SIZES[self.dataset][0]
        require(
            self.samples is None or (type(self.samples) is int and 0 < self.samples <= there),
            f"`samples` must lie between 1 and the {there:,} of {self.dataset}; got {self.samples!r}.",
        )

    @property
    def inputs(self):
        return SIZES[self.dataset][1]

    @property
    def outputs(self):
        return 10

    @property
    def size(self):
        return self.samples or SIZES[self.dataset][0]

    def data(self, rng):
        return self._samples("train", self.samples)

    def held_out(self, rng):
        """The test images; the small digits have none."""
        return None if self.dataset == "small" else self._samples("test", None)

    def _samples(self, part, first):
        x, y, top = load_images(self.dataset, part)
        mean, deviation = _moments(self.dataset)
        x = (_grey(x[:first]) / top - mean) / deviation
        return Samples(x, np.eye(10)[y[:first]])


@cache
def _moments(dataset) -> tuple[float, float]:
    """Mean and deviation of all training pixels, over the largest value that a pixel can have."""
    x, _, top = load_images(dataset)
    x = _grey(x)
    return float(x.mean() / top), float(x.std() / top)


def _grey(x):
    """Three colours become one value, as weighted for the eye; grey values stay."""
    return x.reshape(len(x), -1, 3) @ np.array(LUMA) if x.shape[1] == 3072 else x
