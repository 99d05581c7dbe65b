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
    filled = (groups[g] for g in ("", "measured") if g in groups and groups[g].variables)
    data = next(filled, groups[""])
    columns = {str(k): _cut(data, v) for k, v in data.variables.items() if v.dtype.kind in "fiub"}
    series = {}
    for name, values in columns.items():
        series |= rows_of(name, values, *_time_of(data, columns, name))
    ours = "measured" in groups
    return Log("results of Saddlescope" if ours else "NetCDF", series)


def _cut(data, variable):
    """A (run, something) variable as a list of rows, cut where each run ended; else as it is."""
    if variable.dims[:1] != ("run",) or variable.ndim != 2:
        return variable.values
    dim = variable.dims[1]
    length = data.variables.get("length" if dim in ("step", "epoch") else f"{dim}_length")
    ends = [variable.shape[1]] * variable.shape[0] if length is None else length.values
    whole = np.shape(ends) == variable.shape[:1] and np.asarray(ends).dtype.kind in "iu"
    valid = whole and all(0 <= n <= variable.shape[1] for n in ends)
    require(valid, "The lengths of the runs in this file are not valid.")
    return [row[: int(n)] for row, n in zip(variable.values, ends, strict=True)]


def _time_of(data, columns, name):
    """The coordinate along a variable: `step` for every step, `saved_step` for what is saved."""
    dims = data.variables[name].dims
    for key in (dims[-1], f"{dims[-1]}_step", f"{dims[-1]}_epoch") if dims else ():
        if key in columns and key != name:
            return columns[key], key.rpartition("_")[2] if key != dims[-1] else key
    return None, "point"
