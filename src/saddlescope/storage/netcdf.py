"""NetCDF files: written block by block, read by a process of their own.

HDF5 can crash on a damaged or hostile file. So a child process reads it (netcdf_reader_process.py) and hands
over its arrays. A file that saddlescope wrote also carries, in each group, the SHA-256 of what was put there:
a file whose contents differ from it is refused.
"""

import hashlib
import json
import math
import os
import signal
import subprocess
import sys
import tempfile
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import h5netcdf
import h5py
import numpy as np
import xarray as xr

from saddlescope.errors import InvalidInput, require
from saddlescope.results import Columns
from saddlescope.storage.files import read_checked, replace_on_success
from saddlescope.storage.netcdf_reader_process import TOO_LARGE

DIGEST = "sha256"
CHUNK = 1 << 18  # bytes of one compressed piece
PATIENCE = 60, 1e-6  # seconds for any file, and for each of its bytes


# ---- Writing ----


@contextmanager
def netcdf_file(path, attrs):
    """A NetCDF file to put groups into; it appears under `path` when the block ends well."""
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    with replace_on_success(path) as part:
        with h5netcdf.File(part, "w") as file:
            attrs = _plain_attrs(attrs)
            file.attrs.update(attrs | {DIGEST: _group_hash({}, {}, attrs)})
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
        self.attrs = _plain_attrs(attrs or {})
        if coords:
            self.attrs["coordinates"] = " ".join(sorted(coords))  # how xarray knows them again
        self.hashes, self.attributes = {}, {}

    def declare(self, name, dims, dtype, packed=True):
        """Make an empty variable; `packed` compresses it."""
        text = dtype is object or np.dtype(dtype).kind in "UO"
        stored = h5py.string_dtype() if text else np.dtype("i1") if np.dtype(dtype) == bool else np.dtype(dtype)
        shape = [self.group.dimensions[d].size for d in dims]
        packing = {}
        if packed and not text and 0 not in shape and math.prod(shape) > 1000:
            pieces = _chunks(shape, stored.itemsize)
            packing = dict(compression="gzip", compression_opts=1, shuffle=True, chunks=pieces)
        made = self.group.create_variable(name, dims, stored, **packing)
        self.attributes[name] = {"dtype": "bool"} if not text and np.dtype(dtype) == bool else {}  # xarray's own way
        made.attrs.update(self.attributes[name])
        self.hashes[name] = _Fingerprint(name, dims, stored)

    def put(self, columns, start=0):
        """Rows of each variable, from `start` along its first axis."""
        for name, (dims, values) in columns.items():
            if name not in self.hashes:
                self.declare(name, dims, values.dtype)
            values = np.asarray(values)
            stored = values.astype(object) if values.dtype.kind in "UO" else values
            if values.size:
                variable = self.group.variables[name]
                variable[... if not values.ndim else slice(start, start + len(values))] = stored
            self.hashes[name].add(values)

    def seal(self):
        """Write the group's checksum. Nothing may be put afterwards."""
        marks = {name: h.hexdigest() for name, h in self.hashes.items()}
        self.group.attrs.update(self.attrs | {DIGEST: _group_hash(marks, self.attributes, self.attrs)})


def _plain_attrs(attrs) -> dict:
    """Numbers and texts as they are, anything else as JSON."""
    as_it_is = lambda v: isinstance(v, int | float | str) and not isinstance(v, bool)  # noqa: E731
    return {str(k): v if as_it_is(v) else json.dumps(v) for k, v in attrs.items()}


def _chunks(shape, itemsize):
    """Whole rows where they are small, pieces of a row where they are long."""
    rows, most = [], max(1, CHUNK // itemsize)
    for n in reversed(shape):
        rows.append(max(1, min(n, most)))
        most = max(1, most // rows[-1])
    return tuple(reversed(rows))


class _Fingerprint:
    """SHA-256 of a variable, as its values come in."""

    def __init__(self, name, dims, dtype):
        kind = "text" if dtype.kind == "O" else np.dtype(dtype).newbyteorder("<").str
        self.sha = hashlib.sha256(f"{name} {','.join(dims)} {kind} ".encode())
        self.dtype = dtype

    def add(self, values):
        if self.dtype.kind == "O":
            self.sha.update("".join(f"{text}\0" for text in values.ravel()).encode())
        else:
            little = self.dtype.newbyteorder("<")
            self.sha.update(np.ascontiguousarray(values.astype(little, copy=False)).tobytes())

    def hexdigest(self):
        return self.sha.hexdigest()


def _group_hash(marks, attributes, attrs) -> str:
    """Of a group: its variables' fingerprints, their attributes and its own."""
    said = {str(k): str(v) for k, v in attrs.items() if k != DIGEST}
    return hashlib.sha256(json.dumps([marks, attributes, said], sort_keys=True).encode()).hexdigest()


# ---- Reading ----


@dataclass(frozen=True)
class Raw:
    """A group as the child process found it.

    **Arguments:**

    - `columns`: its variables.
    - `attributes`: the attributes of each variable.
    - `attrs`: its own attributes.
    """

    columns: Columns
    attributes: dict[str, dict]
    attrs: dict

    def is_intact(self) -> bool:
        """Whether it is what was put there. A group without our checksum is taken as it is."""
        marks = {}
        for name, (dims, values) in self.columns.items():
            mark = _Fingerprint(name, dims, np.dtype(object) if values.dtype.kind == "U" else values.dtype)
            mark.add(values)
            marks[name] = mark.hexdigest()
        return self.attrs.get(DIGEST) in (None, _group_hash(marks, self.attributes, self.attrs))

    def dataset(self) -> xr.Dataset:
        """The group as xarray would read it."""
        variables = {n: xr.Variable(dims, v, self.attributes[n]) for n, (dims, v) in self.columns.items()}
        shown = {k: v for k, v in self.attrs.items() if k != DIGEST}
        return xr.decode_cf(xr.Dataset(variables, attrs=shown), decode_times=False, decode_timedelta=False)


def read_netcdf(path, ours=False) -> dict[str, xr.Dataset]:
    """The groups of a file, the root as "", checked where the file carries our checksums; `ours` must carry them."""
    return checked_datasets(_read_raw(path), path, ours)


def checked_datasets(groups: dict[str, Raw], path, ours=False) -> dict[str, xr.Dataset]:
    """The datasets of groups that are whole."""
    found = {}
    for name, raw in groups.items():
        require(not ours or DIGEST in raw.attrs, f"{path} was not written by saddlescope: it carries no checksums.")
        place = f"the group {name!r} of {path}" if name else str(path)
        require(raw.is_intact(), f"{place} is damaged: its checksum differs.")
        try:
            found[name] = raw.dataset()
        except (ValueError, KeyError, TypeError, AttributeError, OverflowError, MemoryError) as error:
            raise InvalidInput(f"{place} cannot be read by xarray ({error}).") from None
    return found


def _read_raw(path) -> dict[str, Raw]:
    """Group → what the child found in it."""
    path = Path(path)
    with tempfile.TemporaryDirectory() as scratch:
        target = Path(scratch) / "read.npz"
        words = [sys.executable, "-m", "saddlescope.storage.netcdf_reader_process", str(path.resolve()), str(target)]
        limit = PATIENCE[0] + PATIENCE[1] * path.stat().st_size
        try:
            child = subprocess.run(
                words, capture_output=True, encoding="utf-8", timeout=limit, cwd=scratch, env=_child_environment()
            )
        except subprocess.TimeoutExpired:
            raise InvalidInput(
                f"{path} could not be read in {limit:.0f} s: it is damaged, or not a NetCDF file."
            ) from None
        if TOO_LARGE in _why(child):
            raise InvalidInput(f"{path} is intact, but {TOO_LARGE}, or save fewer instants.")
        if child.returncode != 0:
            raise InvalidInput(f"{path} is damaged or not a NetCDF file ({_why(child)}); write it again.")
        return from_child(read_checked(target), path)


def _child_environment():
    """The child finds the same packages, wherever they were imported from, and speaks UTF-8 in every locale."""
    own = {"HDF5_PLUGIN_PRELOAD": "::", "PYTHONUTF8": "1", "PYTHONIOENCODING": "utf-8:replace"}
    return os.environ | own | {"PYTHONPATH": os.pathsep.join(p or os.getcwd() for p in sys.path)}


def _why(child):
    if child.returncode < 0:
        return f"reading it ended in {signal.Signals(-child.returncode).name}"
    return (child.stdout.strip().splitlines() or ["no reason given"])[-1][:200]


def from_child(packed, path):
    arrays, about = packed
    found = {}
    for group, facts in about["groups"].items():
        columns = {name: (tuple(dims), arrays[key]) for name, (key, dims) in facts["variables"].items()}
        found[group] = Raw(columns, facts["attributes"], facts["attrs"])
    require(bool(found), f"{path} holds nothing.")
    return found
