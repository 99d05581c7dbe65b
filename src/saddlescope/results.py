"""Results: two labelled datasets, measured and predicted, under the same names; and how runs are put together.

Runs have different lengths. Collected runs are padded along a dimension `run`, and carry their lengths: `length` in
steps or epochs, `saved_length`, `event_length`. Read them through `each_run`, which cuts at the lengths first:
padding is then never taken for divergence, nor divergence for padding.
"""

import hashlib
import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from saddlescope.errors import require
from saddlescope.stages import Stages, find_stages

if TYPE_CHECKING:  # half a second to import: only what makes a dataset waits for it
    import xarray as xr

Columns = Mapping[str, tuple[tuple[str, ...], np.ndarray]]  # name → axes and values

WORD = re.compile(r"[\w.\-]{1,200}")  # a name of a variable, axis or attribute
TICKS = ("step", "epoch")
FOUND = "found_stages"  # the stages of a run, in place of its curve
RAGGED = (*TICKS, "saved", "event")
PAD = {"f": np.nan, "i": -1, "u": 0, "b": False}
MIXED = "Full-batch and minibatch runs count time differently; collect them apart."


@dataclass(frozen=True)
class Results:
    """All runs of an experiment: what was measured, and what theory predicted beside it.

    **Arguments:**

    - `measured`: a dataset with a dimension `run`, and the axes as coordinates along it.
    - `predicted`: the same of the predictions, with the same runs.
    """

    measured: "xr.Dataset"
    predicted: "xr.Dataset"

    def runs(self) -> Iterator["Run"]:
        """One `Run` after the other, each cut at its own length."""
        return map(Run, each_run(self.measured), each_run(self.predicted))

    def values(self, axis: str) -> list:
        """The values of an axis that are there, in the order of the runs."""
        return list(dict.fromkeys(self.measured[axis].values.tolist()))

    def select(self, **only) -> "Results":
        """The runs whose axes have these values; a tuple allows several."""
        keep = np.ones(self.measured.sizes["run"], bool)
        for axis, values in only.items():
            require(axis in self.measured.coords, f"The results have no axis {axis!r}.")
            keep &= np.isin(self.measured[axis].values, values if isinstance(values, tuple) else (values,))
        return self.where(keep)

    def where(self, keep) -> "Results":
        """The runs for which a row of truths is true."""
        rows = np.flatnonzero(keep)
        return Results(self.measured.isel(run=rows), self.predicted.isel(run=rows))


class Run:
    """One run, cut at its own length: what was measured, and what theory predicted beside it.

    The measured variables are read off the run itself: `run["loss"]`, `run.loss`, `"loss" in run`.

    **Arguments:**

    - `measured`: the dataset of one trained run or measurement.
    - `predicted`: what predictions gave for it; an empty dataset where there are none.
    """

    def __init__(self, measured: "xr.Dataset", predicted: "xr.Dataset | None" = None):
        self.measured = measured
        self.predicted = _dataset() if predicted is None else predicted

    def __getitem__(self, name: str) -> "xr.DataArray":
        return self.measured[name]

    def __contains__(self, name: str) -> bool:
        return name in self.measured

    def __getattr__(self, name: str):
        if name.startswith("__"):
            raise AttributeError(name)
        return getattr(self.measured, name)

    @cached_property
    def setting(self):
        """The setting that was trained, made again from its JSON; several by name, where a point has several."""
        from saddlescope.setting import Setting

        values = json.loads(str(self.measured["setting"].values))
        if "class" in values:
            return Setting.from_json(json.dumps(values))
        return {name: Setting.from_json(json.dumps(value)) for name, value in values.items()}

    @cached_property
    def stages(self) -> Stages:
        """The plateaus and drops of the loss; those that are stored, where the curve itself is not."""
        if FOUND in self.measured:
            return Stages.from_json(str(self.measured[FOUND].values))
        return stages_of_curve(self.measured["loss"].values)

    @property
    def cuts(self) -> np.ndarray:
        """How many epochs (full batch: steps) were done at each change of the learning rate."""
        at = next(self.measured[f"event_{t}"].values for t in reversed(TICKS) if f"event_{t}" in self.measured.coords)
        return at[self.measured["event_kind"].values.astype(str) == "cut"]

    @property
    def times(self) -> np.ndarray:
        """The epochs (full batch: steps) at which the observables were read."""
        return next(self.measured[f"saved_{t}"].values for t in reversed(TICKS) if f"saved_{t}" in self.measured.coords)


KEPT_STAGES = 10_000
_found: dict[bytes, Stages] = {}  # by the curve's content: every check of every claim asks for the same stages


def stages_of_curve(loss: np.ndarray) -> Stages:
    """The stages of a curve, found once per process."""
    key = hashlib.blake2b(loss.tobytes(), digest_size=16).digest()
    if key not in _found:
        if len(_found) >= KEPT_STAGES:
            _found.clear()
        _found[key] = find_stages(loss)
    return _found[key]


def _length_name(dim):
    return "length" if dim in TICKS else f"{dim}_length"


def each_run(dataset: "xr.Dataset") -> "Iterator[xr.Dataset]":
    """Run by run, cut at its lengths; a curve or summary that a run does not have is left out."""
    for i in range(dataset.sizes["run"]):
        run = dataset.isel(run=i)
        cuts = {dim: slice(int(run[_length_name(dim)])) for dim in run.sizes if _length_name(dim) in run}
        run = run.isel(cuts)
        yield run.drop_vars([name for name, v in run.data_vars.items() if 0 in v.shape and v.dims[0] not in RAGGED])


def collect(runs: "Sequence[xr.Dataset]", points: Sequence[dict]) -> "xr.Dataset":
    """One dataset with a dimension `run`, the points' axes as its coordinates, from one dataset per
    run.
    """
    layout, found = Layout(), [_columns_of(run) for run in runs]
    for run, columns in zip(runs, found, strict=True):
        layout.add(columns, run.coords, run.attrs)
    axes = axes_of(points)
    layout.check_axes(axes)
    together = layout.block(found) | layout.per_run()
    return _dataset(together, axes | layout.ticks(), layout.attrs).set_coords(sorted(layout.coords))


def split_predicted(run: "xr.Dataset", mark: str) -> "tuple[xr.Dataset, xr.Dataset]":
    """What was measured of a run, and what conditional predictions said about it; these have a mark
    in their names.
    """
    said = [str(name) for name in run.data_vars if str(name).startswith(mark)]
    predicted = _dataset({name.removeprefix(mark): run[name].variable for name in said})
    return run.drop_vars(said), predicted


def named(found: Mapping[str, Any]) -> "xr.Dataset":
    """A dataset of single numbers, and of (axes, values) where they are given."""
    return _dataset({k: v if isinstance(v, tuple) else ((), np.asarray(v)) for k, v in found.items()})


def _dataset(*given) -> "xr.Dataset":
    from xarray import Dataset

    return Dataset(*given)


def _columns_of(run: "xr.Dataset") -> Columns:
    return {str(name): (tuple(map(str, v.dims)), v.values) for name, v in run.variables.items() if name not in TICKS}


@dataclass
class Layout:
    """What runs are together, learned one run at a time: names, axes, longest lengths; then blocks of them, padded."""

    kinds: dict[str, tuple[tuple[str, ...], Any]] = field(default_factory=dict)  # name → axes and dtype
    sizes: dict[str, int] = field(default_factory=dict)
    lengths: dict[str, list[int]] = field(default_factory=dict)
    finite: list[bool] = field(default_factory=list)
    coords: set[str] = field(default_factory=set)
    attrs: dict = field(default_factory=dict)
    numbers: dict[str, int] = field(default_factory=dict)  # name → how many there are, without padding

    def add(self, run: Columns, coords=(), attrs=None):
        seen = {dim: n for dims, values in run.values() for dim, n in zip(dims, values.shape, strict=True)}
        for dim in seen:
            self.lengths.setdefault(dim, [0] * len(self.finite))
        for dim, lengths in self.lengths.items():
            lengths.append(seen.get(dim, 0))
            self.sizes[dim] = max(self.sizes.get(dim, 0), lengths[-1])
        require(sum(t in self.sizes for t in TICKS) < 2, MIXED)
        for name, (dims, values) in run.items():
            dtype = object if values.dtype.kind in "UO" else values.dtype
            require(dtype is object or dtype.kind in PAD, f"{name!r} cannot be stored: it holds {dtype}.")
            known, before = self.kinds.get(name, (dims, dtype))
            mixed = (before is object) != (dtype is object) or sorted(known) != sorted(dims)
            require(not mixed, f"{name!r} is of different kinds or has different axes in these runs.")
            self.kinds[name] = known, dtype if dtype is object else np.result_type(before, dtype)
            self.numbers[name] = self.numbers.get(name, 0) + values.size
        self.attrs = self.attrs or dict(attrs or {})
        self.coords |= {str(c) for c in coords} - set(TICKS)
        self.finite.append(_is_finite(run))

    def ragged(self) -> dict[str, list[int]]:
        return {dim: n for dim, n in self.lengths.items() if dim in RAGGED or len(set(n)) > 1}

    def filled(self, dims) -> float:
        """The share of a variable that is not padding."""
        shares = [np.mean(self.lengths[d]) / self.sizes[d] for d in dims if self.sizes[d]]
        return float(np.prod(shares))

    def per_run(self) -> dict:
        """The lengths, and whether a run is finite."""
        found: dict = {_length_name(dim): (("run",), np.asarray(n)) for dim, n in self.ragged().items()}
        return found | {"finite": (("run",), np.array(self.finite, bool))}

    def ticks(self) -> dict:
        return {t: np.arange(self.sizes[t]) for t in TICKS if t in self.sizes}

    def check_axes(self, axes):
        own = {"finite", "run", *RAGGED, *map(_length_name, self.ragged())}
        for name in self.kinds:
            require(name not in own, f"What is measured cannot be called {name!r}: the results use that name.")
        for axis in axes:  # one that is also kept of every run, such as the engine, is kept once
            if axis in self.kinds and not self.kinds[axis][0]:
                del self.kinds[axis]
            taken = axis in own or axis in self.kinds or not WORD.fullmatch(axis)
            require(not taken, f"{axis!r} cannot be an axis name: it is reserved, or not a valid identifier.")

    def block(self, runs: Sequence[Columns]) -> dict:
        """Every variable of these runs, padded to the longest of all; all padding where a run has none."""
        for name, (dims, _) in self.kinds.items():
            size = len(self.finite) * math.prod(self.sizes[d] for d in dims)
            sparse = size > 10**7 and size > 10**4 * max(1, self.numbers[name])
            require(not sparse, f"The shapes of {name!r} differ so much that padding would fill the memory.")
        return {name: self.stack(name, runs) for name in self.kinds}

    def stack(self, name, runs):
        dims, dtype = self.kinds[name]
        out = np.full((len(runs), *(self.sizes[d] for d in dims)), "" if dtype is object else PAD[dtype.kind], dtype)
        for i, run in enumerate(runs):
            if name in run:
                own, values = run[name]
                values = values if own == dims else values.transpose([own.index(d) for d in dims])
                out[(i, *(slice(n) for n in values.shape))] = values
        return ("run", *dims), out.astype(str) if dtype is object else out


def axes_of(points: Sequence[dict]) -> dict:
    """The coordinates of collected runs; an axis that a point does not have is nan, or empty text."""
    names = {axis: None for point in points for axis in point}
    return {axis: ("run", _as_axis([point.get(axis) for point in points])) for axis in names}


def _as_axis(values):
    """Numbers as numbers; anything else by its name."""
    values = [v.item() if isinstance(v, np.generic) else v for v in values]
    given = [v for v in values if v is not None]
    if all(isinstance(v, bool | int | float) for v in given):
        wide = any(isinstance(v, int) and abs(v) >= 2**63 for v in given)
        return np.asarray([np.nan if v is None else float(v) if wide else v for v in values])
    return np.asarray(["" if v is None else str(v) for v in values])


def _is_finite(run: Columns) -> bool:
    """Whether a run is finite. Trained runs: all losses are finite, and it did not diverge.
    Analysed runs: it did not diverge. Measurements: all values are finite."""
    diverged = str(run["status"][1]).startswith("diverged") if "status" in run else False
    if "loss" in run and run["loss"][0][:1] in (("step",), ("epoch",)):
        loss = run["loss"][1]
        return loss.size > 0 and bool(np.isfinite(loss).all()) and not diverged
    if "status" in run:
        return not diverged
    return all(np.isfinite(values).all() for _, values in run.values() if values.dtype.kind == "f")
