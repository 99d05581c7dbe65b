"""Settings and observables written out by hand, by the names of our parts: the [setting] of a sweep file.

What can be named is what `tasks`, `nets`, `optimisers` and `observables` export; a file imports and executes nothing.
"""

import copy
import inspect
from functools import cache

from saddlescope import nets, observables, optimisers, tasks
from saddlescope.errors import InvalidInput, nearest, require
from saddlescope.observables.observable import Observable
from saddlescope.serialization.identity import Part
from saddlescope.setting import Setting

KINDS = (tasks, nets, optimisers, observables)
MAKERS = (tasks.cosine, tasks.cosine_sum, tasks.dyadic, tasks.multi_frequency, tasks.two_sided_step, nets.low_rank,
          nets.linear_units)  # fmt: skip
OWN_PARTS = (
    "A sweep file names only the parts of saddlescope; for a class of your own, call "
    "`saddlescope.sweeps.sweep(setting, grid(seed=range(5)), folder='out')` in Python, where `setting` is your "
    "function of the axes."
)


@cache
def parts() -> dict:
    """Every part by its name: classes, and functions that make one, such as `cosine_sum`."""
    named = {name: getattr(kind, name) for kind in KINDS for name in kind.__all__}
    classes = {name: p for name, p in named.items() if isinstance(p, type) and issubclass(p, Part)}
    return classes | {p.__name__: p for p in MAKERS}


def written(table, point):
    """A function of the point that makes the setting of a table, with the point's values put in their places."""
    require(isinstance(table, dict), "[setting] must be a table with task, net and optimiser.")
    for axis in point:
        put(copy.deepcopy(table), axis, None)

    def setting(**at_point):
        filled = copy.deepcopy(table)
        for axis, value in at_point.items():
            put(filled, axis, value)
        return call(Setting, "[setting]", {key: made(value) for key, value in filled.items()})

    return setting


def put(table, axis, value):
    """Put a value at a path such as `optimiser.lr`."""
    *way, last = axis.split(".")
    for step in way:
        inner = table.get(step)
        if not isinstance(inner, dict):
            raise InvalidInput(f"[setting] has no table {step!r} for the axis {axis!r}.{nearest(step, table)}")
        table = inner
    table[last] = value


def made(value):
    """The part a table with `class` describes; lists become tuples."""
    if isinstance(value, list):
        return tuple(made(v) for v in value)
    if not isinstance(value, dict):
        return value
    name = value.get("class")
    if not isinstance(name, str) or name not in parts():
        example = "{class = 'GradientDescent', lr = 0.01}"
        hint = f"{nearest(str(name), parts())} {OWN_PARTS}"
        raise InvalidInput(f"A part is a table such as {example}; none is called {name!r}.{hint}")
    return call(parts()[name], name, {key: made(v) for key, v in value.items() if key != "class"})


def call(function, name, given):
    """function(**given), where a name it does not have is refused with the nearest that it has."""
    known = fields(function)
    for key in given:
        if key not in known:
            raise InvalidInput(f"{name} has no field {key!r}, but {', '.join(known)}.{nearest(key, known)}")
    try:
        return function(**given)
    except InvalidInput:
        raise
    except (TypeError, ValueError, AttributeError) as error:
        raise InvalidInput(f"{name} cannot be made from {given} ({error}).") from None


@cache
def fields(function):
    return tuple(inspect.signature(function).parameters)


def observable(value, path) -> Observable:
    table = {"class": value} if isinstance(value, str) else value
    known = [name for name, p in parts().items() if isinstance(p, type) and issubclass(p, Observable)]
    name = str(table.get("class")) if isinstance(table, dict) else str(value)
    hint = "" if name in known else f"{nearest(name, known)} {OWN_PARTS}"
    require(name in known, f"{path}: no observable is called {name!r}.{hint}")
    return made(table)  # type: ignore[return-value]
