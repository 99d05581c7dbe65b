"""The root of everything a setting is made of, and its full form as plain JSON values, there and back.

The form has the defaults too; its hash is the part's identity. Arrays enter by SHA-256, functions by import path and
the hash of their source. A lambda can run but not be stored. On the way back only classes and functions that are
already imported are found: a file can name, never import or execute.
"""

import dataclasses
import hashlib
import inspect
import json
import marshal
import math
import sys
import types
from collections.abc import Iterator
from functools import cache
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from saddlescope.errors import InvalidInput, nearest
from saddlescope.serialization.own_code import source_hash

PLAIN = (bool, int, str, type(None))


class Part(eqx.Module):
    """The root of everything a setting is made of: frozen, comparable, with a full form as JSON.

    A field is a number (traced) or a structure (`eqx.field(static=True)`), so that one compilation serves every number.
    """

    # Equinox makes a pytree of a method at every access, which cost most of the time that a setting takes to be made.
    __getattribute__ = object.__getattribute__

    def json_values(self) -> Any:
        """All fields, defaults included, as plain JSON values."""
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


def _path_of(cls: type) -> str:
    """The import path of a class."""
    return f"{cls.__module__}.{cls.__qualname__}"


def subclasses(cls: type) -> Iterator[type]:
    """All subclasses, theirs included."""
    for sub in cls.__subclasses__():
        yield sub
        yield from subclasses(sub)


def with_traced_floats(part, dtype, array=jnp.asarray):
    """The part with its floats as arrays, so that one compilation serves every value of them."""
    return jax.tree.map(lambda x: array(x, dtype) if isinstance(x, float) else x, part)


# ---- To JSON ----


def to_json_values(value):
    """The JSON form of a part, number, name, tuple, array or function."""
    if type(value) in PLAIN:  # most values: a sweep asks for the forms of all its settings
        return value
    if isinstance(value, Part):
        cls = type(value)
        fields = {name: to_json_values(getattr(value, name)) for name in _field_names(cls)}
        return {"class": _path_of(cls), **_own_source(cls), **fields}
    if isinstance(value, bool | int | str | None):
        return value
    if isinstance(value, float):
        if not math.isfinite(value):
            raise InvalidInput(f"A setting holds finite numbers only, got {value}; use None for 'no limit'.")
        return value
    if isinstance(value, tuple | list):
        return [to_json_values(v) for v in value]
    if isinstance(value, np.ndarray | jax.Array):
        return {"array": array_hash(value), "dtype": str(value.dtype), "shape": list(value.shape)}
    if isinstance(value, types.FunctionType):
        return function_form(value)
    raise InvalidInput(
        f"A setting is made of numbers, names, tuples, arrays, functions and parts, got {type(value).__name__}; "
        "wrap it in a Part."
    )


@cache
def _field_names(cls) -> tuple[str, ...]:
    names = tuple(f.name for f in dataclasses.fields(cls))
    if taken := {"class", "source"} & {*names}:
        raise InvalidInput(f"{cls.__name__} has a field named {taken.pop()!r}, which the form needs: rename it.")
    return names


def _own_source(cls):
    """A class of the user's enters with the hash of its source; ours have numerics.VERSION."""
    return {} if cls.__module__.startswith("saddlescope.") else {"source": source_hash(cls)}


def function_form(f):
    """Import path and source hash. A lambda or inner function has no path: it has a form, but cannot be stored."""
    if "<" in f.__qualname__:
        inside = [cell.cell_contents for cell in f.__closure__ or ()]
        placeless = f.__code__.replace(co_filename="", co_firstlineno=1, co_linetable=b"")
        code = hashlib.sha256(marshal.dumps(placeless)).hexdigest()
        shape = {"closure": [to_json_values(v) for v in inside], "defaults": to_json_values(f.__defaults__ or ())}
        return {"lambda": code, **shape, **_globals_form(f)}
    return {"function": f"{f.__module__}.{f.__qualname__}", "source": source_hash(f), **_globals_form(f)}


def _globals_form(f):
    """Values that a function takes from its module enter with it, other functions by their source."""
    found = {}
    for name, value in sorted(inspect.getclosurevars(f).globals.items()):
        if isinstance(value, types.FunctionType):
            found[name] = source_hash(value)
        elif not isinstance(value, types.ModuleType | type) and not callable(value):
            found[name] = to_json_values(value)
    return {"globals": found} if found else {}


def storable(text):
    """Whether a form, as JSON, can be rebuilt: it holds no lambda."""
    return '{"lambda"' not in text


def content_hash(data):
    """Twenty hex digits of the SHA-256 of a form, in one canonical spelling."""
    text = json.dumps(data, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return hashlib.sha256(text.encode()).hexdigest()[:20]


def array_hash(array):
    array = np.ascontiguousarray(array)
    return hashlib.sha256(f"{array.dtype}{array.shape}".encode() + array.tobytes()).hexdigest()


# ---- And back ----


def from_json_values(data, arrays=None):
    """The value of a JSON form. Arrays are looked up by their hash in `arrays`."""
    if isinstance(data, list):
        return tuple(from_json_values(v, arrays) for v in data)
    if not isinstance(data, dict):
        return data
    if "class" in data:
        return _build_part(data, arrays)
    if "array" in data:
        return _find_array(data["array"], arrays or {})
    if "function" in data:
        return _find_function(data)
    raise InvalidInput(f"This form cannot be rebuilt: {json.dumps(data)[:80]}; a lambda is run but not stored.")


def _build_part(data, arrays):
    known = {_path_of(c): c for c in subclasses(Part)}
    name = data["class"]
    if not isinstance(name, str) or name not in known:
        raise InvalidInput(
            f"No imported class is named {name!r}; import the module that defines it first "
            "(on the command line: `--import FILE`)."
        )
    cls = known[name]
    fields = [f.name for f in dataclasses.fields(cls)]
    given = {k: v for k, v in data.items() if k not in ("class", "source")}
    for key in given:
        if key not in fields:
            raise InvalidInput(f"{cls.__name__} has no field {key!r}.{nearest(key, fields)}")
    if data.get("source") != _own_source(cls).get("source"):
        raise InvalidInput(f"The source of {name} has changed since this was stored; the numbers may differ.")
    try:
        return cls(**{k: from_json_values(v, arrays) for k, v in given.items()})
    except InvalidInput:
        raise
    except (TypeError, ValueError, AttributeError) as error:
        raise InvalidInput(f"{cls.__name__} cannot be made from this form: {error}") from None


def _find_array(sha, arrays):
    if sha not in arrays or array_hash(arrays[sha]) != sha:
        raise InvalidInput(f"The array {sha[:12]}… is not at hand; pass it in `arrays`, keyed by its SHA-256.")
    return arrays[sha]


def _find_function(data):
    module, _, name = str(data["function"]).rpartition(".")
    found = getattr(sys.modules.get(module), name, None)
    python = module.partition(".")[0] in sys.stdlib_module_names  # a file must not choose what of it is called
    if python or not isinstance(found, types.FunctionType):
        raise InvalidInput(
            f"No imported function is named {data['function']!r}; import its module first "
            "(on the command line: `--import FILE`)."
        )
    if function_form(found) != data:
        raise InvalidInput(
            f"The source of {data['function']} has changed since this was stored; the numbers may differ."
        )
    return found
