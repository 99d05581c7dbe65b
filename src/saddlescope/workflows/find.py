"""Finding experiments: the only names are import paths and files.

`simplicity.fig1b` is the file papers/simplicity/fig1b.py. An experiment of the user's own is a file
(`my_experiment.py`) or a module (`my_lab.ladder`) with `experiment = Experiment(...)`; its key is its module's name.
"""

import importlib
import pkgutil
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

from saddlescope.errors import InvalidInput, nearest, require
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
    if is_file_name(key):
        return [module_of_file(key)]
    known = experiment_keys()
    if chosen := [k for k in known if key in ("all", k, k.partition(".")[0])]:
        return chosen
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
    module = imported_modules().get(key)
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
