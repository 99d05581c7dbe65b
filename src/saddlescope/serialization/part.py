"""The root of everything a setting is made of."""

import json
from collections.abc import Iterator
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from saddlescope.errors import InvalidInput


class Part(eqx.Module):
    """The root of everything a setting is made of: frozen, comparable, with a full form as JSON.

    A field is a number (traced) or a structure (`eqx.field(static=True)`), so that one compilation serves every number.
    """

    # Equinox makes a pytree of a method at every access, which cost most of the time that a setting takes to be made.
    __getattribute__ = object.__getattribute__

    def json_values(self) -> Any:
        """All fields, defaults included, as plain JSON values."""
        from saddlescope.serialization.to_json import to_json_values

        return to_json_values(self)

    def __str__(self) -> str:
        return json.dumps(self.json_values(), indent=2)


def as_int(value):
    """Converter of a field: numpy's whole numbers become Python's; anything else is left for the check to refuse."""
    return int(value) if isinstance(value, np.integer) else value


def maybe_float(value):
    """Converter of a field that is a number or None."""
    return None if value is None else as_float(value)


def as_float(value):
    """Converter of a field that is a number."""
    try:
        return float(value)
    except (TypeError, ValueError):
        kind = "" if isinstance(value, str) else f", a {type(value).__name__}"
        raise InvalidInput(f"A number is expected, such as 0.1; got {value!r}{kind}.") from None


def path_of(cls: type) -> str:
    """The import path of a class."""
    return f"{cls.__module__}.{cls.__qualname__}"


def subclasses(cls: type) -> Iterator[type]:
    """All subclasses, theirs included."""
    for sub in cls.__subclasses__():
        yield sub
        yield from subclasses(sub)


def with_traced_floats(part, dtype):
    """The part with its floats as arrays, so that one compilation serves every value of them."""
    return jax.tree.map(lambda x: jnp.asarray(x, dtype) if isinstance(x, float) else x, part)
