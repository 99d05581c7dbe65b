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

`[[points]]` lists points one by one instead. A table `[setting]` writes a setting out, with the names of our classes;
its axes are paths into it, such as "optimiser.lr". A file names our parts, or the user's own that were
imported before it is read; it never imports or executes anything itself.
"""

import inspect
import re
import tomllib
from functools import partial
from pathlib import Path

from saddlescope.errors import InvalidInput, nearest, require
from saddlescope.setting import Setting
from saddlescope.sweeps import Plan, TrainJob, filter_points, grid, product, zipped
from saddlescope.sweeps.axes import parse_values
from saddlescope.sweeps.job import at
from saddlescope.sweeps.setting_table import observable_from_table, setting_from_table
from saddlescope.training import SaveAt, every, every_epoch, log_spaced, log_spaced_epochs, on_cut
from saddlescope.workflows.find import check_axes, named_experiment, named_protocol

BASES = ("experiment", "protocol", "setting")
KEYS = ("title", "name", *BASES, "where", "observe", "save", "axes", "zip", "points")
SAVE = {
    "every": "a whole number of steps or epochs", "log": "a whole number of instants", "on_cut": "true or false",
    "after_cut": "a whole number of epochs", "until": "a whole number of steps or epochs",
}  # fmt: skip
OFTEN = 1_000_000  # instants of a run
LARGEST = 10 << 20  # bytes of a sweep file


def is_sweep_file(what: str) -> bool:
    """Whether a word means a sweep file rather than an experiment, which is a key or a Python file."""
    return not what.endswith(".py") and (what.endswith(".toml") or "/" in what or Path(what).is_file())


def read_sweep(path, axes=None, where=None) -> Plan:
    """The plan of a file; `axes` replace those of the file, `where` filters on top of its own."""
    data = _read_toml(path)
    _check_keys(data, KEYS, f"{path}")
    given = [base for base in BASES if base in data]
    require(len(given) == 1, f"{path} must say what is run: one of {', '.join(BASES)}; it has {given or 'none'}.")
    points = _points_of(data, axes or {}, path)
    for condition in (data.get("where"), where):
        require(condition is None or isinstance(condition, str), f"`where` of {path} is a text like 'bs <= N'.")
        points = filter_points(points, condition) if condition else points
    require(bool(points), f"{path} leaves nothing to run: an axis has no values, or the filter leaves no point.")
    title = data.get("title", Path(path).stem)
    require(isinstance(title, str), f"`title` of {path} is a text, got {title!r}.")
    return Plan(title, points, _job_maker(data, given[0], points, path))


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


def _points_of(data, axes, path) -> list[dict]:
    listed = data.get("points", [])
    tables = isinstance(listed, list) and all(isinstance(p, dict) for p in listed)
    require(tables, f"`points` of {path} are tables, written [[points]].")
    require(len({tuple(sorted(p)) for p in listed}) < 2, f"The [[points]] of {path} must have the same axes.")
    crossed, side_by_side = (_spread(data.get(key, {}), f"[{key}] of {path}") for key in ("axes", "zip"))
    for name in axes:
        fixed = name in side_by_side or any(name in p for p in listed)
        require(not fixed, f"The axis {name!r} of {path} is zipped or listed; change it in the file.")
    return product(listed or [{}], zipped(**side_by_side) if side_by_side else [{}], grid(**crossed | axes))


def _spread(table, place) -> dict:
    """Values of each axis: a number, a text such as "0..9" or "1e-2,1e-3", or a list."""
    require(isinstance(table, dict), f"{place} must be a table of axes.")
    return {name: _values_of(value, f"{name!r} in {place}") for name, value in table.items()}


def _values_of(value, place) -> tuple:
    if isinstance(value, str):
        return parse_values(value)
    values = value if isinstance(value, list) else [value]
    require(
        all(isinstance(v, int | float | str | bool) for v in values),
        f'The values of {place} must be numbers or names; write paths such as "optimiser.lr" in quotes.',
    )
    return tuple(values)


# ---- Jobs ----


def _job_maker(data, base, points, path):
    """A function from a point to its job; axes that do not exist are refused with the nearest that does."""
    if base == "experiment":
        require(not {"observe", "save"} & set(data), f"{path}: an experiment says itself what is observed and saved.")
        experiment = named_experiment(data["experiment"])
        check_axes(data["experiment"], experiment, points[0])
        return experiment.job
    make = _protocol if base == "protocol" else setting_from_table
    setting = make(data[base], points[0])
    observe = tuple(observable_from_table(o, path) for o in _listed(data.get("observe", []), path))
    return partial(_job, setting, observe, data.get("save", {}), str(path))


def _job(setting, observe, save, path, point) -> TrainJob:
    made = at(setting, **point)
    require(isinstance(made, Setting), f"[setting] of {path} makes a {type(made).__name__}, not a Setting.")
    return TrainJob(made, observe, _save_at(save, made, path))


def _protocol(name, point):
    found = named_protocol(name)
    known = inspect.signature(found).parameters
    for axis in point:
        require(
            axis in known,
            f"The protocol {name!r} has no axis {axis!r}. Its axes are {', '.join(known)}.{nearest(axis, known)}",
        )
    needed = [k for k, p in known.items() if p.default is inspect.Parameter.empty and k not in point]
    require(not needed, f"The protocol {name!r} needs a value for {', '.join(needed)}: add it to [axes].")
    return found


def _listed(value, path) -> list:
    require(isinstance(value, list), f'`observe` of {path} is a list of observables, such as ["FullLoss"].')
    return value


def _save_at(save, setting: Setting, path) -> SaveAt:
    _check_keys(save, SAVE, f"[save] of {path}")
    for key, value in save.items():
        good = type(value) is (bool if key == "on_cut" else int) and value >= 0
        require(good, f"`{key}` in [save] of {path} is {SAVE[key]}, got {value!r}.")
    full_batch = setting.batch is None
    last = setting.budget if full_batch else setting.epochs
    end = min(save.get("until", last), last)
    many = max(save.get("log", 0), end / save["every"] if save.get("every") else 0)
    require(many <= OFTEN, f"[save] of {path} asks for more than {OFTEN:,} instants: save less often.")
    found = SaveAt()
    if "every" in save:
        found |= (every if full_batch else every_epoch)(save["every"], end)
    if "log" in save:
        found |= (log_spaced if full_batch else log_spaced_epochs)(save["log"], end)
    if save.get("on_cut") or "after_cut" in save:
        found |= on_cut(save.get("after_cut"))
    return found
