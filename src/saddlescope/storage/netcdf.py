"""NetCDF files, read by a process of their own.

HDF5 can crash on a damaged or hostile file. So a child process reads it and hands over its arrays (netcdf_child.py).
A file that saddlescope wrote also carries, in each group, the SHA-256 of what was put there: a file whose contents
differ from it is refused.
"""

import json
import tempfile
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from saddlescope.errors import InvalidInput, require
from saddlescope.results import Columns
from saddlescope.storage.files import read_checked
from saddlescope.storage.fingerprint import DIGEST, Fingerprint, group_hash
from saddlescope.storage.netcdf_child import convert_in_child

if TYPE_CHECKING:
    import xarray as xr


@dataclass(frozen=True)
class Raw:
    """A group as the child process found it.

    **Arguments:**

    - `columns`: its variables.
    - `attributes`: the attributes of each variable.
    - `attrs`: its own attributes.
    """

    columns: Columns
    attributes: Mapping[str, dict]
    attrs: dict

    @classmethod
    def of(cls, dataset: "xr.Dataset") -> "Raw":
        """A dataset as it will be found once it is written."""
        columns = {str(name): (tuple(map(str, v.dims)), v.values) for name, v in dataset.variables.items()}
        coords = {str(c) for c in dataset.coords} - {str(d) for d in dataset.dims}
        named = {"coordinates": " ".join(sorted(coords))} if coords else {}  # how xarray knows them again
        return cls(columns, defaultdict(dict), plain_attrs(dataset.attrs) | named)

    @property
    def sizes(self) -> dict[str, int]:
        """The length of each dimension."""
        return {dim: n for dims, values in self.columns.values() for dim, n in zip(dims, values.shape, strict=False)}

    @property
    def coords(self) -> list[str]:
        """The variables that are coordinates: so named by the group, or by the name of their one dimension."""
        named = str(self.attrs.get("coordinates", "")).split()
        return [name for name, (dims, _) in self.columns.items() if name in named or dims == (name,)]

    @property
    def facts(self) -> dict:
        """Its attributes, but for its checksum."""
        return {name: value for name, value in self.attrs.items() if name != DIGEST}

    @property
    def is_ours(self) -> bool:
        """Whether it carries our checksum."""
        return DIGEST in self.attrs

    def __contains__(self, name: str) -> bool:
        return name in self.columns

    def __getitem__(self, name: str) -> np.ndarray:
        """The values of a variable; truths are stored as bytes."""
        values = self.columns[name][1]
        return values.astype(bool) if self.attributes[name].get("dtype") == "bool" else values

    def is_intact(self) -> bool:
        """Whether it is what was put there. A group without our checksum is taken as it is."""
        marks = {}
        for name, (dims, values) in self.columns.items():
            mark = Fingerprint(name, dims, np.dtype(object) if values.dtype.kind == "U" else values.dtype)
            mark.add(values)
            marks[name] = mark.hexdigest()
        return self.attrs.get(DIGEST) in (None, group_hash(marks, self.attributes, self.attrs))

    def is_even(self) -> bool:
        """Whether each dimension has one length."""
        sizes = self.sizes
        return all(values.shape == tuple(map(sizes.get, dims)) for dims, values in self.columns.values())

    def dataset(self) -> "xr.Dataset":
        """The group as xarray would read it."""
        import xarray as xr

        variables = {n: xr.Variable(dims, v, self.attributes[n]) for n, (dims, v) in self.columns.items()}
        return xr.decode_cf(xr.Dataset(variables, attrs=self.facts), decode_times=False, decode_timedelta=False)


def read_netcdf(path, ours=False) -> dict[str, Raw]:
    """The groups of a file, the root as "", checked where the file carries our checksums; `ours` must carry them."""
    with tempfile.TemporaryDirectory() as scratch:
        target = Path(scratch) / "read.npz"
        convert_in_child(Path(path), target)
        return checked(from_child(read_checked(target), path), path, ours)


def checked(groups: dict[str, Raw], path, ours=False) -> dict[str, Raw]:
    """The same groups, if they are whole."""
    for name, raw in groups.items():
        require(not ours or raw.is_ours, f"{path} was not written by saddlescope: it carries no checksums.")
        require(raw.is_intact(), f"{_place(name, path)} is damaged: its checksum differs.")
        require(raw.is_even(), f"{_place(name, path)} cannot be read: its variables differ in length along one axis.")
    return groups


def as_datasets(groups: dict[str, Raw], path) -> "dict[str, xr.Dataset]":
    """The groups of a file as xarray would read them."""
    found = {}
    for name, raw in groups.items():
        try:
            found[name] = raw.dataset()
        except (ValueError, KeyError, TypeError, AttributeError, OverflowError, MemoryError) as error:
            raise InvalidInput(f"{_place(name, path)} cannot be read by xarray ({error}).") from None
    return found


def plain_attrs(attrs: Mapping) -> dict:
    """Numbers and texts as they are, anything else as JSON: so attributes are stored."""
    as_it_is = lambda v: isinstance(v, int | float | str) and not isinstance(v, bool)  # noqa: E731
    return {str(k): v if as_it_is(v) else json.dumps(v) for k, v in attrs.items()}


def _place(group, path) -> str:
    return f"the group {group!r} of {path}" if group else str(path)


def from_child(packed, path) -> dict[str, Raw]:
    """Group → what the child found in it."""
    arrays, about = packed
    found = {}
    for group, facts in about["groups"].items():
        columns = {name: (tuple(dims), arrays[key]) for name, (key, dims) in facts["variables"].items()}
        found[group] = Raw(columns, facts["attributes"], facts["attrs"])
    require(bool(found), f"{path} holds nothing.")
    return found
