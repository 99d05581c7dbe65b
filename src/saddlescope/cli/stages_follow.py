"""`saddlescope stages --follow`: read a log while it grows, and print the stages that are new."""

import json
import sys
import time
from itertools import takewhile
from pathlib import Path
from typing import NoReturn

from saddlescope.cli.stages_output import as_json, draw, show
from saddlescope.errors import InvalidInput, number_of
from saddlescope.stages.logs.log import NotBegun
from saddlescope.stages.text_table import shown_time

EVERY = 2.0  # seconds between two looks
PATIENCE = 5  # looks at a log that cannot be read, as while it is written


def follow_log(log, read, in_json=False, figure=None) -> NoReturn:
    """Read a growing log until Ctrl-C, and print the stages that are new."""
    state, before = _begin(log, read)
    show([before], False, in_json)
    while True:
        if figure:
            draw([before], figure, quiet=True)
        state, found = _next_change(log, read, state, before)
        print(json.dumps(as_json(found)) if in_json else _news(before, found))
        before = found


def _begin(log, read):
    """What is found at first. A log that is not there yet, or holds no number, is waited for."""
    said = ""
    while True:
        state = _state(log)  # before it is read: what is added meanwhile is then seen
        try:
            return state, read(log)
        except NotBegun:
            why = "holds no number yet" if Path(log).exists() else "is not there yet"
            if why != said:
                print(f"waiting: {log} {why}; Ctrl-C ends this.", file=sys.stderr)
            said = why
            time.sleep(EVERY)


def _next_change(log, read, state, before):
    """Wait for other stages than those before. A log may be unreadable while it is written."""
    failures = 0
    while True:
        time.sleep(EVERY)
        last, state = state, _state(log)
        if state == last and state is not None and not failures:
            continue
        try:
            found, failures = read(log), 0
        except (InvalidInput, OSError):
            failures += 1
            if failures >= PATIENCE:
                raise
            continue
        if _kinds(found) != _kinds(before):
            return state, found


def _state(log):
    """Size and time of a file; None for a folder, which is always read again."""
    path = Path(log)
    if not path.is_file():
        return None
    facts = path.stat()
    return facts.st_size, facts.st_mtime_ns


def _kinds(found):
    return [row["stage"] for row in found.rows()]


def _news(before, found):
    """The stages from the first that differs, one line each, and how far the log is."""
    old, new = _kinds(before), _kinds(found)
    same = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(old, new, strict=False)))
    curve = found.curve
    so_far = f"{curve.time_name} {shown_time(curve.time[-1])}"
    lines = [f"{so_far}: {number_of(found.stages.n_drops, 'drop')}"]
    for row in found.rows()[same:]:
        when = f"{shown_time(row['start'])} to {shown_time(row['end'])}"
        lines.append(f"  {row['stage']} {when}, level {row['level']:.5g}")
    return "\n".join(lines)
