"""One row per run: its point, how it ended, its losses, its stages, and the last value of each observable."""

import csv
import os
from collections.abc import Callable
from pathlib import Path

import numpy as np

from saddlescope.errors import InvalidInput, require
from saddlescope.results import TICKS, Columns
from saddlescope.stages import find_stages
from saddlescope.storage.files import write_atomically
from saddlescope.sweeps.consolidate import FolderContents
from saddlescope.sweeps.folder import Folder
from saddlescope.tables import stage_columns, stages_last

SUFFIXES = (".csv", ".parquet")


def check_table(path):
    """Refuse a table that cannot be written, before anything is read."""
    suffix = Path(path).suffix
    require(suffix in SUFFIXES, f"A table is a .csv or .parquet file, got {os.fspath(path)!r}.")
    if suffix == ".parquet":
        try:
            import pyarrow  # noqa: F401
        except ImportError:
            raise InvalidInput("Parquet needs pyarrow: pip install 'saddlescope[tables]', or write a .csv.") from None


def write_table(folder: Folder, found: FolderContents, path, seen: Callable = lambda done: None):
    """Write the runs that are there as CSV or Parquet, and one row for each that failed or is missing."""
    check_table(path)
    rows = []
    for i, name in enumerate(found.done):
        rows.append(_row(found.point_of(name), name, folder.columns(name)[0]))
        seen(i + 1)
    rows += [found.point_of(n) | {"name": n, "status": f"failed: {why}"} for n, why in found.failed.items()]
    rows += [found.point_of(n) | {"name": n, "status": "missing"} for n in found.missing]
    names = stages_last({key: None for row in rows for key in row})
    if Path(path).suffix == ".csv":
        with write_atomically(path, "w") as file:
            writer = csv.DictWriter(file, names)
            writer.writeheader()
            writer.writerows(rows)
        return
    import pyarrow as pa
    import pyarrow.parquet as pq

    columns = {name: _of_one_kind([row.get(name) for row in rows]) for name in names}
    with write_atomically(path) as file:
        pq.write_table(pa.table(columns), file)


def _row(point: dict, name: str, run: Columns) -> dict:
    """A run in single numbers and words."""
    found: dict = {**point, "name": name}
    for key, (dims, values) in run.items():
        if not dims and key in point:
            continue
        if not dims:
            found[key] = values.item()
        elif dims == ("saved",) and values.dtype.kind in "fiub" and not key.startswith("saved_"):
            found[key] = values[-1].item() if values.size else None
    if "event_kind" in run:
        found["cuts"] = int(np.sum(run["event_kind"][1] == "cut"))
    if "loss" in run and run["loss"][0] and run["loss"][0][0] in TICKS:
        found |= _of_loss(run["loss"][1])
    found.pop("setting", None)  # long; `hash` names it
    return found


def _of_loss(loss: np.ndarray) -> dict:
    """Length, last and least loss, and the stages."""
    finite = loss[np.isfinite(loss)]
    found: dict = {"length": len(loss), "last_loss": loss[-1].item() if loss.size else None}
    found["least_loss"] = finite.min().item() if finite.size else None
    return found | stage_columns(find_stages(loss))


def _of_one_kind(values):
    """A column of one kind: numbers where all are numbers, else text."""
    given = [v for v in values if v is not None]
    if any(isinstance(v, str) for v in given) and not all(isinstance(v, str) for v in given):
        return [None if v is None else str(v) for v in values]
    kinds = {type(v) for v in given}
    wide = any(isinstance(v, int) and abs(v) >= 2**63 for v in given)
    if (float in kinds and len(kinds) > 1) or wide:
        return [None if v is None else float(v) for v in values]
    return values
