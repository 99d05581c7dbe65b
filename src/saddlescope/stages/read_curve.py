"""Loss curves from files: CSV, NPZ or NetCDF. Nothing in a file is executed."""

import csv
import re
from pathlib import Path

import numpy as np

from saddlescope.errors import InvalidInput, nearest, require
from saddlescope.storage.files import BROKEN

LOSS_NAMES = ("loss", "train_loss", "training_loss", "train/loss", "mse", "error", "val_loss")
LARGEST = 1 << 31  # bytes of arrays in an npz
LARGEST_SPAN = 1e306  # beyond it the axis of a figure overflows
TIME_NAMES = ("step", "global_step", "iteration", "iter", "epoch", "time")


def read_curve(
    path: str | Path,
    column: str | None = None,
    time: str | None = None,
) -> tuple[np.ndarray | None, np.ndarray, str]:
    """Read a loss curve from a file; gives (time or None, loss, name of the loss).

    **Arguments:**

    - `path`: A CSV, TSV, TXT, NPZ or NetCDF file.
    - `column`: The column or variable with the loss; `loss[3]` takes row 3. The default looks for
      one that is called like a loss.
    - `time`: The column or variable with the time. The default looks for one that is called like a
      time.
    """
    path = Path(path)
    require(path.is_file(), f"There is no file {path}: give a CSV, NPZ or NetCDF file with a loss curve.")
    require(path.stat().st_size > 0, f"{path} is empty: give a file with a loss curve.")
    readers = {".csv": _read_csv, ".tsv": _read_csv, ".txt": _read_csv, ".npz": _read_npz, ".nc": _read_netcdf}
    reader = readers.get(path.suffix.lower())
    if reader is None:
        raise InvalidInput(f"{path.name} is not a kind of file we read: use one of {', '.join(readers)}.")
    times, loss, name = reader(path, column, time)
    _check_finite(loss, f"{name!r} of {path}")
    return times, loss, name


def _check_finite(loss, what):
    """A curve may end in numbers that are not finite, but has some before; and a figure of it can be scaled."""
    finite = np.asarray(loss, float)[np.isfinite(loss)]
    require(finite.size > 0, f"{what} holds no finite number: give a column with a loss curve.")
    span = float(finite.max()) - float(finite.min())
    require(span < LARGEST_SPAN, f"{what} spans more than {LARGEST_SPAN:g}: give the loss in other units.")


def _chosen(name, names, path):
    """The name asked for, or that of a loss among the names."""
    names = list(names)
    if name is not None:
        require(name in names, f"{path} has no column {name!r}. It has {_listed(names)}.{nearest(name, names)}")
        return name
    curves = [n for n in names if n.lower() not in TIME_NAMES]
    require(bool(curves), f"{path} holds no curve: it has {_listed(names)}.")
    lower = {n.lower(): n for n in reversed(curves)}
    found = [lower[n] for n in LOSS_NAMES if n in lower]
    if curves == [f"column {i + 1}" for i in range(len(names))]:
        return curves[-1]  # a file without names: time first, if there is more than one
    require(
        bool(found) or len(curves) == 1,
        f"No loss column found in {path}, which has {_listed(curves)}: choose one with --column.",
    )
    return found[0] if found else curves[0]


def _listed(names):
    return ", ".join(names[:12]) + (f" and {len(names) - 12} more" if len(names) > 12 else "")


def _likely_time(columns, name, loss):
    """The first column named like a time that is as long as the loss and increases; else None."""
    for wanted in TIME_NAMES:
        for key, values in columns.items():
            fits = key != name and key.lower() == wanted and np.shape(values) == np.shape(loss)
            if fits and np.asarray(values).dtype.kind in "fiu" and np.all(np.diff(values) > 0):
                return np.asarray(values)
    return None


# ---- CSV ----


def _read_csv(path, column, time):
    """One column of numbers, and its times. A row where the column is empty is passed over, as loggers leave them."""
    names, rows, header = _csv_rows(path)
    name = _chosen(column, names, path)
    i = names.index(name)
    rows = [(n, row) for n, row in rows if i < len(row) and row[i]]
    require(bool(rows), f"{path} has no numbers in column {name!r}: give a file with a loss curve.")
    loss = _numbers(rows, i, name, path)
    if time is not None:
        return _numbers(rows, names.index(_chosen(time, names, path)), time, path), loss, name
    others = {n: [row[k] if k < len(row) else "" for _, row in rows] for k, n in enumerate(names)}
    numeric = {n: np.array([float(c) for c in cells]) for n, cells in others.items() if all(map(_is_number, cells))}
    return _likely_time(numeric, name, loss) if header else None, loss, name


def _csv_rows(path):
    """Names, numbered rows of cells, and whether there was a header; without one, columns are numbered."""
    try:
        text = path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError:
        raise InvalidInput(f"{path} is not text, though it ends in {path.suffix}: give a CSV file.") from None
    lines = [(n, line) for n, line in enumerate(text.splitlines(), 1) if line.strip() and line[0] != "#"]
    require(bool(lines), f"{path} is empty: give a file with a loss curve.")
    split = _splitter(lines[0][1])
    first = split(lines[0][1])
    header = not all(_is_number(cell) for cell in first)
    names = first if header else [f"column {i + 1}" for i in range(len(first))]
    return names, [(n, split(line)) for n, line in lines[header:]], header


def _splitter(line):
    for mark in (",", ";", "\t"):
        if mark in line:
            return lambda text: _cells(text, mark)
    return str.split


def _cells(line, mark):
    try:
        return [cell.strip() for cell in next(csv.reader([line], delimiter=mark, strict=True))]
    except csv.Error as error:
        raise InvalidInput(f"A line cannot be read as CSV ({error}): {line[:60]!r}.") from None


def _is_number(cell):
    """Whether a cell is a number as people write it; Python's 1_000 is not."""
    try:
        float(cell)
    except ValueError:
        return False
    return "_" not in cell


def _numbers(rows, i, name, path):
    for n, row in rows:
        cell = row[i] if i < len(row) else ""
        where = f"in line {n}, column {name!r}"
        require(_is_number(cell), f"{path} has {cell!r} where a number should be, {where}: fix that line.")
    return np.array([float(row[i]) for _, row in rows])


# ---- NPZ and NetCDF ----


def _row_of(name):
    """`loss[3]` is row 3 of loss."""
    found = re.fullmatch(r"(.+?)\[(\d+)\]", name or "")
    return (found[1], int(found[2])) if found else (name, None)


def _one_row(values, row, name, path):
    """A curve of a variable: itself, or its row; `values` is one array, or a list of rows."""
    ragged = isinstance(values, list)
    shape = (len(values), len(values[0]) if values else 0) if ragged else np.shape(values)
    if row is None and len(shape) == 2 and shape[0] == 1:
        row = 0
    if row is None:
        hint = f": name a row, such as --column '{name}[0]'" if len(shape) == 2 else ""
        require(len(shape) == 1, f"{name!r} of {path} has shape {shape}, not that of one curve{hint}.")
        return np.asarray(values)
    require(len(shape) == 2, f"{name!r} of {path} has shape {shape}: it has no rows that are curves.")
    require(row < shape[0], f"{name!r} of {path} has {shape[0]} rows; there is no row {row}.")
    return np.asarray(values[row])


def _read_npz(path, column, time):
    try:
        with open(path, "rb") as opened, np.load(opened, allow_pickle=False) as file:
            size = sum(member.file_size for member in file.zip.infolist())
            require(size <= LARGEST, f"it declares {size >> 20} MB")
            columns = {name: file[name] for name in file.files}
            columns = {name: v for name, v in columns.items() if isinstance(v, np.ndarray) and v.dtype.kind in "fiub"}
    except (*BROKEN, OSError, MemoryError) as error:
        reason = f"is damaged, or holds more than plain arrays ({error})"
        raise InvalidInput(f"{path} {reason}; write it again with numpy.savez.".replace("\n", " ")) from None
    base, row = _row_of(column)
    name = _chosen(base, columns, path)
    loss = _one_row(columns[name], row, name, path)
    times = columns[_chosen(time, columns, path)] if time else _likely_time(columns, name, loss)
    return times, loss, column or name


def _read_netcdf(path, column, time):
    """Variables of the root, or of the group `measured` in one of our results, each row cut at its
    own length.
    """
    from saddlescope.storage.netcdf import read_netcdf as read_groups

    groups = read_groups(path)
    data = next((groups[g] for g in ("", "measured") if g in groups and groups[g].variables), groups[""])
    columns = {str(k): _rows_of(data, v) for k, v in data.variables.items() if v.dtype.kind in "fiub"}
    base, row = _row_of(column)
    name = _chosen(base, columns, path)
    loss = _one_row(columns[name], row, name, path)
    times = _own_time(data, columns, name, row)
    if time is not None:
        named, its_row = _row_of(time)
        times = _one_row(columns[_chosen(named, columns, path)], its_row, time, path)
    return times, loss, column or name


def _rows_of(data, variable):
    """A (run, something) variable as a list of rows, cut where the run ended; others as they are."""
    if variable.dims[:1] != ("run",) or variable.ndim != 2:
        return variable.values
    dim = variable.dims[1]
    length = data.variables.get("length" if dim in ("step", "epoch") else f"{dim}_length")
    ends = [variable.shape[1]] * variable.shape[0] if length is None else length.values
    whole = np.ndim(ends) == 1 and len(ends) == variable.shape[0] and np.asarray(ends).dtype.kind in "iu"
    require(
        whole and all(0 <= n <= variable.shape[1] for n in ends), "The lengths of the runs in this file are not valid."
    )
    return [row[: int(n)] for row, n in zip(variable.values, ends, strict=True)]


def _own_time(data, columns, name, row):
    """The coordinate along a variable: `step` for what is kept at every step, `saved_step` for what is saved."""
    dim = data.variables[name].dims[-1]
    for key in (dim, f"{dim}_step", f"{dim}_epoch"):
        if key in columns and key != name:
            values = columns[key][row or 0] if isinstance(columns[key], list) else columns[key]
            n = len(columns[name][row or 0]) if isinstance(columns[name], list) else len(columns[name])
            return np.asarray(values)[:n]
    return None
