"""The user's data for `saddlescope escape`: X and y, or X and G, from .npz, .npy and .csv files."""

import csv
import re
from pathlib import Path
from typing import NamedTuple
from zipfile import BadZipFile

import numpy as np

from saddlescope.errors import InvalidInput, require
from saddlescope.theory.escape.localized import gradient_at_zero
from saddlescope.theory.escape.problem import as_numbers
from saddlescope.workflows.table_cells import is_number, require_table

KINDS = (".npz", ".npy", ".csv")
LOSSES = ("squared", "cross-entropy")
TARGETS = ("y", "label", "labels", "target", "class")


class EscapeData(NamedTuple):
    """Data of a question about escape.

    **Arguments:**

    - `X`: inputs, (inputs, points).
    - `G`: gradient of the loss at zero output, (outputs, points).
    - `origin`: how G was made, in words.
    """

    X: np.ndarray
    G: np.ndarray
    origin: str


def read_escape_data(path: str | Path, loss: str | None = None) -> EscapeData:
    """Read a file with one row per point. Where it has G, G is taken; else G is made from y and the loss.

    Without a loss it is the squared one.
    """
    path = Path(path)
    require(loss is None or loss in LOSSES, f"The loss is squared or cross-entropy; got {loss!r}.")
    require(path.suffix.lower() in KINDS, f"Data are a .npz, .npy or .csv file; got {path.name!r}.")
    require(path.is_file(), f"There is no file {str(path)!r}; give a file with X and y, or X and G.")
    try:
        found = {".npz": _from_npz, ".npy": _from_npy, ".csv": _from_csv}[path.suffix.lower()](path)
    except InvalidInput:
        raise
    except (ValueError, OSError, EOFError, BadZipFile):
        whole = "is damaged, or holds Python objects" if path.suffix.lower() != ".csv" else "is no text in UTF-8"
        raise InvalidInput(f"{path.name} cannot be read: it {whole}; write it again.") from None
    if "G" in found:
        require(loss is None, f"{path.name} has G, which is the gradient of a loss already; leave out --loss.")
        return _with_gradient(found["X"], found["G"])
    return _with_targets(found["X"], found["y"], loss or LOSSES[0])


def _from_npz(path):
    with np.load(path, allow_pickle=False) as stored:
        names = list(stored)
        require("X" in names, f"{path.name} has no array X; it has {', '.join(names) or 'nothing'}.")
        second = next((n for n in ("G", "y") if n in names), None)
        require(second, f"{path.name} has X, but neither y nor G; it has {', '.join(names)}.")
        return {"X": stored["X"], second: stored[second]}


def _from_npy(path):
    table = np.load(path, allow_pickle=False)
    require_table(table.shape, path)
    return {"X": table[:, :-1], "y": table[:, -1]}


def _from_csv(path):
    with path.open(encoding="utf-8-sig", newline="") as file:
        rows = [row for row in csv.reader(file) if any(cell.strip() for cell in row)]
    require(rows, f"{path.name} is empty; give one row per point.")
    one = max(map(len, rows)) == 1
    others = next((mark for mark in ";\t " if one and mark in rows[0][0].strip()), None)
    require(others is None, f"{path.name} has {others!r} between its cells; use commas.")
    # A row with a number in it is a point; a word in it is then a fault, and not the name of a column.
    named = not any(map(is_number, rows[0]))
    names, rows = (rows[0], rows[1:]) if named else ([], rows)
    require(rows, f"{path.name} has names of columns, but no row below them; give one row per point.")
    lengths = {len(row) for row in rows}
    require(len(lengths) == 1, f"The rows of {path.name} have different lengths: {sorted(lengths)}.")
    require_table((len(rows), lengths.pop()), path)
    columns = [np.array(column) for column in zip(*rows, strict=True)]
    slopes = [k for k, name in enumerate(names) if re.fullmatch(r"G[\d_]*", name.strip())]
    if slopes:
        rest = [k for k in range(len(columns)) if k not in slopes]
        return {"X": _numbers(columns, rest, path), "G": _numbers(columns, slopes, path)}
    at = next((k for k, name in enumerate(names) if name.strip().lower() in TARGETS), len(columns) - 1)
    others = [k for k in range(len(columns)) if k != at]
    return {"X": _numbers(columns, others, path), "y": columns[at]}


def _numbers(columns, chosen, path):
    bad = next((cell for k in chosen for cell in columns[k] if not is_number(cell)), None)
    seen = "an empty cell" if bad is not None and not bad.strip() else repr(bad)
    require(bad is None, f"{path.name} has {seen} where a number was expected.")
    return np.array([columns[k].astype(float) for k in chosen]).T


def _with_gradient(X, G):
    """One row per point, or both as (…, points), as `escape_directions` takes them."""
    X, G = as_numbers("X", X), as_numbers("G", G)
    require(X.ndim == 2, f"X must have two dimensions, one row per point; got {X.shape}.")
    G = G[:, None] if G.ndim == 1 and len(G) == len(X) else np.atleast_2d(G)
    rows, columns = len(G) == len(X), G.ndim == 2 and G.shape[-1] == X.shape[1]
    require(
        G.ndim == 2 and (rows or columns),
        f"G must have one row per row of X, or one column per column; X is {X.shape}, G is {G.shape}.",
    )
    return EscapeData(X.T, G.T, "G as given") if rows else EscapeData(X, G, "G as given, one column per point")


def _with_targets(X, y, loss):
    X, y = as_numbers("X", X), np.asarray(y)
    require(X.ndim == 2, f"X must have two dimensions, one row per point; got {X.shape}.")
    empty = y.dtype.kind in "US" and not np.char.str_len(np.char.strip(y)).all()
    require(not empty, "y has an empty cell; every point needs a target.")
    require(y.ndim in (1, 2) and len(y) == len(X), f"y must have one row per row of X: {len(X)}; got {y.shape}.")
    if loss == "squared":
        targets = _as_numbers(y)
        return EscapeData(X.T, gradient_at_zero(targets.T), "squared loss")
    onehot = _one_hot(y)
    counts = onehot.sum(axis=0)
    empty = np.flatnonzero(counts == 0)
    require(not empty.size, f"Class {empty[0] if empty.size else 0} has no sample; number the classes without gaps.")
    return EscapeData(X.T, gradient_at_zero(onehot.T, "cross-entropy"), f"cross-entropy of {len(counts)} classes")


def _as_numbers(y):
    words = y.dtype.kind in "US" and not all(map(is_number, y.ravel()))
    require(not words, "y has words: use --loss cross-entropy for classes.")
    values = as_numbers("y", y.astype(float) if y.dtype.kind in "US" else y)
    return values[:, None] if values.ndim == 1 else values


def _one_hot(y):
    """Rows of one-hot targets, from these themselves, from numbers 0 … C − 1, or from words."""
    if y.ndim == 2 and y.shape[1] > 1:
        values = _as_numbers(y)
        good = np.isin(values, (0, 1)).all() and (values.sum(axis=1) == 1).all()
        require(good, "y with several columns must be one-hot for cross-entropy: a single 1 per row.")
        return values
    labels = y.ravel()
    if labels.dtype.kind in "US" and not all(map(is_number, labels)):
        labels = np.unique(labels, return_inverse=True)[1]
    values = as_numbers("y", labels.astype(float) if labels.dtype.kind in "US" else labels)
    whole = np.isfinite(values).all() and np.all(values == np.round(values)) and values.min() >= 0
    require(whole, "Classes are whole numbers from 0 on, or words; use --loss squared for other targets.")
    classes = int(values.max()) + 1
    require(classes >= 2, "Cross-entropy needs two classes or more; y has one.")
    require(
        classes <= len(values), f"y names class {classes - 1}, but there are {len(values)} points; number from 0 on."
    )
    return np.eye(classes)[values.astype(int)]
