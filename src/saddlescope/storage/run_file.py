"""One run as a checked npz: arrays with the names of their axes, single words in the record beside them."""

from typing import TYPE_CHECKING

import numpy as np

from saddlescope.results import TICKS, WORD, Columns
from saddlescope.storage.files import Damaged

if TYPE_CHECKING:
    import xarray as xr

Stored = tuple[dict[str, np.ndarray], dict]


def to_arrays(run: "xr.Dataset", **about) -> Stored:
    """Arrays and record of a run. The count of steps along a curve is left out: it is 0, 1, 2, …"""
    kept = {str(name): v for name, v in run.variables.items() if name not in TICKS}
    words = {name: str(v.values.item()) for name, v in kept.items() if v.ndim == 0 and v.dtype.kind in "UO"}
    arrays = {name: v.values for name, v in kept.items() if name not in words}
    dims = {name: list(kept[name].dims) for name in arrays}
    coords = sorted(str(c) for c in run.coords if c not in TICKS)
    return arrays, about | {"dims": dims, "words": words, "coords": coords, "attrs": run.attrs}


def to_columns(stored: Stored, what) -> Columns:
    """Name → (axes, values) of a stored run; one whose parts do not fit together is refused."""
    arrays, about = stored
    dims, words = (dict(about[key]) if isinstance(about.get(key), dict) else {} for key in ("dims", "words"))
    lengths: dict = {}
    fits = set(dims) == set(arrays) and not set(words) & set(arrays) and all(map(_is_word, (*arrays, *words)))
    for name, a in arrays.items() if fits else ():
        axes = dims[name]
        fits &= isinstance(axes, list) and all(map(_is_word, axes)) and len(axes) == a.ndim == len(set(axes))
        fits = fits and all(lengths.setdefault(dim, n) == n for dim, n in zip(axes, a.shape, strict=True))
    fits = fits and all(isinstance(w, str) and is_text(w) for w in words.values())
    coords, attrs = about.get("coords"), about.get("attrs")
    fits = fits and isinstance(coords, list) and all(map(_is_word, coords))
    fits = fits and isinstance(attrs, dict) and all(_is_word(k) and _is_single(v) for k, v in attrs.items())
    loss = arrays.get("loss")
    fits = fits and (loss is None or loss.dtype.kind == "f") and not {*arrays, *words} & {*TICKS, "run"}
    if not fits:
        raise Damaged(f"{what} is not a run file: its arrays and the names of their axes do not agree.")
    found = {name: (tuple(dims[name]), a) for name, a in arrays.items()}
    return found | {name: ((), np.asarray(word)) for name, word in words.items()}


def _is_word(name) -> bool:
    return isinstance(name, str) and WORD.fullmatch(name) is not None


def _is_single(value) -> bool:
    return isinstance(value, str | int | float)


def is_text(word) -> bool:
    """Whether a text survives storing: no zero within it, and no half of a character."""
    return "\0" not in word and not any(0xD800 <= ord(c) <= 0xDFFF for c in word)


def to_dataset(stored: Stored, what) -> "xr.Dataset":
    """The run as it was when it was stored."""
    import xarray as xr

    found = to_columns(stored, what)
    sizes = {dim: n for dims, a in found.values() for dim, n in zip(dims, a.shape, strict=True)}
    ticks = {t: np.arange(sizes[t]) for t in TICKS if t in sizes}
    run = xr.Dataset(found, ticks, stored[1]["attrs"])
    return run.set_coords([c for c in stored[1]["coords"] if c in found])
