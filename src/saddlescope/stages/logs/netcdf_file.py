"""NetCDF: the root of any file, or the runs in one of our results, each cut at its own length."""

from pathlib import Path

import numpy as np

from saddlescope.errors import require
from saddlescope.stages.logs.log import Log
from saddlescope.stages.logs.rows_of_arrays import rows_of

BEGINNINGS = (b"\x89HDF", b"CDF\x01", b"CDF\x02")


def fits(path: Path) -> bool:
    """By its name or its first bytes."""
    if not path.is_file():
        return False
    with path.open("rb") as file:
        return path.suffix.lower() == ".nc" or file.read(4) in BEGINNINGS


def read(path: Path) -> Log:
    """All variables of numbers. A file in a folder of ours must have the checksum written there."""
    from saddlescope.storage.netcdf import read_netcdf
    from saddlescope.storage.result_folder import check_file

    check_file(path)
    groups = read_netcdf(path)
    filled = (g for g in ("", "measured") if g in groups and groups[g].columns)
    data = _arrays(groups[next(filled, "")], path)
    columns = {name: _cut(data, name) for name, (_, values) in data.items() if values.dtype.kind in "fiub"}
    series = {}
    for name, values in columns.items():
        series |= rows_of(name, values, *_time_of(data, columns, name))
    return Log("results of Saddlescope" if "measured" in groups else "NetCDF", series)


def _arrays(group, path):
    """Name → dimensions and values. Only what others wrote may be packed in a way that xarray must undo."""
    from saddlescope.storage.netcdf import as_datasets

    if group.is_ours:
        return {name: (dims, group[name]) for name, (dims, _) in group.columns.items()}
    found = as_datasets({"": group}, path)[""].variables
    return {str(name): (v.dims, v.values) for name, v in found.items()}


def _cut(data, name):
    """A (run, something) variable as a list of rows, cut where each run ended; else as it is."""
    dims, values = data[name]
    if dims[:1] != ("run",) or values.ndim != 2:
        return values
    length = data.get("length" if dims[1] in ("step", "epoch") else f"{dims[1]}_length")
    ends = [values.shape[1]] * values.shape[0] if length is None else length[1]
    whole = np.shape(ends) == values.shape[:1] and np.asarray(ends).dtype.kind in "iu"
    valid = whole and all(0 <= n <= values.shape[1] for n in ends)
    require(valid, "The lengths of the runs in this file are not valid.")
    return [row[: int(n)] for row, n in zip(values, ends, strict=True)]


def _time_of(data, columns, name):
    """The coordinate along a variable: `step` for every step, `saved_step` for what is saved."""
    dims, _ = data[name]
    for key in (dims[-1], f"{dims[-1]}_step", f"{dims[-1]}_epoch") if dims else ():
        if key in columns and key != name:
            return columns[key], key.rpartition("_")[2] if key != dims[-1] else key
    return None, "point"
