"""One row a run: its point, how it ended, last and least loss, and the last value of each single-number observable."""

import csv
import os
from pathlib import Path

import numpy as np

from saddlescope.errors import InvalidInput, require
from saddlescope.results import TICKS, Columns
from saddlescope.storage.files import write_atomically
from saddlescope.sweeps.consolidate import FolderContents
from saddlescope.sweeps.folder import Folder

KINDS = (".csv", ".parquet")


def check_table(path):
    kind = Path(path).suffix
    require(kind in KINDS, f"A table is a .csv or .parquet file, got {os.fspath(path)!r}.")
    if kind == ".parquet":
        try:
            import pyarrow  # noqa: F401
        except ImportError:
            raise InvalidInput("Parquet needs pyarrow: pip install 'saddlescope[tables]', or write a .csv.") from None


def row(point: dict, name: str, run: Columns) -> dict:
    """A run in single numbers and words."""
    found: dict = {**point, "name": name}
    for key, (dims, values) in run.items():
        if not dims and key in point:
            continue
        if not dims:
            found[key] = values.item()
        elif dims == ("saved",) and values.dtype.kind in "fiub" and not key.startswith("saved_"):
            found[key] = values[-1].item() if values.size else None
    if "loss" in run and run["loss"][0] and run["loss"][0][0] in TICKS:
        loss = run["loss"][1]
        finite = loss[np.isfinite(loss)]
        found |= {"length": len(loss), "last_loss": loss[-1].item() if loss.size else None,
                  "least_loss": finite.min().item() if finite.size else None}  # fmt: skip
    if "event_kind" in run:
        found["cuts"] = int(np.sum(run["event_kind"][1] == "cut"))
    found.pop("setting", None)  # long; `hash` names it
    return found


def write_table(folder: Folder, found: FolderContents, path):
    """The runs that are there, as CSV or Parquet, plus one row for each that failed or is missing."""
    check_table(path)
    rows = [row(found.named(n), n, folder.columns(n)[0]) for n in found.there]
    rows += [{**found.named(n), "name": n, "status": f"failed: {why}"} for n, why in found.failed.items()]
    rows += [{**found.named(n), "name": n, "status": "missing"} for n in found.missing]
    names = list({key: None for r in rows for key in r})
    if Path(path).suffix == ".csv":
        with write_atomically(path, "w") as file:
            writer = csv.DictWriter(file, names)
            writer.writeheader()
            writer.writerows(rows)
        return
    import pyarrow as pa
    import pyarrow.parquet as pq

    columns = {name: unified([r.get(name) for r in rows]) for name in names}
    with write_atomically(path) as file:
        pq.write_table(pa.table(columns), file)


def unified(values):
    """A column of one kind: numbers where all are numbers, else text."""
    given = [v for v in values if v is not None]
    if any(isinstance(v, str) for v in given) and not all(isinstance(v, str) for v in given):
        return [None if v is None else str(v) for v in values]
    numbers = {type(v) for v in given}
    wide = any(isinstance(v, int) and abs(v) >= 2**63 for v in given)
    if (float in numbers and len(numbers) > 1) or wide:
        return [None if v is None else float(v) for v in values]
    return values
