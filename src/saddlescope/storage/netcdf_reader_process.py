"""The process that reads NetCDF files for another: `python -m saddlescope.storage.netcdf_reader_process`.

Each line of its input is a JSON array of two paths: what to read, and where to write it as a checked npz of plain
arrays. It answers each with a line. Should HDF5 crash, loop or ask for too much memory, only this process ends. Imports
are few, so that it starts quickly.
"""

import json
import os
import sys
import threading

import h5py
import numpy as np

from saddlescope.errors import InvalidInput, require
from saddlescope.storage.files import write_checked
from saddlescope.storage.fingerprint import DIGEST

LARGEST = 7 << 29  # bytes
IDLE = 30.0  # seconds without a file, after which it ends
# How NetCDF-4 marks dimensions in HDF5, as h5netcdf writes them.
DIMENSIONS, SCALE, NO_VARIABLE = "DIMENSION_LIST", b"DIMENSION_SCALE", b"This is a netCDF dimension but not"
NO_SCALE = "_nc4_non_coord_"  # before the name of a variable that has several axes, one of its own name
HIDDEN = {"REFERENCE_LIST", "CLASS", DIMENSIONS, "NAME", "_Netcdf4Dimid", "_Netcdf4Coordinates", "_NCProperties"}


class TooLarge(InvalidInput):
    """A file with more in it than is read."""

    def __init__(self):
        super().__init__(f"it holds more than {LARGEST / 2**30} GiB: open it with xarray")


def convert(source, target):
    """All variables of the root and of its groups that hold numbers or text."""
    arrays, groups, declared = {}, {}, 0
    with h5py.File(source, "r") as file:
        _check_own(file)
        for name, attrs, found in (_own_groups if DIGEST in file.attrs else _any_groups)(file):
            variables, attributes = {}, {}
            for key, variable, dims, said in found:
                if not _readable(variable.dtype):
                    continue
                declared += int(np.prod(variable.shape, dtype=object)) * max(8, np.dtype(variable.dtype).itemsize)
                if declared > LARGEST:
                    raise TooLarge
                place = f"{len(arrays)}"
                arrays[place] = _values(variable)
                variables[key] = place, list(dims)
                attributes[key] = _plain_attrs(said)
            groups[name] = {"variables": variables, "attributes": attributes, "attrs": _plain_attrs(attrs)}
    write_checked(target, arrays, {"groups": groups}, flush=False)


def _any_groups(file):
    """Name, attributes and variables of each group, by the rules of h5netcdf."""
    import h5netcdf

    found = h5netcdf.File(file, "r", decode_vlen_strings=True)
    for name, group in [("", found), *found.groups.items()]:
        yield name, group.attrs, ((key, v, v.dimensions, v.attrs) for key, v in group.variables.items())


def _own_groups(file):
    """The same of a file that we wrote, which needs fewer rules: no dimension grows, all are in their own group."""
    below = [(name, item) for name, item in file.items() if isinstance(item, h5py.Group)]
    for name, group in [("", file), *below]:
        yield name, _shown(group.attrs), _own_variables(group)


def _own_variables(group):
    for name, item in group.items():
        if isinstance(item, h5py.Dataset) and not bytes(item.attrs.get("NAME", b"")).startswith(NO_VARIABLE):
            yield name.removeprefix(NO_SCALE), item, _dims(name, item), _shown(item.attrs)


def _dims(name, item):
    if DIMENSIONS in item.attrs:
        return [h5py.h5r.get_name(at[0], item.id).decode().rpartition("/")[2] for at in item.attrs[DIMENSIONS]]
    return [name] if item.attrs.get("CLASS") == SCALE else []


def _shown(attrs):
    return {key: attrs[key] for key in attrs if key not in HIDDEN}


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
        if 4 * len(texts) * max(map(len, texts), default=0) > LARGEST:
            raise TooLarge
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


def serve(requests, answers):
    """Convert one file after the other. The process ends with its input, or after a while without a request."""
    while True:
        idle = threading.Timer(IDLE, os._exit, [0])
        idle.daemon = True
        idle.start()
        line = requests.readline()
        idle.cancel()
        if not line:
            return
        answers.write(json.dumps(_answer(*json.loads(line))).encode() + b"\n")
        answers.flush()


def _answer(source, target) -> dict:
    """What is said of one file: nothing where all went well."""
    try:
        convert(source, target)
    except Exception as error:  # whatever HDF5 makes of the bytes; the parent says it in one sentence
        said = str(error) if isinstance(error, TooLarge) else f"{type(error).__name__}: {error}"
        return {"failed": said.replace("\n", " ")[:200], "too_large": isinstance(error, TooLarge)}
    return {}


def main():
    _limit_memory()
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # whatever a library prints is no answer
    serve(sys.stdin.buffer, answers)


if __name__ == "__main__":
    main()
