"""From a part's JSON values back to the part.

Only classes and functions that are already imported are found: a file can name, never import or execute.
"""

import dataclasses
import json
import sys
import types

from saddlescope.errors import InvalidInput, nearest
from saddlescope.serialization.part import Part, path_of, subclasses
from saddlescope.serialization.to_json import array_hash, function_form, own_source


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
    known = {path_of(c): c for c in subclasses(Part)}
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
    if data.get("source") != own_source(cls).get("source"):
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
