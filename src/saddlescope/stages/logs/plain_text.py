"""Lines that a training script prints, such as `step 100 loss 0.123` or `Epoch 3/10, loss: 0.5`.

A line with a time alone, such as `Epoch 3/10`, is a heading: its time holds for the lines below it.
A name that occurs twice in one line is ambiguous, and is left out.
"""

from pathlib import Path

import numpy as np

from saddlescope.errors import number_of, require
from saddlescope.stages.logs.clock import log_of_columns, time_rank
from saddlescope.stages.logs.log import Log, require_begun
from saddlescope.stages.logs.text import first_lines, read_text
from saddlescope.stages.logs.text_pairs import pairs_of, split_of

SUFFIXES = (".log", ".out", ".err")
TABLES = (".csv", ".tsv")


def fits(path: Path) -> bool:
    """By its name, or because a third of its first lines have a time or a loss with a number."""
    if path.suffix.lower() in SUFFIXES:
        return path.is_file()
    lines = [] if path.suffix.lower() in TABLES else first_lines(path)[:200]
    hits = sum(any(_is_known(pair.name) for pair in pairs_of(line)) for line in lines)
    return hits > len(lines) / 3


def read(path: Path) -> Log:
    """All numbers with a name before them; refused where every loss among them is ambiguous."""
    text, notes = read_text(path)
    found = _Columns()
    for number, line in enumerate(text.split("\n"), 1):
        if line.strip():
            found.add(number, line)
    sentence = f"{path} has no number with a name before it: give a log of numbers."
    require_begun(bool(found.values), sentence)
    for name, line in found.twice.items():
        del found.values[name]
        notes += (f"{name!r} occurs twice in line {line} and was left out.",)
    _check_loss_left(found, path)
    if found.passed:
        notes += (f"Passed over: {number_of(found.passed, 'line')} without a named number.",)
    arrays = {n: (np.array(r), np.array(v, float)) for n, (r, v) in found.values.items()}
    return log_of_columns("plain text", arrays, notes, totals=found.totals)


class _Columns:
    """The numbers of a text by name, line after line."""

    def __init__(self):
        self.values: dict[str, tuple[list, list]] = {}  # the lines and the numbers in them
        self.totals: dict[str, float] = {}  # what a counter counts to
        self.twice: dict[str, int] = {}  # a line in which a name occurs twice
        self.heading: dict[str, float] = {}
        self.passed = self.line = 0  # how many lines have no number; the line that is read
        self._split = ""

    def add(self, number, line):
        """The numbers of the next line."""
        self.line = number
        pairs = pairs_of(line, self._split)
        self._split = "" if pairs else split_of(line)
        self.passed += not pairs
        for k, pair in enumerate(pairs):
            if any(pair.name == p.name and pair.value != p.value for p in pairs[:k]):
                self.twice.setdefault(pair.name, self.line)
            self._append(pair.name, pair.value)
            if pair.total:
                self.totals[pair.name] = max(pair.total, self.totals.get(pair.name, 0.0))
        times = [pair for pair in pairs if time_rank(pair.name) is not None]
        if len(times) == len(pairs):
            self._set_heading(times)
        else:
            for name, value in self.heading.items():
                self._append(name, value)

    def _append(self, name, value):
        """The first number of a name in a line counts; a heading does not come first."""
        lines, values = self.values.setdefault(name, ([], []))
        if not lines or lines[-1] != self.line:
            lines.append(self.line)
            values.append(value)

    def _set_heading(self, times):
        """A new epoch ends the heading of a step inside the last one."""
        for pair in times:
            below = list(self.heading)
            below = below[below.index(pair.name) :] if pair.name in below else []
            for name in below:
                del self.heading[name]
            self.heading[pair.name] = pair.value


def _check_loss_left(found, path):
    """Refuse a log in which every loss is ambiguous."""
    if any("loss" in name.lower() for name in found.values):
        return
    for name, line in found.twice.items():
        twice_there = f"{name!r} occurs twice in line {line} of {path}"
        sentence = f"{twice_there}, and it is not clear which is meant: give each its own name."
        require("loss" not in name.lower(), sentence)


def _is_known(name):
    return time_rank(name) is not None or "loss" in name.lower()
