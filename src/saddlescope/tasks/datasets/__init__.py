"""Data sets that are fetched once, checked and cached. Each is one file of this folder.

To add one, add a file with a subclass of `Dataset` and an instance of it called DATASET. The name
of the file is the name of the data set. Files that begin with an underscore hold what several share.
"""

import importlib
import pkgutil

from saddlescope.errors import nearest, require
from saddlescope.tasks.datasets._dataset import Dataset

__all__ = ["Dataset", "dataset_names", "find_dataset"]


def dataset_names() -> list[str]:
    """The names of all data sets: the files of this folder."""
    return [m.name for m in pkgutil.iter_modules(__path__) if not m.name.startswith("_")]


def find_dataset(name: str) -> Dataset:
    """The data set of that name, fetched or not; an unknown name is refused."""
    names = dataset_names()
    known = f"Available: {', '.join(names)}.{nearest(name, names)}"
    require(name in names, f"Unknown dataset {name!r}. {known}")
    return importlib.import_module(f"{__name__}.{name}").DATASET
