"""JSON lines: one object per line, such as {"step": 100, "loss": 0.123}."""

import json
from pathlib import Path

from saddlescope.errors import number_of
from saddlescope.stages.logs.log import Log, require_begun
from saddlescope.stages.logs.records import log_of_records
from saddlescope.stages.logs.text import first_lines, read_text

SUFFIXES = (".jsonl", ".ndjson")
TABLES = (".csv", ".tsv")


def fits(path: Path) -> bool:
    """By its name, or because a line among the first is an object with a number in it."""
    if path.suffix.lower() in SUFFIXES:
        return path.is_file()
    lines = () if path.suffix.lower() in TABLES else first_lines(path)[:200]
    return any(isinstance(v, float) for line in lines for v in (_object(line) or {}).values())


def read(path: Path) -> Log:
    """All numbers by name. Lines that are not JSON objects are passed over, and counted."""
    text, notes = read_text(path)
    lines = [line for line in text.split("\n") if line.strip()]
    records = [record for record in map(_object, lines) if record is not None]
    sentence = f"{path} holds no JSON object per line: give a log with a loss curve."
    require_begun(bool(records), sentence)
    other = len(lines) - len(records)
    if other:
        notes += (f"Passed over: {number_of(other, 'line')} without a JSON object.",)
    return log_of_records("JSON lines", records, notes)


def _object(line):
    """The object in a line; None for anything else, such as a line that is being written."""
    if not line.lstrip().startswith("{"):
        return None
    try:
        found = json.loads(line, parse_int=float)  # however large it is
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None
