"""What `saddlescope stages` prints and draws."""

import json
import math
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from saddlescope.cli.stages_hints import hints
from saddlescope.errors import number_of
from saddlescope.stages import Curve, Stages, find_stages, read_curves
from saddlescope.stages.logs.choice import listed
from saddlescope.stages.text_table import aligned, shown_time, stage_lines


@dataclass(frozen=True)
class Found:
    """The stages of one log.

    **Arguments:**

    - `log`: What the user gave.
    - `curve`: The curve that was read, as it was logged.
    - `stages`: Its plateaus and drops; of a curve that rises, those of it turned upside down.
    - `log_time`: Whether they were found in log time.
    - `up`: Whether the curve rises.
    """

    log: str
    curve: Curve
    stages: Stages
    log_time: bool = False
    up: bool = False

    def as_logged(self, level: float) -> float:
        """A level of the stages as the log has it."""
        return self.curve.whole - level if self.up else level

    def rows(self) -> list[dict[str, Any]]:
        """The stages, with levels as they were logged."""
        return [row | {"level": self.as_logged(row["level"])} for row in self.stages.rows()]

    def stages_to_draw(self) -> Stages:
        """The stages, with plateaus at the levels of the curve."""
        levels = (replace(p, level=self.as_logged(p.level)) for p in self.stages.plateaus)
        return replace(self.stages, plateaus=tuple(levels))


def analyse(log, column=None, time=None, up=False, log_time=False, **options) -> Found:
    """Read a log and find the stages of its curve."""
    curve = read_curves(log, column, time)
    curve = curve.from_one() if log_time else curve
    falling = curve.flipped() if up else curve
    stages = find_stages(falling.loss, falling.time, log_time=log_time, **options)
    notes = (*falling.notes, *hints(curve, up, options.get("smooth")))
    return Found(log, replace(curve, notes=notes), stages, log_time, up)


def show(found: list[Found], compare: bool, in_json: bool) -> None:
    """Print one log with its table, or several in one table."""
    if in_json:
        values = [as_json(f) for f in found]
        print(json.dumps(values if compare else values[0], indent=1, ensure_ascii=False))
        return
    for f in found:
        print(_about(f), *f.curve.notes, sep="\n")
        if not compare:
            print(*stage_lines(f.rows()), *f.stages.sentences(), sep="\n")
    if compare:
        print(_comparison(found))


def draw(found: list[Found], path: Path, quiet: bool = False) -> None:
    """Write the figure: one curve with its stages, or several with their drops marked."""
    from saddlescope.figures.curve import draw_curve, draw_curves

    if len(found) == 1:
        f, c = found[0], found[0].curve
        axes = (c.name, f.log_time, c.time_name, c.flipped().name if f.up else "")
        draw_curve(path, f.stages_to_draw(), c.loss, c.time, *axes)
    else:
        curves = [(_shown(f.log), f.curve, f.stages) for f in found]
        draw_curves(path, curves, found[0].log_time, found[0].up)
    if not quiet:
        print(f"figure: {path}")


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
            " ".join(shown_time(d.at) for d in f.stages.drops),
            " ".join(f"{f.as_logged(p.level):.5g}" for p in f.stages.plateaus),
        )
        for f in found
    ]
    return "\n".join(aligned([head, *rows]))


def as_json(found: Found) -> dict[str, Any]:
    """Everything that is printed, as values; numbers that are not finite are null."""
    curve, stages = found.curve, found.stages
    rows = [
        {k: None if isinstance(v, float) and not math.isfinite(v) else v for k, v in row.items()}
        for row in found.rows()
    ]
    about = {"log": _shown(found.log), "kind": curve.kind, "curve": curve.name}
    about |= {"time": curve.time_name, "points": len(curve.loss)}
    about |= {"others": list(curve.others), "notes": list(curve.notes)}
    about |= {"said": stages.sentences(), "noise": stages.noise, "spikes": list(stages.spikes)}
    return about | {"n_drops": stages.n_drops, "stages": rows}
