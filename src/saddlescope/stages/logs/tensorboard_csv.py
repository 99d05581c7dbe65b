"""The CSV that TensorBoard's page exports: wall time, step and value of one scalar."""

from pathlib import Path

from saddlescope.errors import number_of
from saddlescope.stages.logs.clock import log_of_columns
from saddlescope.stages.logs.csv_file import header, read_table
from saddlescope.stages.logs.log import Log

COLUMNS = ["Wall time", "Step", "Value"]
KEPT = 1000  # points per series that TensorBoard keeps by default


def fits(path: Path) -> bool:
    """By its header."""
    return header(path) == COLUMNS


def read(path: Path) -> Log:
    """The value over the step; TensorBoard keeps a random sample of a long series."""
    table = read_table(path)
    n = len(table.columns.get("Value", ((), ()))[0])
    here = number_of(n, "point")
    note = f"TensorBoard exports a sample of {KEPT:,} points by default; here are {here}."
    more = "Drops may be missing: the event file has every point." if n >= KEPT else ""
    notes = [*table.notes, f"{note} {more}".strip()]
    return log_of_columns("TensorBoard export", table.columns, notes, table.unreadable, "Step")
