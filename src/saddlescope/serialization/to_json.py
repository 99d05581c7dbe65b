"""The full form of a part, defaults included, as plain JSON values; its hash is the part's identity.

Arrays enter by SHA-256, functions by import path and the hash of their source. A lambda can run but not be stored.
"""

import dataclasses
import hashlib
import inspect
import json
import marshal
import math
import types

import jax
import numpy as np

from saddlescope.errors import InvalidInput
from saddlescope.serialization.part import Part, path_of


def to_json_values(value):
    """The JSON form of a part, number, name, tuple, array or function."""
    if isinstance(value, Part):
        fields = {f.name: to_json_values(getattr(value, f.name)) for f in dataclasses.fields(value)}
        if taken := fields.keys() & {"class", "source"}:
            raise InvalidInput(
                f"{type(value).__name__} has a field named {taken.pop()!r}, which the form needs: rename it."
            )
        return {"class": path_of(type(value)), **own_source(type(value)), **fields}
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


def own_source(cls):
    """A class of the user's enters with the hash of its source; ours have numerics.VERSION."""
    return {} if cls.__module__.startswith("saddlescope.") else {"source": _source_hash(cls)}


def _source_hash(thing):
    try:
        return hashlib.sha256(inspect.getsource(thing).encode()).hexdigest()
    except (OSError, TypeError):  # typed at a prompt
        raise InvalidInput(
            f"The source of {thing.__qualname__} cannot be read: define it in a file or notebook."
        ) from None


def function_form(f):
    """Import path and source hash. A lambda or inner function has no path: it has a form, but cannot be stored."""
    if "<" in f.__qualname__:
        inside = [cell.cell_contents for cell in f.__closure__ or ()]
        placeless = f.__code__.replace(co_filename="", co_firstlineno=1, co_linetable=b"")
        code = hashlib.sha256(marshal.dumps(placeless)).hexdigest()
        shape = {"closure": [to_json_values(v) for v in inside], "defaults": to_json_values(f.__defaults__ or ())}
        return {"lambda": code, **shape, **_globals_form(f)}
    return {"function": f"{f.__module__}.{f.__qualname__}", "source": _source_hash(f), **_globals_form(f)}


def _globals_form(f):
    """Values that a function takes from its module enter with it, other functions by their source."""
    found = {}
    for name, value in sorted(inspect.getclosurevars(f).globals.items()):
        if isinstance(value, types.FunctionType):
            found[name] = _source_hash(value)
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


def code_identity(function) -> list:
    """Import path and source of a function, and of everything of its own module that it leans on.

    Other parts of the package have `numerics.VERSION`; values of the module enter as they print.
    """
    seen: dict[str, str] = {}
    _collect_code(function, function.__module__, seen)
    return [f"{function.__module__}.{function.__qualname__}", sorted(seen.items())]


def _collect_code(thing, module, seen):
    name = getattr(thing, "__qualname__", repr(thing))
    if name in seen:
        return
    seen[name] = _source_hash(thing)
    functions = vars(thing).values() if isinstance(thing, type) else (thing,)
    for function in functions:
        if not isinstance(function, types.FunctionType):
            continue
        used = inspect.getclosurevars(function)
        for key, value in {**used.globals, **used.nonlocals}.items():
            own = getattr(value, "__module__", None) == module
            if isinstance(value, types.FunctionType | type) and own:
                _collect_code(value, module, seen)
            elif not isinstance(value, types.ModuleType | types.FunctionType | type):
                seen.setdefault(key, hashlib.sha256(repr(value).encode()).hexdigest())
