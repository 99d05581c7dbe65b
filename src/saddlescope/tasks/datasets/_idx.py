"""The idx files in which MNIST and Fashion-MNIST were published."""

import struct

import numpy as np

from saddlescope.errors import require

FILES = {
    "train_x": "train-images-idx3-ubyte",
    "train_y": "train-labels-idx1-ubyte",
    "test_x": "t10k-images-idx3-ubyte",
    "test_y": "t10k-labels-idx1-ubyte",
}


def read_idx_files(files: dict[str, bytes]) -> dict[str, np.ndarray]:
    """The four arrays of a data set, from the contents of its files by their names."""
    return {name: _read_idx(files[file]) for name, file in FILES.items()}


def _read_idx(data: bytes) -> np.ndarray:
    """An idx file of bytes: labels as a row, images as a row each."""
    zero, kind, dims = struct.unpack(">HBB", data[:4])
    shape = struct.unpack(f">{dims}I", data[4 : 4 + 4 * dims])
    body = np.frombuffer(data, np.uint8, offset=4 + 4 * dims)
    whole = zero == 0 and kind == 8 and body.size == int(np.prod(shape))
    require(whole, "a file is not what its head says")
    return body.reshape(shape[0], -1) if dims > 1 else body
