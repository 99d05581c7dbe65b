"""Loss curves from files: CSV, NPZ or NetCDF. Nothing in a file is executed."""

import csv
import re
import zipfile
from pathlib import Path

import numpy as np

from saddlescope.refusal import Refusal, nearest, refuse_unless

LOSS_NAMES = ("loss", "train_loss", "training_loss", "train/loss", "mse", "error", "val_loss")
TIME_NAMES = ("step", "epoch", "time", "iteration", "iter", "global_step")


def read_curve(path, column=None, time=None):
    """(time or None, loss, name of the loss). `column` and `time` name columns or variables; `loss[3]` takes row 3."""
    path = Path(path)
    refuse_unless(path.is_file(), f"There is no file {path}: give a CSV, NPZ or NetCDF file with a loss curve.")
    refuse_unless(path.stat().st_size > 0, f"{path} is empty: give a file with a loss curve.")
    readers = {".csv": read_csv, ".tsv": read_csv, ".txt": read_csv, ".npz": read_npz, ".nc": read_netcdf}
    refuse_unless(
        path.suffix.lower() in readers, f"{path.name} is not a kind of file we read: use one of {', '.join(readers)}."
    )
    columns = readers[path.suffix.lower()](path)
    name = column or default_name(columns, path)
    loss = take(columns, name, path)
    times = take(columns, time, path) if time else default_time(columns, name, loss)
    return times, loss, name


def take(columns, name, path):
    """One curve by its name; of several rows, the one asked for, without its padding."""
    found = re.fullmatch(r"(.+?)\[(\d+)\]", name)
    base, row = (found[1], int(found[2])) if found and name not in columns else (name, None)
    refuse_unless(base in columns, f"{path} has no column {base!r}, but {listed(columns)}.{nearest(base, columns)}")
    values = np.asarray(columns[base])
    if row is None and values.ndim == 2 and len(values) == 1:
        row = 0
    if row is not None:
        rows = len(values) if values.ndim > 1 else 0
        refuse_unless(values.ndim == 2 and row < rows, f"{base!r} of {path} has {rows} rows; there is no row {row}.")
        return values[row][: int(columns["length"][row])] if "length" in columns else values[row]
    refuse_unless(
        values.ndim == 1,
        f"{base!r} of {path} has shape {values.shape}, not one curve: name a row, such as --column '{base}[0]'.",
    )
    return values


def default_name(columns, path):
    curves = [name for name in columns if np.ndim(columns[name]) in (1, 2) and name.lower() not in TIME_NAMES]
    refuse_unless(bool(curves), f"{path} holds no curve: it has {listed(columns)}.")
    lower = {name.lower(): name for name in reversed(curves)}
    return next((lower[name] for name in LOSS_NAMES if name in lower), curves[-1])


def default_time(columns, name, loss):
    for key in columns:
        if key.lower() in TIME_NAMES and key != name and np.shape(columns[key])[:1] >= (len(loss),):
            return np.asarray(columns[key])[: len(loss)]
    return None


def listed(columns):
    names = list(columns)
    return ", ".join(names[:12]) + (f" and {len(names) - 12} more" if len(names) > 12 else "")


def read_csv(path):
    """Columns by name, or `column 1`, `column 2`, … where there is no header."""
    try:
        text = path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError:
        raise Refusal(f"{path} is not text, though it ends in {path.suffix}: give a CSV file.") from None
    lines = [line for line in text.splitlines() if line.strip() and not line.startswith("#")]
    refuse_unless(bool(lines), f"{path} is empty: give a file with a loss curve.")
    split = splitter(lines[0])
    first = split(lines[0])
    header = not all(is_number(cell) for cell in first)
    names = first if header else [f"column {i + 1}" for i in range(len(first))]
    rows = [split(line) for line in lines[header:]]
    refuse_unless(bool(rows), f"{path} has a header and no numbers: give a file with a loss curve.")
    return {name: column_of(rows, i, name, path, header) for i, name in enumerate(names)}


def splitter(line):
    for mark in (",", ";", "\t"):
        if mark in line:
            return lambda text: [cell.strip() for cell in next(csv.reader([text], delimiter=mark))]
    return str.split


def is_number(cell):
    try:
        float(cell)
    except ValueError:
        return False
    return True


def column_of(rows, i, name, path, header):
    """Numbers of one column; the first that is none is named."""
    for n, row in enumerate(rows):
        cell = row[i] if i < len(row) else ""
        refuse_unless(
            is_number(cell),
            f"{path} has {cell!r} where a number should be, in line {n + 1 + header}, column {name!r}: "
            "leave it out or write nan.",
        )
    return np.array([float(row[i]) for row in rows])


def read_npz(path):
    try:
        with open(path, "rb") as opened, np.load(opened, allow_pickle=False) as file:
            return {name: file[name] for name in file.files}
    except (OSError, ValueError, EOFError, zipfile.BadZipFile) as error:
        raise Refusal(f"{path} is damaged or not a plain NPZ file ({error}); write it again.") from None


def read_netcdf(path):
    """Variables of the root, or of the group `measured` in a result of ours, which must match its checksum."""
    import xarray as xr

    for group in (None, "measured"):
        try:
            with xr.open_dataset(path, group=group, engine="h5netcdf") as data:
                columns = {str(k): np.asarray(v) for k, v in data.variables.items() if v.dtype.kind in "fiub"}
        except (OSError, ValueError, KeyError) as error:
            raise Refusal(f"{path} is damaged or not a NetCDF file ({error}); write it again.") from None
        if columns:
            return columns
    return {}
