"""Points of a sweep: made from axes in Python, or from axes as a person types them.

Typed axes look like `seed=0..4`, `lr=0.1,0.01` or `target=diagonal`.
"""

import itertools
import math
import re
from collections.abc import Iterable, Sequence
from typing import Any

from saddlescope.errors import require

MANY = 2_000_000  # points of one sweep
SHOWN = 20  # values that a message lists


def grid(**axes: Iterable[Any]) -> list[dict]:
    """All combinations; the last axis changes fastest: grid(lr=(0.1, 0.01), seed=range(3))."""
    checked = _checked(axes)
    count = math.prod(len(values) for values in checked.values())
    require(count <= MANY, f"This grid has {count:,} points; a sweep has at most {MANY:,}: split it.")
    return [dict(zip(checked, values, strict=True)) for values in itertools.product(*checked.values())]


def zipped(**axes: Iterable[Any]) -> list[dict]:
    """The axes side by side: zipped(samples=(256, 512), batch=(4, 8)) has two points."""
    checked = _checked(axes)
    lengths = {name: len(values) for name, values in checked.items()}
    require(len(set(lengths.values())) < 2, f"Zipped axes must be equally long; got {lengths}.")
    return [dict(zip(checked, values, strict=True)) for values in zip(*checked.values(), strict=True)]


def product(*lists: Sequence[dict]) -> list[dict]:
    """Every point of one list with every point of the others: product(zipped(…), grid(seed=range(5)))."""
    points: list[dict] = [{}]
    for more in lists:
        require(len(points) * len(more) <= MANY, f"A sweep has at most {MANY:,} points: split it.")
        twice = {a for p in points[:1] for a in p} & {a for p in more[:1] for a in p}
        require(not twice, f"The axis {', '.join(sorted(twice))} is given twice.")
        points = [a | b for a in points for b in more]
    return points


def format_point(point: dict) -> str:
    """`lr = 0.1, seed = 3`, for messages."""
    return ", ".join(f"{name} = {value}" for name, value in point.items()) or "this point"


def parse_axes(texts: Iterable[str], seeds: int | None = None) -> dict[str, tuple]:
    """The axes of `--axis name=values` options; `seeds` adds the axis seed = 0 … seeds - 1."""
    axes: dict[str, tuple] = {}
    for text in texts:
        name, sign, values = text.partition("=")
        require(
            sign and all(part.isidentifier() for part in name.split(".")) and values,
            f"An axis is given as name=values, such as seed=0..4; got {text!r}.",
        )
        require(name not in axes, f"The axis {name!r} is given twice; write all its values at once.")
        axes[name] = parse_values(values)
    if seeds is not None:
        require(seeds > 0, f"`--seeds` must be a positive number, got {seeds}.")
        require("seed" not in axes, "Give `--seeds N` or `--axis seed=…`, not both.")
        axes["seed"] = tuple(range(seeds))
    return axes


def parse_values(text: str) -> tuple:
    """Values between commas: `1e-2,1e-3`, `0..9`, `uniform,gaussian`."""
    values: list = []
    for part in text.split(","):
        values += _parse_part(part.strip(), text)
        require(len(values) <= MANY, f"An axis has at most {MANY:,} values.")
    return tuple(values)


def _checked(axes) -> dict[str, tuple]:
    """Tuples of values, none of them twice."""
    for name, values in axes.items():
        listed = isinstance(values, Iterable) and not isinstance(values, str)
        require(listed, f"The axis {name!r} needs a list of values, such as ({values!r},).")
    axes = {name: tuple(values) for name, values in axes.items()}
    for name, values in axes.items():
        # By repr: values need not be hashable, and 1 and 1.0 are different settings.
        once = len({repr(v) for v in values}) == len(values)
        require(once, f"The axis {name!r} has a value twice: {_format_values(values)}.")
    return axes


def _format_values(values) -> str:
    return ", ".join(map(str, values[:SHOWN])) + (", …" if len(values) > SHOWN else "")


def _parse_part(part, text):
    """A number, a name, or a range with both ends: `0..4`."""
    require(part, f"A value is missing between the commas of {text!r}.")
    if span := re.fullmatch(r"([0-9]{1,18})\.\.([0-9]{1,18})", part):
        first, last = map(int, span.groups())
        require(first <= last, f"A range goes upwards, got {part!r} in {text!r}.")
        require(last - first < MANY, f"A range has at most {MANY:,} values, got {part!r}.")
        return range(first, last + 1)
    if part in ("true", "false"):
        return [part == "true"]
    for kind in (int, float):
        try:
            return [kind(part)]
        except ValueError:
            pass
    return [part]
