"""The process that reads a NetCDF file for another: `python -m saddlescope.storage.netcdf_reader_process FILE TARGET`.

It writes what it found as a checked npz of plain arrays. Should HDF5 crash, loop or ask for too much memory, only this
process ends. Imports are few, so that it starts quickly.
"""

import json
import os
import sys

import h5netcdf
import h5py
import numpy as np

from saddlescope.errors import require
from saddlescope.storage.files import write_checked

LARGEST = 7 << 29  # bytes
TOO_LARGE = f"it holds more than {LARGEST / 2**30} GiB: open it with xarray"


def convert(source, target):
    """All variables of the root and of its groups that hold numbers or text."""
    arrays, groups, declared = {}, {}, 0
    with h5py.File(source, "r") as file:
        _check_own(file)
    with h5netcdf.File(source, "r", decode_vlen_strings=True) as file:
        for name, group in [("", file), *file.groups.items()]:
            variables, attributes = {}, {}
            for key, variable in group.variables.items():
                if not _readable(variable.dtype):
                    continue
                declared += int(np.prod(variable.shape, dtype=object)) * max(8, np.dtype(variable.dtype).itemsize)
                require(declared <= LARGEST, TOO_LARGE)
                place = f"{len(arrays)}"
                arrays[place] = _values(variable)
                variables[key] = place, list(variable.dimensions)
                attributes[key] = _plain_attrs(variable.attrs)
            groups[name] = {"variables": variables, "attributes": attributes, "attrs": _plain_attrs(group.attrs)}
    write_checked(target, arrays, {"groups": groups}, flush=False)


def _check_own(group, deep=2):
    """Refuse a file that leads to others: links out of it, data stored elsewhere."""
    for name in group:
        require(isinstance(group.get(name, getlink=True), h5py.HardLink), f"{name!r} is a link")
        item = group[name]
        if isinstance(item, h5py.Dataset):
            elsewhere = item.external is not None or item.is_virtual
            require(not elsewhere, f"the data of {name!r} lie in another file")
        elif isinstance(item, h5py.Group) and deep > 1:
            _check_own(item, deep - 1)


def _limit_memory():
    """A hostile file must not take the machine's memory."""
    try:
        import resource

        pages = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
        resource.setrlimit(resource.RLIMIT_AS, (pages // 2, pages // 2))
    except (ImportError, ValueError, OSError):
        pass  # a system that cannot


def _readable(dtype):
    """Numbers and text; no compounds, references or enumerations."""
    if dtype is str:
        return True
    dtype = np.dtype(dtype)
    if h5py.check_enum_dtype(dtype) is not None:
        return False
    return dtype.kind in "biufS" or (dtype.kind == "O" and h5py.check_string_dtype(dtype) is not None)


def _values(variable):
    found = np.asarray(variable[...])
    if found.dtype.kind in "OS":
        texts = [_as_text(v) for v in found.ravel()]
        require(4 * len(texts) * max(map(len, texts), default=0) <= LARGEST, TOO_LARGE)
        found = np.array(texts, str).reshape(found.shape)
    return found


def _as_text(value):
    text = value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)
    return text.rstrip("\0")


def _plain_attrs(attrs):
    """Attributes that JSON can say; others are left out."""
    found = {}
    for key, value in attrs.items():
        value = value.tolist() if isinstance(value, np.ndarray | np.generic) else value
        value = _as_text(value) if isinstance(value, bytes) else value
        try:
            json.dumps(value)
        except (TypeError, ValueError):
            continue
        found[key] = value[0] if isinstance(value, list) and len(value) == 1 else value
    return found


if __name__ == "__main__":
    _limit_memory()
    try:
        convert(*sys.argv[1:3])
    except Exception as error:  # whatever HDF5 makes of the bytes; the parent says it in one sentence
        print(f"{type(error).__name__}: {error}".replace("\n", " ")[:300])
        sys.exit(1)
