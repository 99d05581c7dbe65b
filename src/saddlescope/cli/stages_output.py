"""What `saddlescope stages` prints, draws and watches."""

import json
import math
import time as clock
from dataclasses import dataclass
from itertools import takewhile
from pathlib import Path
from typing import NoReturn

from saddlescope.errors import InvalidInput, number_of
from saddlescope.stages import Curve, Stages, find_stages, read_curves
from saddlescope.stages.logs.choice import listed
from saddlescope.stages.text_table import aligned

EVERY = 2.0  # seconds between two looks at a growing log
PATIENCE = 5  # looks at a log that cannot be read, as while it is written


@dataclass(frozen=True)
class Found:
    """The stages of one log.

    **Arguments:**

    - `log`: What the user gave.
    - `curve`: The curve that was read.
    - `stages`: Its plateaus and drops.
    - `log_time`: Whether they were found in log time.
    """

    log: str
    curve: Curve
    stages: Stages
    log_time: bool = False


def analyse(log, column=None, time=None, up=False, log_time=False, **options) -> Found:
    """Read a log and find the stages of its curve."""
    curve = read_curves(log, column, time)
    curve = curve.flipped() if up else curve
    curve = curve.from_one() if log_time else curve
    stages = find_stages(curve.loss, curve.time, log_time=log_time, **options)
    return Found(log, curve, stages, log_time)


def show(found: list[Found], compare: bool, as_json: bool) -> None:
    """Print one log with its table, or several in one table."""
    if as_json:
        values = [_as_json(f) for f in found]
        print(json.dumps(values if compare else values[0], indent=1, ensure_ascii=False))
        return
    for f in found:
        print(_about(f), *f.curve.notes, sep="\n")
        if not compare:
            print(f.stages)
    if compare:
        print(_comparison(found))


def draw(found: list[Found], path: Path, quiet: bool = False) -> None:
    """Write the figure: one curve with its stages, or several with their drops marked."""
    from saddlescope.figures.curve import draw_curve, draw_curves

    if len(found) == 1:
        f, c = found[0], found[0].curve
        draw_curve(path, f.stages, c.loss, c.time, c.name, f.log_time, c.time_name)
    else:
        draw_curves(path, [(f.log, f.curve, f.stages) for f in found], found[0].log_time)
    if not quiet:
        print(f"figure: {path}")


def follow(log, read, as_json=False, figure=None) -> NoReturn:
    """Read a growing log until Ctrl-C, and print the stages that are new."""
    state = _state(log)  # before it is read: what is added meanwhile is then seen
    before = read(log)
    show([before], False, as_json)
    while True:
        if figure:
            draw([before], figure, quiet=True)
        state, found = _next_change(log, read, state, before)
        print(json.dumps(_as_json(found)) if as_json else _news(before, found))
        before = found


def _next_change(log, read, state, before):
    """Wait for other stages than those before. A log may be unreadable while it is written."""
    failures = 0
    while True:
        clock.sleep(EVERY)
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
    return [row["stage"] for row in found.stages.rows()]


def _news(before, found):
    """The stages from the first that differs, one line each, and how far the log is."""
    old, new = _kinds(before), _kinds(found)
    same = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(old, new, strict=False)))
    curve = found.curve
    lines = [f"{curve.time_name} {curve.time[-1]:.7g}: {number_of(found.stages.n_drops, 'drop')}"]
    for row in found.stages.rows()[same:]:
        when = f"{row['start']:.5g} to {row['end']:.5g}"
        lines.append(f"  {row['stage']} {when}, level {row['level']:.5g}")
    return "\n".join(lines)


# ---- words ----


def _shown(log):
    return "standard input" if log == "-" else log


def _about(found):
    """Which curve of which log, over what, and what else the log holds."""
    curve = found.curve
    over = "numbered from 0" if curve.time_name == "point" else f"over {curve.time_name}"
    points = f"{number_of(len(curve.loss), 'point')} {over}"
    others = f"; also there: {listed(curve.others)}" if curve.others else ""
    return f"{curve.name} of {_shown(found.log)} ({curve.kind}), {points}{others}"


def _comparison(found):
    """One row per log: the number of drops, when they are, and the levels of the plateaus."""
    head = ("log", "curve", "drops", "at", "levels")
    rows = [
        (
            _shown(f.log),
            f.curve.name,
            str(f.stages.n_drops),
            " ".join(f"{d.at:.5g}" for d in f.stages.drops),
            " ".join(f"{p.level:.5g}" for p in f.stages.plateaus),
        )
        for f in found
    ]
    return "\n".join(aligned([head, *rows]))


def _as_json(found):
    """Everything that is printed, as values; numbers that are not finite are null."""
    curve, stages = found.curve, found.stages
    rows = [
        {k: None if isinstance(v, float) and not math.isfinite(v) else v for k, v in row.items()}
        for row in stages.rows()
    ]
    about = {"log": _shown(found.log), "kind": curve.kind, "curve": curve.name}
    about |= {"time": curve.time_name, "points": len(curve.loss)}
    about |= {"others": list(curve.others), "notes": list(curve.notes), "note": stages.note}
    return about | {"n_drops": stages.n_drops, "stages": rows}
