"""Axes as a person types them: `seed=0..4`, `lr=0.1,0.01`, `target=diagonal`."""

import re

from saddlescope.refusal import refuse_unless


def parse_axes(texts, seeds=None) -> dict:
    axes = {}
    for text in texts:
        name, sign, values = text.partition("=")
        refuse_unless(
            sign and name.isidentifier() and values,
            f"An axis is given as name=values, such as seed=0..4; got {text!r}.",
        )
        axes[name] = tuple(v for part in values.split(",") for v in parse_values(part, text))
    if seeds is not None:
        refuse_unless(seeds > 0, f"`--seeds` must be a positive number, got {seeds}.")
        refuse_unless("seed" not in axes, "Give `--seeds N` or `--axis seed=…`, not both.")
        axes["seed"] = tuple(range(seeds))
    return axes


def parse_values(part, text):
    """A number, a name, or a range with both ends: `0..4`."""
    if span := re.fullmatch(r"(\d+)\.\.(\d+)", part):
        first, last = map(int, span.groups())
        refuse_unless(first <= last, f"A range goes upwards, got {part!r} in {text!r}.")
        return range(first, last + 1)
    for kind in (int, float):
        try:
            return [kind(part)]
        except ValueError:
            pass
    return [part]
