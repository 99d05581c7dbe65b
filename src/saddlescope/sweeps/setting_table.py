"""Settings and observables written out by hand, by the names of parts: the [setting] of a sweep file.

What can be named is what `tasks`, `nets`, `optimisers` and `observables` export, and what the modules define that the
user imported by `--import`. A file imports and executes nothing.
"""

import copy
import inspect
from functools import cache
from types import FunctionType

from saddlescope import engines, initials, losses, nets, observables, optimisers, tasks
from saddlescope.errors import InvalidInput, nearest, require
from saddlescope.observables.observable import Observable
from saddlescope.serialization.own_code import imported_modules
from saddlescope.serialization.part import Part
from saddlescope.setting import Setting

KINDS = (tasks, nets, losses, initials, optimisers, engines, observables)
MAKERS = (
    tasks.cosine,
    tasks.cosine_sum,
    tasks.dyadic,
    tasks.multi_frequency,
    tasks.two_sided_step,
    nets.low_rank,
    nets.linear_units,
)
OWN_PARTS = (
    "Parts of your own are known after `--import FILE`, or in Python: "
    "saddlescope.sweep(setting, points) takes any setting."
)


def setting_from_table(table, point):
    """A function of the point that makes the setting of a table, with the point's values put in their places."""
    require(isinstance(table, dict), "[setting] must be a table with task, net and optimiser.")
    for axis in point:
        _put(copy.deepcopy(table), axis, None)

    def setting(**at_point):
        filled = copy.deepcopy(table)
        for axis, value in at_point.items():
            _put(filled, axis, value)
        return _call(Setting, "[setting]", {key: _made(value) for key, value in filled.items()})

    return setting


def observable_from_table(value, path) -> Observable:
    table = {"class": value} if isinstance(value, str) else value
    known = [name for name, p in _parts().items() if _is_part(p, Observable)]
    name = str(table.get("class")) if isinstance(table, dict) else str(value)
    hint = f"{nearest(name, known)} {OWN_PARTS}"
    require(name in known, f"{path}: no observable is called {name!r}.{hint}")
    return _made(table)  # type: ignore[return-value]


def _parts() -> dict:
    """Every part by its name: classes, and functions that make one, such as `cosine_sum`."""
    own = _own_things()
    for name, found in own.items():
        both = name in _our_parts()
        require(not both, f"Your own {found.__module__}.{name} has the name of one of our parts: rename it.")
    return _our_parts() | own


@cache
def _our_parts() -> dict:
    named = {name: getattr(kind, name) for kind in KINDS for name in kind.__all__}
    classes = {name: p for name, p in named.items() if _is_part(p)}
    return classes | {p.__name__: p for p in MAKERS}


def _own_things() -> dict:
    """Parts and functions that the user's imported modules define themselves."""
    found = {}
    for module in imported_modules().values():
        for name, thing in vars(module).items():
            own = getattr(thing, "__module__", None) == module.__name__ and not name.startswith("_")
            if own and (_is_part(thing) or isinstance(thing, FunctionType)):
                twice = found.get(name, thing) is not thing
                require(not twice, f"Two of the imported modules define {name!r}: rename one.")
                found[name] = thing
    return found


def _is_part(thing, kind=Part) -> bool:
    return isinstance(thing, type) and issubclass(thing, kind)


def _put(table, axis, value):
    """Put a value at a path such as `optimiser.lr`."""
    *way, last = axis.split(".")
    for step in way:
        inner = table.get(step)
        if not isinstance(inner, dict):
            raise InvalidInput(f"[setting] has no table {step!r} for the axis {axis!r}.{nearest(step, table)}")
        table = inner
    table[last] = value


def _made(value):
    """The part a table with `class` describes, or the function of one with `function`; lists become tuples."""
    if isinstance(value, list):
        return tuple(_made(v) for v in value)
    if not isinstance(value, dict):
        return value
    if set(value) == {"function"}:
        return _function(value["function"])
    name, known = value.get("class"), _parts()
    if not isinstance(name, str) or name not in known:
        example = "{class = 'GradientDescent', lr = 0.01}"
        hint = f"{nearest(str(name), known)} {OWN_PARTS}"
        raise InvalidInput(f"A part is a table such as {example}; none is called {name!r}.{hint}")
    return _call(known[name], name, {key: _made(v) for key, v in value.items() if key != "class"})


def _function(name):
    """A function of the user's own, such as the target of a task."""
    known = {n: f for n, f in _own_things().items() if isinstance(f, FunctionType)}
    hint = f"{nearest(str(name), known)} {OWN_PARTS}"
    require(isinstance(name, str) and name in known, f"No imported function is called {name!r}.{hint}")
    return known[name]


def _call(function, name, given):
    """function(**given), where a name it does not have is refused with the nearest that it has."""
    known = _fields(function)
    for key in given:
        if key not in known:
            raise InvalidInput(f"{name} has no field {key!r}. Its fields are {', '.join(known)}.{nearest(key, known)}")
    try:
        return function(**given)
    except InvalidInput:
        raise
    except (TypeError, ValueError, AttributeError) as error:
        raise InvalidInput(f"{name} cannot be made from {given} ({error}).") from None


@cache
def _fields(function):
    return tuple(inspect.signature(function).parameters)
