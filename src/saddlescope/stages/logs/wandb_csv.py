"""The CSV that a W&B chart exports: `Step`, then for each run a value, its least and largest."""

import re
from pathlib import Path

from saddlescope.stages.logs.clock import log_of_columns
from saddlescope.stages.logs.csv_file import header, read_table
from saddlescope.stages.logs.log import Log

EXTREME = re.compile(r".+ - .+__(MIN|MAX)")
NOTE = "W&B exports a sample of a chart: not every point is here. The run-*.wandb file has all."


def fits(path: Path) -> bool:
    """By its header."""
    return any(EXTREME.fullmatch(name) for name in header(path))


def read(path: Path) -> Log:
    """The value of each run over the first column; __MIN and __MAX are left out."""
    table = read_table(path)
    columns = {n: c for n, c in table.columns.items() if not EXTREME.fullmatch(n)}
    unreadable = {n: why for n, why in table.unreadable.items() if not EXTREME.fullmatch(n)}
    notes = [*table.notes, NOTE]
    return log_of_columns("W&B export", columns, notes, unreadable, table.names[0])
