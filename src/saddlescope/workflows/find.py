"""Which experiment is meant, and how much of it. The only names are import paths and files.

`simplicity.fig1b` is the file papers/simplicity/fig1b.py. An experiment of the user's own is a file
(`my_experiment.py`) or a module (`my_lab.ladder`) with `experiment = Experiment(...)`; its key is its module's name.
"""

import importlib
import math
import pkgutil
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

from saddlescope.errors import InvalidInput, nearest, number_of, require
from saddlescope.serialization.own_code import (
    file_of_module,
    find_module,
    import_module,
    imported_modules,
    is_file_name,
    module_of_file,
)

if TYPE_CHECKING:
    from saddlescope.experiment import Experiment
    from saddlescope.results import Results


def paper_packages() -> Iterator[tuple[str, ModuleType]]:
    """Every paper: its name and its package, which is quick to import and may offer `protocol` and `train_by_name`."""
    papers = importlib.import_module("saddlescope.papers")
    for paper in pkgutil.iter_modules(papers.__path__):
        yield paper.name, importlib.import_module(f"saddlescope.papers.{paper.name}")


def experiment_keys() -> list[str]:
    """All experiments of the papers. Files that begin with an underscore hold what several experiments share."""
    found = []
    for paper, package in paper_packages():
        files = (m.name for m in pkgutil.iter_modules(package.__path__))
        found += [f"{paper}.{name}" for name in files if name[0] != "_"]
    return found


def matching_keys(key: str) -> list[str]:
    """The experiments that a word names: one, all of a paper, `all`, or one of the user's own."""
    if chosen := [k for k in experiment_keys() if key in ("all", k, k.partition(".")[0])]:
        return chosen
    if is_file_name(key):
        return [module_of_file(key)]
    if find_module(key):
        return [key]
    raise InvalidInput(_unknown(key))


def one_key(key: str, command: str) -> str:
    """The one experiment that a word names, for a command that takes no more."""
    keys = matching_keys(key)
    require(len(keys) == 1, f"`{command}` takes one experiment, {key!r} names {len(keys)}: {', '.join(keys)}.")
    return keys[0]


def find_experiment(key: str) -> "Experiment":
    """The experiment of a key, imported."""
    if key in experiment_keys():
        return importlib.import_module(f"saddlescope.papers.{key}").experiment
    if is_file_name(key):
        key = module_of_file(key)
    require(find_module(key), _unknown(key))
    from saddlescope.experiment import Experiment

    module = import_module(key, file_of_module(key) or key)
    experiment = getattr(module, "experiment", None)
    require(
        isinstance(experiment, Experiment),
        f"{module.__file__ or key} has no experiment: it needs a line `experiment = saddlescope.Experiment(...)`.",
    )
    return experiment  # type: ignore[return-value]


def is_own(key: str) -> bool:
    """Whether the experiment is the user's own, so that no paper has a record of it."""
    return key not in experiment_keys()


def own_file(key: str) -> str:
    """The absolute path of an experiment of the user's own; empty for one of a paper."""
    module = imported_modules().get(key) if is_own(key) else None
    return str(Path(module.__file__).resolve()) if module is not None and module.__file__ else ""


def find_again(folder, about: Mapping[str, Any], given: str | None = None) -> str:
    """The key of the experiment that made a stored result: what the user gives, a paper's, or the stored file's."""
    key, file = str(about.get("key", "")), Path(str(about.get("file", "")))
    if given is not None:
        return one_key(given, "judge --experiment")
    if not is_own(key):
        return key
    how = f"give its experiment: `saddlescope judge {folder} --experiment FILE`."
    # A file that came along with the results is not run unasked.
    beside = Path(folder).resolve() in file.parents
    require(
        file.is_absolute() and file.is_file() and not beside,
        f"{folder} is a result of {key!r}, whose file cannot be found; {how}",
    )
    _ = find_module(key)  # a module of a package keeps its dotted name
    return key if file_of_module(key) == str(file) else module_of_file(file)


def named_experiment(key: str) -> "Experiment":
    """An experiment that a file names: of a paper, or imported already. A file imports nothing of the user's own."""
    known = [*experiment_keys(), *imported_modules()]
    require(
        key in known,
        f"{key!r} is not one experiment.{nearest(str(key), known)} `saddlescope list` shows them all; one of your own "
        "is known after `--import FILE`.",
    )
    return find_experiment(key)


def named_protocol(name: str) -> Callable:
    """The function from a point to a setting that a paper offers by its name, for `protocol = "valleys"`."""
    offered = {paper: p.protocol for paper, p in paper_packages() if hasattr(p, "protocol")}
    if name not in offered:
        raise InvalidInput(f"The protocols are {', '.join(offered)}; got {name!r}.{nearest(str(name), offered)}")
    return offered[name]()


def check_axes(key: str, experiment: "Experiment", axes):
    """Refuse an axis that the experiment does not have."""
    known = experiment.axes
    for axis in axes:
        require(
            axis in known,
            f"{key} has no axis {axis!r}. Its axes are {', '.join(known)}.{nearest(axis, known)}",
        )


def _unknown(key) -> str:
    """The sentence for a name that nothing has: with every experiment of that name in some paper, else the nearest."""
    known = experiment_keys()
    same = [k for k in known if k.partition(".")[2] == key]
    near = nearest(key, [*known, *{k.partition(".")[0] for k in known}, "all"])
    hint = f" Did you mean {' or '.join(map(repr, same))}?" if same else near
    return f"No experiment is called {key!r}.{hint} `saddlescope list` shows them all."


# ---- How much of it ----


@dataclass(frozen=True)
class Scale:
    """A grid of an experiment, and how it compares with the grid that the experiment itself names.

    **Arguments:**

    - `name`: "full" or "quick": the grid that the axes start from, and the folder that results go to.
    - `axes`: the values of every axis.
    - `runs`: points of these axes.
    - `grid_runs`: points of the experiment's own grid of that name.
    - `within`: whether every point is also a point of that grid.
    """

    name: str
    axes: Mapping[str, Iterable[Any]]
    runs: int
    grid_runs: int
    within: bool = True

    @property
    def is_whole(self) -> bool:
        """Whether this is the experiment's own grid: only then is it compared with the record."""
        return self.within and self.runs == self.grid_runs

    @property
    def label(self) -> str:
        """`full`, `part of full: 7 of 140 runs`, `other axes than full: 40 runs`."""
        if self.is_whole:
            return self.name
        runs = number_of(self.runs, "run")
        if not self.within:
            return f"other axes than {self.name}: {runs}"
        return f"part of {self.name}: {self.runs:,} of {number_of(self.grid_runs, 'run')}"


def choose_scale(experiment: "Experiment", name: str, axes: Mapping[str, Iterable[Any]] | None = None) -> Scale:
    """The grid of this name, with `axes` in place of its own axes of the same names."""
    asked = {**getattr(experiment, name), **(axes or {})}
    return _compared(experiment, name, asked, experiment.plan(asked).points)


def stored_scale(experiment: "Experiment", name: str, results: "Results") -> Scale:
    """The same of stored results: their points are read off the axes that are stored."""
    measured, known = results.measured, getattr(experiment, name)
    axes = {axis: measured[axis].values.tolist() for axis in known if axis in measured.coords}
    points = [dict(zip(axes, values, strict=True)) for values in zip(*axes.values(), strict=True)]
    if not axes:  # an experiment without axes is one point
        points = [{}] * measured.sizes["run"]
    return _compared(experiment, name, {a: list(dict.fromkeys(v)) for a, v in axes.items()}, points)


def _compared(experiment, name, axes, points) -> Scale:
    own = {_key(point) for point in experiment.plan(getattr(experiment, name)).points}
    within = all(_key(point) in own for point in points)
    return Scale(name, axes, len(points), len(own), within)


def _key(point: Mapping) -> frozenset:
    """A point as it is before and after storing: 1 may come back as 1.0, None as NaN, an object as its name."""
    return frozenset((axis, _text(value)) for axis, value in point.items())


def _text(value) -> str:
    value = value.item() if hasattr(value, "item") else value
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return ""
    return f"{float(value):.17g}" if isinstance(value, bool | int | float) else str(value)
