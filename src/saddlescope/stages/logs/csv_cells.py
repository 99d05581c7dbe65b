"""CSV by hand: quick for small files, and it knows the line of what cannot be read."""

import csv
import re
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from saddlescope.errors import InvalidInput, number_of, require
from saddlescope.stages.logs.log import require_begun

EMPTY = frozenset(["", "NA", "N/A", "None", "none", "null", "NULL"])  # as loggers leave cells
MARKS = ("\t", ";", ",")
DECIMAL_COMMA, DECIMAL_POINT = re.compile(r"\d,\d"), re.compile(r"\d\.\d")


@dataclass
class Table:
    """The columns of a CSV file.

    **Arguments:**

    - `names`: All columns in order; `column 1`, … where the file has no header.
    - `header`: Whether the file has one.
    - `columns`: Name → record numbers and values, for columns of numbers.
    - `unreadable`: Name → how many numbers another column has, and why it is not one of numbers.
    - `notes`: What is to say of the file.
    """

    names: list[str]
    header: bool
    columns: dict[str, tuple[np.ndarray, np.ndarray]] = field(default_factory=dict)
    unreadable: dict[str, tuple[int, str]] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)


def is_number(cell: str) -> bool:
    """Whether a cell is a number as people write it; Python's 1_000 is not."""
    try:
        float(cell)
    except ValueError:
        return False
    return "_" not in cell


def separator(lines: list[str]) -> str | None:
    """The mark that occurs equally often in the first lines; None for white space."""
    counts = {mark: [line.count(mark) for line in lines[:20]] for mark in MARKS}
    for equal in (True, False):
        for mark, found in counts.items():
            if found[0] and (not equal or min(found) == max(found)):
                return mark
    return None


def has_decimal_commas(lines: list[str], mark: str | None) -> bool:
    """As spreadsheets write numbers in half of Europe; then commas do not separate."""
    text = "\n".join(lines) if mark in (";", "\t") else ""
    return bool(DECIMAL_COMMA.search(text)) and not DECIMAL_POINT.search(text)


def header_of(cells: list[str]) -> tuple[list[str], bool]:
    """The names of the columns, each once, and whether the file itself has them."""
    if all(is_number(cell) or cell in EMPTY for cell in cells):
        return [f"column {i + 1}" for i in range(len(cells))], False
    names: list[str] = []
    for i, cell in enumerate(cells):
        name = cell or f"column {i + 1}"
        names.append(name if name not in names else f"{name} ({i + 1})")
    return names, True


def parse(text: str, path: Path) -> Table:
    """All columns of a CSV file."""
    numbered = enumerate(text.split("\n"), 1)
    lines = [(n, line) for n, line in numbered if line and line[0] != "#" and not line.isspace()]
    require_begun(bool(lines), f"{path} is empty: give a file with a loss curve.")
    mark = separator([line for _, line in lines[:20]])
    rows = _split(lines, mark, path)
    commas = has_decimal_commas([line for _, line in lines], mark)
    if commas:
        rows = [(n, [_with_point(cell) for cell in row]) for n, row in rows]
    names, header = header_of(rows[0][1])
    table = Table(names, header, notes=["Numbers are written with decimal commas."] * commas)
    rows = _data(rows, table, path)
    for i, name in enumerate(names):
        _add_column(table, i, name, rows, path)
    return table


def _with_point(cell):
    return cell.replace(",", ".", 1) if is_number(cell.replace(",", ".", 1)) else cell


def _split(lines, mark, path):
    """Numbered rows of cells."""
    if mark is None:
        return [(n, line.split()) for n, line in lines]
    reader = csv.reader([line for _, line in lines], delimiter=mark, strict=True)
    try:
        return [(lines[reader.line_num - 1][0], list(map(str.strip, row))) for row in reader]
    except csv.Error as error:
        n, line = lines[min(reader.line_num, len(lines)) - 1]
        what = f"{path} cannot be read as CSV in line {n} ({error})"
        raise InvalidInput(f"{what}: {line[:60]!r}.") from None


def _data(rows, table, path):
    """The rows below the header. A resumed run may have written the header again."""
    head, data = rows[0][1], rows[table.header :]
    if table.header and any(row == head for _, row in data):
        data = [(n, row) for n, row in data if row != head]
        table.notes.append("The header occurs more than once, as after a resume.")
    width = len(table.names)
    ragged = [(n, row) for n, row in data if len(row) != width]
    for n, row in ragged:
        # Separators at the end are harmless; a cell too many means that columns are shifted.
        which = f"Line {n} of {path} has {len(row)} cells, not {width}"
        require(not any(row[width:]), f"{which}: fix that line.")
    short = [(n, len(row)) for n, row in ragged if len(row) < width]
    if short:
        n, cells = short[0]
        others = f", and {number_of(len(short) - 1, 'other')} too" if len(short) > 1 else ""
        which = f"Line {n}{others} has too few cells, {cells} and not {width}"
        table.notes.append(f"{which}; what is missing counts as empty.")
    return data


def _floats(cells):
    """All cells as numbers; None if one is not."""
    try:
        values = [float(cell) for cell in cells]
    except ValueError:
        return None
    return None if "_" in "".join(cells) else values


def _add_column(table, i, name, rows, path):
    cells = [row[i] if i < len(row) else "" for _, row in rows]
    filled = [k for k, cell in enumerate(cells) if cell not in EMPTY]
    values = _floats([cells[k] for k in filled])
    if values is None:
        bad = [k for k in filled if not is_number(cells[k])]
        sentence = bad_cell(path, cells[bad[0]], rows[bad[0]][0], name)
        table.unreadable[name] = len(filled) - len(bad), sentence
    elif not filled:
        table.unreadable[name] = 0, no_numbers(path, name)
    else:
        table.columns[name] = np.array(filled), np.array(values)


def bad_cell(path, cell, line, name) -> str:
    """The sentence about a cell that is not a number."""
    where = f"in line {line}, column {name!r}"
    return f"{path} has {cell!r} where a number should be, {where}: fix that line."


def no_numbers(path, name) -> str:
    """The sentence about an empty column."""
    return f"{path} has no numbers in column {name!r}: give a file with a loss curve."
