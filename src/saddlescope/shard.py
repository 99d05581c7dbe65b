"""One run as a packed file: arrays with the names of their axes, single words in the record beside them."""

import numpy as np
import xarray as xr

from saddlescope.refusal import refuse_unless
from saddlescope.results import TICKS, Columns

Packed = tuple[dict[str, np.ndarray], dict]


def encoded(run: xr.Dataset, **about) -> Packed:
    """Arrays and record of a run. The count of steps along a curve is left out: it is 0, 1, 2, …"""
    kept = {str(name): v for name, v in run.variables.items() if name not in TICKS}
    words = {name: str(v.values) for name, v in kept.items() if v.ndim == 0 and v.dtype.kind in "UO"}
    arrays = {name: v.values for name, v in kept.items() if name not in words}
    dims = {name: list(kept[name].dims) for name in arrays}
    coords = sorted(str(c) for c in run.coords if c not in TICKS)
    return arrays, about | {"dims": dims, "words": words, "coords": coords, "attrs": run.attrs}


def columns(packed: Packed, what) -> Columns:
    """Name → (axes, values) of a packed run."""
    arrays, about = packed
    dims, words = (dict(about[key]) if isinstance(about.get(key), dict) else {} for key in ("dims", "words"))
    fits = set(dims) == set(arrays) and all(
        isinstance(dims[name], list) and len(dims[name]) == a.ndim == len({*dims[name]}) for name, a in arrays.items()
    )
    refuse_unless(fits, f"{what} is not a run of ours: its arrays and the names of their axes do not agree.")
    found = {name: (tuple(map(str, dims[name])), a) for name, a in arrays.items()}
    return found | {name: ((), np.asarray(str(word))) for name, word in words.items()}


def decoded(packed: Packed, what) -> xr.Dataset:
    """The run as it was."""
    found = columns(packed, what)
    sizes = {dim: n for dims, a in found.values() for dim, n in zip(dims, a.shape, strict=True)}
    ticks = {t: np.arange(sizes[t]) for t in TICKS if t in sizes}
    run = xr.Dataset(found, ticks, packed[1].get("attrs"))
    return run.set_coords([c for c in packed[1].get("coords", []) if c in found])
