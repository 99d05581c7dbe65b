"""Stages as a table of text: rows in, aligned lines out."""

from collections.abc import Mapping, Sequence
from typing import Any

ALWAYS = ("stage", "start", "end", "at", "level")
COLUMNS = (*ALWAYS, "±", "fall", "deviations", "flatness", "quality")
ROUGH = frozenset(["±", "deviations", "flatness"])  # two digits say all there is to say
LONG = 1e5  # from here on, a time is written in full: 123457, not 1.2346e+05


def aligned(table: Sequence[Sequence[str]]) -> list[str]:
    """Lines of a table of text, its columns one below the other."""
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    pairs = (zip(row, widths, strict=True) for row in table)
    return ["  ".join(f"{cell:<{width}}" for cell, width in row).rstrip() for row in pairs]


def stage_lines(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """The lines of a table of stages; what lies inside the stage above it is indented."""
    head = [c for c in COLUMNS if c in ALWAYS or any(c in row for row in rows)]
    table, reached = [head], float("-inf")
    for row in rows:
        inside = row["start"] < reached and row["end"] <= reached
        cells = [_cell(row, key) for key in head]
        table.append([f"  {cells[0]}" if inside else cells[0], *cells[1:]])
        reached = max(reached, row["end"])
    return aligned(table)


def shown_time(value: float) -> str:
    """A time in five digits, or in full where it is large."""
    return f"{value:.0f}" if LONG <= abs(value) < 1e15 else f"{value:.5g}"


def _cell(row, key):
    value = row.get(key, "")
    if isinstance(value, str):
        return value
    if key in ("start", "end", "at"):
        return shown_time(value)
    return f"{value:.2g}" if key in ROUGH else f"{value:.5g}"
