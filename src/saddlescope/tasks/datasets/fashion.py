"""Fashion-MNIST."""

from typing import final

import numpy as np

from saddlescope.errors import require
from saddlescope.tasks.datasets._dataset import Dataset
from saddlescope.tasks.datasets._idx import FILES, read_idx_files
from saddlescope.tasks.datasets._sources import check_digests, sources_of

SHA256 = {
    "train_x": "2e487a6c89124f78f2d7521542223cafe96f7123c3ca13d447772ac6ecbb3012",
    "train_y": "657fbd221bfc9f4198cc14b5619cc33ec57c58dd0e47af4d99d6650759e869a7",
    "test_x": "c867c93ff95360594e8ec3287995350b824dd110b11595c0e13d5423f621867a",
    "test_y": "3d0e6c6ea990b53b6f8f500a41cac93881d981b315f84578b7d915342ade01e9",
}


@final
class FashionMNIST(Dataset):
    """Fashion-MNIST: 70,000 pictures of clothes of 28 × 28 pixels (Xiao, Rasul and Vollgraf 2017).

    Images are bytes, one row of 784 per sample; labels are 0 to 9, in the order of the paper. The
    four files of the original come from Debian's package or a public mirror. They are checked by
    their counts and SHA-256.
    """

    title = "Fashion-MNIST"
    megabytes = 31
    instead = 'use the 8 × 8 digits that ship with scikit-learn: ImageClasses("small")'

    def sources(self):
        return sources_of(self.name, FILES.values(), read_idx_files)

    def check(self, arrays):
        shapes = arrays["train_x"].shape == (60_000, 784) and arrays["test_x"].shape == (
            10_000,
            784,
        )
        counts = set(np.bincount(arrays["train_y"]).tolist()) == {6000}
        require(shapes and counts, "what was fetched is not Fashion-MNIST as it was published")
        check_digests(arrays, SHA256, self.title)


DATASET = FashionMNIST()
