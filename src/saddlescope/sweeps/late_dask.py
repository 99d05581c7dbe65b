"""xarray without dask, for as long as nobody uses dask.

xarray asks of every array whether it is one of dask's, and imports dask to ask: half a second in each process where it
is installed. An array can only be one of dask's once dask has been imported. So here the question waits for that. Then
xarray's own answer holds, as on a cluster or in an experiment of the user's that uses dask.

This changes two functions inside xarray, so it is for processes of our own: the command line and workers. An xarray
without these functions stays as it is.
"""

import sys
from importlib.machinery import PathFinder
from types import SimpleNamespace


def import_dask_late():
    """From now on in this process, xarray imports dask only after somebody else has."""
    for name, change in CHANGES.items():
        if name in sys.modules:
            change(sys.modules[name])
    if _Finder not in sys.meta_path:
        sys.meta_path.insert(0, _Finder)


class _Finder:
    """Finds these modules of xarray as they are found anyway, and changes them once they have been loaded."""

    @staticmethod
    def find_spec(name, path=None, target=None):
        spec = PathFinder.find_spec(name, path, target) if name in CHANGES else None
        if spec is not None and spec.loader is not None:
            load = spec.loader.exec_module

            def load_and_change(module):
                load(module)
                CHANGES[name](module)

            spec.loader.exec_module = load_and_change
        return spec


def _ask_late(module, name, meanwhile):
    """Let `meanwhile` answer in place of a function of this name, while there is no dask."""
    ask = getattr(module, name, None)
    if ask is None or ask in _asked_late:
        return

    def ask_late(x):
        return ask(x) if "dask" in sys.modules else meanwhile(x, ask)

    _asked_late.add(ask_late)
    setattr(module, name, ask_late)


def _change_collections(module):
    _ask_late(module, "is_dask_collection", lambda x, ask: False)


def _change_arrays(module):
    absent = SimpleNamespace(module=None, type=(), available=False, version=module.Version("0.0.0"))
    _ask_late(module, "_get_cached_duck_array_module", lambda kind, ask: absent if kind == "dask" else ask(kind))


CHANGES = {"xarray.namedarray.utils": _change_collections, "xarray.namedarray.pycompat": _change_arrays}
_asked_late = set()
