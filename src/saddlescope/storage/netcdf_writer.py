"""NetCDF files, written block by block. Each group carries the SHA-256 of what was put there."""

import math
import os
from contextlib import contextmanager
from pathlib import Path

import h5netcdf
import h5py
import numpy as np

from saddlescope.storage.files import replace_on_success
from saddlescope.storage.fingerprint import DIGEST, Fingerprint, group_hash
from saddlescope.storage.netcdf import plain_attrs

CHUNK = 1 << 18  # bytes of one compressed piece


@contextmanager
def netcdf_file(path, attrs):
    """A NetCDF file to put groups into; it appears under `path` when the block ends well."""
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    with replace_on_success(path) as part:
        with h5netcdf.File(part, "w") as file:
            attrs = plain_attrs(attrs)
            file.attrs.update(attrs | {DIGEST: group_hash({}, {}, attrs)})
            yield file
        with open(part, "rb") as written:
            os.fsync(written.fileno())


class Group:
    """A group under construction: `put` variables, all at once or a block of rows at a time, then `seal` it.

    **Arguments:**

    - `file`: an open file, from `netcdf_file`.
    - `name`: the group's name.
    - `sizes`: length of each dimension.
    - `coords`: the variables that are coordinates.
    - `attrs`: attributes of the group.
    """

    def __init__(self, file, name, sizes, coords=(), attrs=None):
        self.group = file.create_group(name)
        self.group.dimensions = sizes
        self.attrs = plain_attrs(attrs or {})
        if coords:
            self.attrs["coordinates"] = " ".join(sorted(coords))  # how xarray knows them again
        self.sizes, self.variables = dict(sizes), {}  # to ask h5netcdf for them takes longer than to write most of them
        self.hashes, self.attributes = {}, {}

    def declare(self, name, dims, dtype, packed=True):
        """Make an empty variable; `packed` compresses it."""
        text = dtype is object or np.dtype(dtype).kind in "UO"
        stored = h5py.string_dtype() if text else np.dtype("i1") if np.dtype(dtype) == bool else np.dtype(dtype)
        shape = [self.sizes[d] for d in dims]
        packing = {}
        if packed and not text and 0 not in shape and math.prod(shape) > 1000:
            pieces = _chunks(shape, stored.itemsize)
            packing = dict(compression="gzip", compression_opts=1, shuffle=True, chunks=pieces)
        made = self.variables[name] = self.group.create_variable(name, dims, stored, **packing)
        self.attributes[name] = {"dtype": "bool"} if not text and np.dtype(dtype) == bool else {}  # xarray's own way
        made.attrs.update(self.attributes[name])
        self.hashes[name] = Fingerprint(name, dims, stored)

    def put(self, columns, start=0):
        """Rows of each variable, from `start` along its first axis."""
        for name, (dims, values) in columns.items():
            if name not in self.hashes:
                self.declare(name, dims, values.dtype)
            values = np.asarray(values)
            stored = values.astype(object) if values.dtype.kind in "UO" else values
            if values.size:
                self.variables[name][... if not values.ndim else slice(start, start + len(values))] = stored
            self.hashes[name].add(values)

    def seal(self):
        """Write the group's checksum. Nothing may be put afterwards."""
        marks = {name: h.hexdigest() for name, h in self.hashes.items()}
        self.group.attrs.update(self.attrs | {DIGEST: group_hash(marks, self.attributes, self.attrs)})


def _chunks(shape, itemsize):
    """Whole rows where they are small, pieces of a row where they are long."""
    rows, most = [], max(1, CHUNK // itemsize)
    for n in reversed(shape):
        rows.append(max(1, min(n, most)))
        most = max(1, most // rows[-1])
    return tuple(reversed(rows))
