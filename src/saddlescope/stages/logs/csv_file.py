"""CSV of any kind: with or without a header, separated by commas, semicolons, tabs or spaces."""

from pathlib import Path

import numpy as np

from saddlescope.stages.logs import csv_cells, csv_pandas
from saddlescope.stages.logs.clock import log_of_columns
from saddlescope.stages.logs.csv_cells import Table, header_of, is_number, separator
from saddlescope.stages.logs.log import Log
from saddlescope.stages.logs.text import first_lines, read_text

SUFFIXES = (".csv", ".tsv", ".txt")


def fits(path: Path) -> bool:
    """By its name, or because most of its first rows are numbers."""
    lines = [line for line in first_lines(path) if line[0] != "#"][:20]
    if path.suffix.lower() in SUFFIXES:
        return path.is_file()
    mark = separator(lines) if lines else None
    rows = [[is_number(cell) for cell in line.split(mark) if cell.strip()] for line in lines[1:]]
    return sum(sum(row) >= max(len(row) / 2, 1) for row in rows) > 0.8 * len(rows)


def read(path: Path) -> Log:
    """All columns of numbers. An empty cell is no value, as loggers leave them."""
    table = read_table(path)
    clock = None if table.header else _first_column(table)
    if clock:
        table.notes.append("There is no header: column 1, which increases, was taken as time.")
    return log_of_columns(_kind(path, table), table.columns, table.notes, table.unreadable, clock)


def read_table(path: Path) -> Table:
    """The columns of a CSV file, with what is to say of them."""
    text, notes = read_text(path)
    table = csv_pandas.parse(text, path) or csv_cells.parse(text, path)
    table.notes[:0] = notes
    return table


def header(path: Path) -> list[str]:
    """The names in the first line of a file."""
    lines = [line for line in first_lines(path) if line[0] != "#"][:20]
    mark = separator(lines) if lines else None
    return header_of([cell.strip().strip('"') for cell in lines[0].split(mark)])[0] if lines else []


def _kind(path, table):
    lightning = path.name == "metrics.csv" and {"epoch", "step"} <= set(table.names)
    return "Lightning metrics.csv" if lightning else "CSV"


def _first_column(table):
    """The first of several columns without names, if it increases in every row."""
    if len(table.columns) < 2 or "column 1" not in table.columns:
        return None
    rows, values = table.columns["column 1"]
    whole = len(rows) == max(len(r) for r, _ in table.columns.values())
    return "column 1" if whole and np.all(np.diff(values) > 0) else None
