"""Numbers that a user gives: each is right, or refused in a sentence."""

from numbers import Real

import numpy as np

from saddlescope.errors import require
from saddlescope.serialization.part import as_int


def is_number(value) -> bool:
    """Whether it is one finite number."""
    return isinstance(value, Real) and not isinstance(value, bool) and bool(np.isfinite(float(value)))


def whole_number(value, name: str, least: int = 1, most: int = 10_000_000) -> int:
    """The number as Python's int, or a sentence.

    **Arguments:**

    - `value`: what was given.
    - `name`: what it is called, for the sentence.
    - `least`, `most`: its bounds.
    """
    value = as_int(value)
    kind = "a positive whole number" if least == 1 else f"a whole number, {least} or more"
    require(type(value) is int and value >= least, f"`{name}` must be {kind}; got {value!r}.")
    require(value <= most, f"`{name}` must be at most {most:,}; got {value:,}.")
    return value
