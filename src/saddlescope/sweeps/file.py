"""A sweep as a small TOML file: what is run, over which axes, and what is kept.

    title = "Escape from the first plateau"
    protocol = "valleys"            # or: experiment = "valleys.halving", or a table [setting]
    where = "bs <= N"
    observe = ["TestError", "FullLoss"]

    [axes]                          # all combinations
    factor = 3
    N = "256,768"
    bs = [1, 4, 16]
    L = "1..3"
    seed = "0..9"

    [zip]                           # side by side, combined with the axes
    lr = "1e-2,1e-3"
    epochs = "500,5000"

    [save]
    every = 100
    after_cut = 10

`[[points]]` lists points one by one instead. A table `[setting]` writes out a setting's form with the names of our
classes; its axes are paths into it, such as "optimiser.lr". A file can name our parts, never import or execute.
"""

import inspect
import re
import tomllib
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from saddlescope.errors import InvalidInput, nearest, require
from saddlescope.setting import Setting
from saddlescope.sweeps import Plan, TrainJob, filter_points, grid, product, zipped
from saddlescope.sweeps.axes import parse_values
from saddlescope.sweeps.job import at
from saddlescope.sweeps.setting_table import observable, written
from saddlescope.training import SaveAt, every, log_spaced, on_cut

BASES = ("experiment", "protocol", "setting")
KEYS = ("title", "name", *BASES, "where", "observe", "save", "axes", "zip", "points")
SAVE = {
    "every": "a whole number of steps or epochs",
    "log": "a whole number of instants",
    "on_cut": "true or false",
    "after_cut": "a whole number of epochs",
    "until": "a whole number of steps or epochs",
}
OFTEN = 1_000_000  # instants of one run
LARGEST = 10 << 20  # bytes of a sweep file


def is_sweep_file(what: str) -> bool:
    """Whether this names a file and not an experiment."""
    return what.endswith(".toml") or "/" in what or Path(what).is_file()


def read_sweep(
    path,
    axes: Mapping[str, tuple] | None = None,
    where: str | None = None,
    *,
    find_experiment: Callable[[str], Any] | None = None,
    protocols: Mapping[str, Callable] | None = None,
) -> Plan:
    """The plan of a sweep file.

    **Arguments:**

    - `path`: the TOML file.
    - `axes`: axes that replace those of the file.
    - `where`: a filter on top of the file's own.
    - `find_experiment`: from a key to the experiment, for files with `experiment = …`.
    - `protocols`: functions that make a setting, by name, for files with `protocol = …`.
    """
    data = _read_toml(path)
    _check_keys(data, KEYS, f"{path}")
    given = [base for base in BASES if base in data]
    require(len(given) == 1, f"{path} must say what is run: one of {', '.join(BASES)}; it has {given or 'none'}.")
    points = _points(data, axes or {}, path)
    for condition in (data.get("where"), where):
        require(condition is None or isinstance(condition, str), f"`where` of {path} is a text like 'bs <= N'.")
        points = filter_points(points, condition) if condition else points
    require(bool(points), f"{path} leaves nothing to run: an axis has no values, or the filter leaves no point.")
    title = data.get("title", Path(path).stem)
    require(isinstance(title, str), f"`title` of {path} is a text, got {title!r}.")
    if given[0] == "experiment":
        return Plan(title, points, _experiment_jobs(data, points, path, find_experiment))
    if given[0] == "protocol":
        setting = _protocol(data["protocol"], points[0], path, protocols or {})
    else:
        setting = written(data["setting"], points[0])
    observe = tuple(observable(o, path) for o in _as_list(data.get("observe", []), path))
    return Plan(title, points, partial(_job, setting, observe, data.get("save", {}), str(path)))


def sweep_name(path) -> str:
    """The name of the folder a file's sweep goes to, one word: it cannot lead out of the output folder."""
    name = _read_toml(path).get("name", Path(path).stem)
    require(
        isinstance(name, str) and re.fullmatch(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,100}", name),
        f"`name` of a sweep is one word of letters, digits, '_', '-' and '.'; got {name!r}.",
    )
    return name


def _read_toml(path) -> dict:
    path = Path(path)
    require(path.is_file(), f"There is no sweep file {path}: give a .toml file or an experiment's key.")
    require(path.stat().st_size <= LARGEST, f"{path} is larger than a sweep file can be ({LARGEST >> 20} MB).")
    try:
        return tomllib.loads(path.read_bytes().decode())
    except (ValueError, RecursionError) as error:
        raise InvalidInput(f"{path} is not a TOML file ({error}).") from None


def _check_keys(table, known, place):
    require(isinstance(table, dict), f"{place} must be a table with {', '.join(known)}.")
    for key in table:
        if key not in known:
            raise InvalidInput(f"{place} has no key {key!r}; it may have {', '.join(known)}.{nearest(key, known)}")


# ---- Points ----


def _points(data, axes, path) -> list[dict]:
    listed = data.get("points", [])
    tables = isinstance(listed, list) and all(isinstance(p, dict) for p in listed)
    require(tables, f"`points` of {path} are tables, written [[points]].")
    require(len({tuple(sorted(p)) for p in listed}) < 2, f"The [[points]] of {path} must have the same axes.")
    crossed, side_by_side = (_axes(data.get(key, {}), f"[{key}] of {path}") for key in ("axes", "zip"))
    for name in axes:
        fixed = name in side_by_side or any(name in p for p in listed)
        require(not fixed, f"The axis {name!r} of {path} is zipped or listed; change it in the file.")
    return product(listed or [{}], zipped(**side_by_side) if side_by_side else [{}], grid(**crossed | axes))


def _axes(table, place) -> dict:
    """Values of each axis: a number, a text such as "0..9" or "1e-2,1e-3", or a list."""
    require(isinstance(table, dict), f"{place} must be a table of axes.")
    return {name: _values(value, f"{name!r} in {place}") for name, value in table.items()}


def _values(value, place) -> tuple:
    if isinstance(value, str):
        return parse_values(value)
    values = value if isinstance(value, list) else [value]
    require(
        all(isinstance(v, int | float | str | bool) for v in values),
        f'The values of {place} must be numbers or names; write paths such as "optimiser.lr" in quotes.',
    )
    return tuple(values)


# ---- Jobs ----


def _experiment_jobs(data, points, path, find_experiment):
    """The jobs of an experiment; axes that it does not have are refused with the nearest that it has."""
    own = not {"observe", "save"} & set(data)
    require(own, f"{path}: an experiment says itself what is observed and saved.")
    key = data["experiment"]
    require(isinstance(key, str), f"`experiment` of {path} is a text such as 'simplicity.fig1b', got {key!r}.")
    require(find_experiment is not None, f"{path} names an experiment; `saddlescope sweep` can run it.")
    experiment = find_experiment(key)
    experiment.check_axes(points[0])
    return experiment.job


def _job(setting, observe, save, path, point) -> TrainJob:
    made = at(setting, **point)
    require(isinstance(made, Setting), f"[setting] of {path} makes a {type(made).__name__}, not a Setting.")
    return TrainJob(made, observe, _save_at(save, made, path))


def _protocol(name, point, path, protocols):
    if not isinstance(name, str) or name not in protocols:
        hint = nearest(str(name), protocols)
        raise InvalidInput(f"{path}: the protocols are {', '.join(protocols)}; got {name!r}.{hint}")
    known = inspect.signature(protocols[name]).parameters
    for axis in point:
        hint = "" if axis in known else nearest(axis, known)
        require(axis in known, f"The protocol {name!r} has no axis {axis!r}. Its axes are {', '.join(known)}.{hint}")
    needed = [k for k, p in known.items() if p.default is inspect.Parameter.empty and k not in point]
    require(not needed, f"The protocol {name!r} needs a value for {', '.join(needed)}: add it to [axes].")
    return protocols[name]


def _as_list(value, path) -> list:
    require(isinstance(value, list), f'`observe` of {path} is a list of observables, such as ["FullLoss"].')
    return value


def _save_at(save, setting: Setting, path) -> SaveAt:
    _check_keys(save, SAVE, f"[save] of {path}")
    for key, value in save.items():
        good = type(value) is (bool if key == "on_cut" else int) and value >= 0
        require(good, f"`{key}` in [save] of {path} is {SAVE[key]}, got {value!r}.")
    end = min(save.get("until", setting.budget), setting.budget)
    many = max(save.get("log", 0), end / save["every"] if save.get("every") else 0)
    require(many <= OFTEN, f"[save] of {path} asks for more than {OFTEN:,} instants: save less often.")
    found = SaveAt()
    if "every" in save:
        found |= every(save["every"], end)
    if "log" in save:
        found |= log_spaced(save["log"], end)
    if save.get("on_cut") or "after_cut" in save:
        found |= on_cut(save.get("after_cut"))
    return found
