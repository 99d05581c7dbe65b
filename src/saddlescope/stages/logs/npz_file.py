"""NPZ: the arrays that numpy.savez writes. Nothing in it is unpickled."""

from pathlib import Path

import numpy as np

from saddlescope.errors import InvalidInput, require
from saddlescope.stages.logs.clock import time_rank
from saddlescope.stages.logs.log import Log
from saddlescope.stages.logs.rows_of_arrays import rows_of
from saddlescope.storage.files import BROKEN

LARGEST = 1 << 31  # bytes of arrays


def fits(path: Path) -> bool:
    """By its name; a file without a suffix by its first bytes."""
    if path.suffix.lower() == ".npz" or path.suffix or not path.is_file():
        return path.suffix.lower() == ".npz" and path.is_file()
    with path.open("rb") as file:
        return file.read(4) == b"PK\x03\x04"


def read(path: Path) -> Log:
    """All arrays of numbers with one dimension, and the rows of those with two."""
    arrays, series = _arrays(path), {}
    for name, values in arrays.items():
        time, time_name = _time_of(name, values, arrays)
        series |= rows_of(name, values, time, time_name)
    return Log("NPZ", series)


def _arrays(path) -> dict[str, np.ndarray]:
    try:
        with open(path, "rb") as opened, np.load(opened, allow_pickle=False) as file:
            size = sum(member.file_size for member in file.zip.infolist())
            require(size <= LARGEST, f"it declares {size >> 20} MB")
            found = {name: file[name] for name in file.files}
    except (*BROKEN, OSError, MemoryError) as error:
        reason = f"is damaged, or holds more than plain arrays ({error})"
        sentence = f"{path} {reason}; write it again with numpy.savez."
        raise InvalidInput(sentence.replace("\n", " ")) from None
    return {n: v for n, v in found.items() if isinstance(v, np.ndarray) and v.dtype.kind in "fiub"}


def _time_of(name, values, arrays):
    """The first array called like a time that is as long; else None."""
    ranked = sorted((rank, n) for n in arrays if n != name and (rank := time_rank(n)) is not None)
    for _, other in ranked:
        if np.shape(arrays[other]) == np.shape(values)[-1:] and arrays[other].dtype.kind in "fiu":
            return arrays[other], other
    return None, "point"
