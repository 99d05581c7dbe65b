"""Lines that a training script prints, such as `step 100 loss 0.123` or `epoch=3, train_loss: 0.5`.

A number counts by the word before it. Words such as `train` or `Validation:` before a name tell
what it is of. A name that occurs twice in one line is ambiguous, and is left out.
"""

import re
from functools import lru_cache
from pathlib import Path

import numpy as np

from saddlescope.errors import number_of, require
from saddlescope.stages.logs.clock import log_of_columns, time_rank
from saddlescope.stages.logs.log import Log
from saddlescope.stages.logs.records import HELD_OUT, TRAINING
from saddlescope.stages.logs.text import first_lines, read_text

SPLITS = TRAINING | HELD_OUT
SUFFIXES = (".log", ".out", ".err")
TABLES = (".csv", ".tsv")
NUMBER = r"[-+]?(?:[1-9]\d{0,2}(?:,\d{3})+(?:\.\d+)?|(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?|nan|inf)"
PAIR = re.compile(
    r"(?<![\w/.-])(?P<name>[A-Za-z_][\w/.-]*)"
    r"(?:['\"]?[ ]*[:=][ ]*[\[(]?|[ ]+[\[(]?)"
    rf"(?P<number>{NUMBER})(?![\w.]|,\d|:\d)"
    r"|(?<![\w/.-])(?P<word>[A-Za-z]+)(?![\w/.-])",
    re.IGNORECASE,
)


def fits(path: Path) -> bool:
    """By its name, or because a third of its first lines have a time or a loss with a number."""
    if path.suffix.lower() in SUFFIXES:
        return path.is_file()
    lines = [] if path.suffix.lower() in TABLES else first_lines(path)[:200]
    hits = sum(any(_is_known(name) for name, _ in _pairs(line)) for line in lines)
    return hits > len(lines) / 3


def read(path: Path) -> Log:
    """All numbers with a name before them; refused where every loss among them is ambiguous."""
    text, notes = read_text(path)
    found: dict[str, tuple[list, list]] = {}
    twice: dict[str, int] = {}
    lines = [line for line in text.split("\n") if line.strip()]
    passed = sum(not _collect(i, line, found, twice) for i, line in enumerate(lines))
    require(bool(found), f"{path} has no number with a name before it: give a log of numbers.")
    for name, line in twice.items():
        del found[name]
        notes += (f"{name!r} occurs twice in line {line} and was left out.",)
    _check_loss_left(found, twice, path)
    if passed:
        notes += (f"Passed over: {number_of(passed, 'line')} without a named number.",)
    columns = {n: (np.array(rows), np.array(v, float)) for n, (rows, v) in found.items()}
    return log_of_columns("plain text", columns, notes)


def _check_loss_left(found, twice, path):
    """Refuse a log in which every loss is ambiguous."""
    if any("loss" in name.lower() for name in found):
        return
    for name, line in twice.items():
        twice_there = f"{name!r} occurs twice in line {line} of {path}"
        sentence = f"{twice_there}, and it is not clear which is meant: give each its own name."
        require("loss" not in name.lower(), sentence)


def _is_known(name):
    return time_rank(name) is not None or "loss" in name.lower()


def _collect(i, line, found, twice):
    """Add the numbers of a line; whether it has any."""
    pairs = _pairs(line)
    for k, (name, value) in enumerate(pairs):
        if any(name == other and value != its for other, its in pairs[:k]):
            twice.setdefault(name, i + 1)
        rows, values = found.setdefault(name, ([], []))
        if not rows or rows[-1] != i:
            rows.append(i)
            values.append(value)
    return bool(pairs)


@lru_cache(1000)
def _needs_split(name):
    """Whether a name may mean training or validation; times mean both."""
    return time_rank(name) is None and not SPLITS & set(re.split(r"[\W_]+", name.lower()))


def _pairs(line):
    """Names and numbers of a line, each name with the last of the words in `SPLITS` before it."""
    split, pairs = "", []
    for match in PAIR.finditer(line):
        name = match["name"]
        if name is None:
            split = match["word"] if match["word"].lower() in SPLITS else split
        else:
            number = float(match["number"].replace(",", ""))
            pairs.append((f"{split} {name}" if split and _needs_split(name) else name, number))
    return pairs
