"""Finding experiments: the only names are import paths."""

import importlib
import pkgutil

from saddlescope.errors import InvalidInput, nearest
from saddlescope.experiment import Experiment


def keys() -> list[str]:
    """All experiments: `simplicity.fig1b` is the file papers/simplicity/fig1b.py. Files that begin with an underscore
    hold what several experiments share."""
    papers = importlib.import_module("saddlescope.papers")
    found = []
    for paper in pkgutil.iter_modules(papers.__path__):
        package = importlib.import_module(f"saddlescope.papers.{paper.name}")
        files = (m.name for m in pkgutil.iter_modules(package.__path__))
        found += [f"{paper.name}.{name}" for name in files if name[0] != "_"]
    return found


def matching(key: str) -> list[str]:
    """The experiments a key names: one, all of a paper, or `all`."""
    known = keys()
    chosen = [k for k in known if key in ("all", k, k.partition(".")[0])]
    if not chosen:
        names = [*known, *{k.partition(".")[0] for k in known}, "all"]
        raise InvalidInput(f"No experiment is called {key!r}.{nearest(key, names)} `saddlescope list` shows them all.")
    return chosen


def find(key: str) -> Experiment:
    return importlib.import_module(f"saddlescope.papers.{key}").experiment
