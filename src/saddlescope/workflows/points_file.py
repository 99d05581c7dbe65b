"""Points of anyone's for `saddlescope meanfield`: x, y and weights from .npz, .npy and .csv files."""

import csv
import re
from pathlib import Path

import numpy as np

from saddlescope.errors import InvalidInput, require
from saddlescope.meanfield import Measure
from saddlescope.workflows.table_cells import is_number, require_table

KINDS = (".npz", ".npy", ".csv")
TARGET, WEIGHT = re.compile(r"(y|target)[\d_]*"), ("weight", "weights", "pi")


def is_points_file(what: str) -> bool:
    """Whether it is named like a file of points."""
    return Path(what).suffix.lower() in KINDS


def read_points(path: str | Path) -> Measure:
    """Read a file with one row per point: inputs, targets, and weights where it has them."""
    path = Path(path)
    require(path.is_file(), f"There is no file {str(path)!r}; give a file with x and y, or the name of a run.")
    read = {".npz": _from_npz, ".npy": _from_npy, ".csv": _from_csv}[path.suffix.lower()]
    try:
        x, y, weights = read(path)
    except (ValueError, OSError, EOFError) as error:
        if isinstance(error, InvalidInput):
            raise
        raise InvalidInput(f"{path.name} cannot be read: {error}.") from None
    return Measure(x, y, weights)


def _from_npz(path):
    with np.load(path, allow_pickle=False) as stored:
        names = {name.lower(): name for name in stored}
        missing = next((n for n in ("x", "y") if n not in names), None)
        require(missing is None, f"{path.name} has no array {missing}; it has {', '.join(stored) or 'nothing'}.")
        weight = next((names[n] for n in WEIGHT if n in names), None)
        return stored[names["x"]], stored[names["y"]], None if weight is None else stored[weight]


def _from_npy(path):
    table = np.load(path, allow_pickle=False)
    require_table(table.shape, path)
    return table[:, :-1], table[:, -1], None


def _from_csv(path):
    """With a header, columns y, y1, … are targets and `weight` the weights; without one, y is the last column."""
    with path.open(encoding="utf-8-sig", newline="") as file:
        rows = [row for row in csv.reader(file) if row]
    require(rows, f"{path.name} is empty; give one row per point.")
    names = [] if all(map(is_number, rows[0])) else [name.strip().lower() for name in rows[0]]
    table = _numbers(rows[1:] if names else rows, path)
    if not names:
        return table[:, :-1], table[:, -1], None
    y = [k for k, name in enumerate(names) if TARGET.fullmatch(name)]
    weight = [k for k, name in enumerate(names) if name in WEIGHT]
    x = [k for k in range(len(names)) if k not in y + weight]
    require(x and y, f"{path.name} needs columns of inputs and a column y; it has {', '.join(names)}.")
    return table[:, x], table[:, y], table[:, weight[0]] if weight else None


def _numbers(rows, path):
    lengths = {len(row) for row in rows}
    require(len(lengths) == 1, f"The rows of {path.name} must have one length; they have {sorted(lengths)}.")
    require_table((len(rows), lengths.pop()), path)
    bad = next((cell for row in rows for cell in row if not is_number(cell)), None)
    require(bad is None, f"{path.name} has {bad!r} where a number was expected.")
    return np.array(rows, float)
