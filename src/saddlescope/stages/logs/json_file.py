"""One JSON document: Hugging Face's trainer_state.json, a list of records, or a dict of lists."""

import json
from pathlib import Path

import numpy as np

from saddlescope.errors import InvalidInput
from saddlescope.stages.logs.clock import log_of_columns
from saddlescope.stages.logs.log import Log
from saddlescope.stages.logs.records import log_of_records
from saddlescope.stages.logs.text import first_lines, read_text

HISTORY = "log_history"


def fits(path: Path) -> bool:
    """By its name, or as a text that begins like a document and not like JSON lines."""
    if path.suffix.lower() == ".json":
        return path.is_file() and not _is_lines(path)
    begin = "".join(first_lines(path)[:100]).lstrip()
    return begin.startswith(("{", "[")) and f'"{HISTORY}"' in begin


def read(path: Path) -> Log:
    """The history that the document holds."""
    text, notes = read_text(path)
    try:
        found = json.loads(text, parse_int=float)  # however large it is
    except (ValueError, RecursionError) as error:
        raise InvalidInput(f"{path} is not whole JSON ({error}): write it again.") from None
    if isinstance(found, dict) and isinstance(found.get(HISTORY), list):
        return log_of_records("Hugging Face trainer_state", _records(found[HISTORY]), notes)
    if isinstance(found, list) and _records(found):
        return log_of_records("JSON", _records(found), notes)
    if isinstance(found, dict) and (columns := _columns(found)):
        return log_of_columns("JSON", columns, notes)
    raise InvalidInput(f"{path} holds no list of records and no lists of numbers: give a log.")


def _is_lines(path):
    """Whether the first line is a whole object and another follows."""
    lines = first_lines(path)[:2]
    return len(lines) == 2 and all(s[0] == "{" and s.rstrip()[-1] == "}" for s in lines)


def _records(found):
    return [record for record in found if isinstance(record, dict)]


def _columns(found):
    """Lists of numbers by name, as Keras keeps a history."""
    columns = {}
    for name, value in found.items():
        if isinstance(value, list) and value and all(isinstance(v, float) for v in value):
            columns[str(name)] = np.arange(len(value)), np.array(value)
    return columns
