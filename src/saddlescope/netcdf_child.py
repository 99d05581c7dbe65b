"""The process that reads a NetCDF file for another: `python -m saddlescope.netcdf_child FILE TARGET`.

It writes what it found as a packed file of plain arrays. Should HDF5 crash, loop or ask for too much memory, only this
process ends. Imports are few, so that it starts quickly.
"""

import json
import sys
from pathlib import Path

import h5netcdf
import h5py
import numpy as np

from saddlescope.packed import write_packed
from saddlescope.refusal import refuse_unless

LARGEST = 1 << 31  # bytes that any file may declare; a larger file may declare SWELL times its own size
SWELL = 50


def convert(source, target):
    """All variables of the root and of its groups that hold numbers or text."""
    arrays, groups, declared = {}, {}, 0
    limit = max(LARGEST, SWELL * Path(source).stat().st_size)
    with h5netcdf.File(source, "r", decode_vlen_strings=True) as file:
        for name, group in [("", file), *file.groups.items()]:
            variables, attributes = {}, {}
            for key, variable in group.variables.items():
                if not readable(variable.dtype):
                    continue
                declared += int(np.prod(variable.shape, dtype=object)) * max(8, np.dtype(variable.dtype).itemsize)
                refuse_unless(declared <= limit, f"it declares more than {limit >> 30} GiB")
                place = f"{len(arrays)}"
                arrays[place] = values(variable)
                variables[key] = place, list(variable.dimensions)
                attributes[key] = plain_attrs(variable.attrs)
            groups[name] = {"variables": variables, "attributes": attributes, "attrs": plain_attrs(group.attrs)}
    write_packed(target, arrays, {"groups": groups}, flush=False)


def readable(dtype):
    """Numbers and text; no compounds, references or enumerations."""
    if dtype is str:
        return True
    dtype = np.dtype(dtype)
    return dtype.kind in "biufS" or (dtype.kind == "O" and h5py.check_string_dtype(dtype) is not None)


def values(variable):
    found = np.asarray(variable[...])
    if found.dtype.kind in "OS":
        found = np.array([as_text(v) for v in found.ravel()], str).reshape(found.shape)
    return found


def as_text(value):
    text = value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)
    return text.rstrip("\0")


def plain_attrs(attrs):
    """Attributes that JSON can say; others are left out."""
    found = {}
    for key, value in attrs.items():
        value = value.tolist() if isinstance(value, np.ndarray | np.generic) else value
        value = as_text(value) if isinstance(value, bytes) else value
        try:
            json.dumps(value)
        except (TypeError, ValueError):
            continue
        found[key] = value[0] if isinstance(value, list) and len(value) == 1 else value
    return found


if __name__ == "__main__":
    try:
        convert(*sys.argv[1:3])
    except Exception as error:  # whatever HDF5 makes of the bytes; the parent says it in one sentence
        print(f"{type(error).__name__}: {error}".replace("\n", " ")[:300])
        sys.exit(1)
