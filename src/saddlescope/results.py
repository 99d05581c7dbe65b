"""Results: two labelled datasets, measured and predicted, under the same names; and how runs are put together.

Runs have different lengths. Collected runs are padded along a dimension `run`, and carry their lengths: `length` in
steps or epochs, `saved_length`, `event_length`. Read them through `each_run`, which cuts at the lengths first:
padding is then never taken for divergence, nor divergence for padding.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import xarray as xr

from saddlescope.refusal import refuse_unless

TICKS = ("step", "epoch")
RAGGED = (*TICKS, "saved", "event")
PAD = {"f": np.nan, "i": -1, "u": 0, "b": False}


@dataclass(frozen=True)
class Results:
    measured: xr.Dataset
    predicted: xr.Dataset

    def runs(self) -> Iterator[tuple[xr.Dataset, xr.Dataset]]:
        """Measured and predicted, run by run, each cut at its own length."""
        return zip(each_run(self.measured), each_run(self.predicted), strict=True)

    def select(self, **only) -> "Results":
        """The runs whose axes have these values; a tuple allows several."""
        keep = np.ones(self.measured.sizes["run"], bool)
        for axis, values in only.items():
            refuse_unless(axis in self.measured.coords, f"The results have no axis {axis!r}.")
            keep &= np.isin(self.measured[axis].values, values if isinstance(values, tuple) else (values,))
        rows = np.flatnonzero(keep)
        return Results(self.measured.isel(run=rows), self.predicted.isel(run=rows))


def length_name(dim):
    return "length" if dim in TICKS else f"{dim}_length"


def each_run(dataset: xr.Dataset) -> Iterator[xr.Dataset]:
    """Run by run, cut at its lengths; a curve or summary that a run does not have is left out."""
    for i in range(dataset.sizes["run"]):
        run = dataset.isel(run=i)
        cuts = {dim: slice(int(run[length_name(dim)])) for dim in run.sizes if length_name(dim) in run}
        run = run.isel(cuts)
        yield run.drop_vars([name for name, v in run.data_vars.items() if 0 in v.shape and v.dims[0] not in RAGGED])


def collect(runs: list[xr.Dataset], points: list[dict]) -> xr.Dataset:
    """One dataset with a dimension `run`, the points' axes as its coordinates, from one dataset a run."""
    refuse_unless(len({t for run in runs for t in TICKS if t in run.sizes}) < 2, MIXED)
    shapes = {dim: [run.sizes.get(dim, 0) for run in runs] for run in runs for dim in run.sizes}
    names = {name: run[name] for run in reversed(runs) for name in run.variables if name not in TICKS}
    columns: dict[Any, Any] = {name: stack(name, like, runs, shapes) for name, like in names.items()}
    for dim, lengths in shapes.items():
        if dim in RAGGED or len(set(lengths)) > 1:
            columns[length_name(dim)] = ("run", np.asarray(lengths))
    columns["finite"] = ("run", np.array([is_finite(run) for run in runs]))
    axes = {axis: ("run", as_axis([p[axis] for p in points])) for axis in (points[0] if points else {})}
    for axis in axes:
        taken = axis in columns or axis in RAGGED
        refuse_unless(not taken, f"An axis cannot be called {axis!r}: the results use that name.")
    ticks = {t: np.arange(max(shapes[t])) for t in TICKS if t in shapes}
    coords = {name for run in runs for name in run.coords} - set(TICKS)
    attrs = dict(runs[0].attrs) if runs else {}
    return xr.Dataset(columns, axes | ticks, attrs).set_coords(sorted(map(str, coords)))


MIXED = "Full-batch and minibatch runs count time differently; collect them apart."


def as_axis(values):
    """Numbers as numbers; anything else by its name."""
    numbers = all(isinstance(v, bool | int | float | np.number) for v in values)
    return np.asarray(values if numbers else [str(v) for v in values])


def stack(name, like, runs, shapes):
    """The variable of all runs, padded to the longest along every dimension; all padding where a run has none."""
    sizes = [max(shapes[dim]) for dim in like.dims]
    kind = like.dtype.kind
    dtype = object if kind in "UO" else np.result_type(*(run[name].dtype for run in runs if name in run.variables))
    refuse_unless(dtype is object or dtype.kind in PAD, f"{name!r} is of a kind that cannot be stored: {dtype}.")
    out = np.full((len(runs), *sizes), "" if dtype is object else PAD[dtype.kind], dtype)
    for i, run in enumerate(runs):
        if name in run.variables:
            value = run[name].transpose(*like.dims).values
            out[(i, *(slice(n) for n in value.shape))] = value
    return ("run", *like.dims), out.astype(str) if dtype is object else out


def is_finite(run: xr.Dataset) -> bool:
    """Of a trained run: its loss, and it did not diverge. Of a measurement: all its numbers."""
    if any(t in run.sizes for t in TICKS):
        diverged = str(run["status"].values).startswith("diverged") if "status" in run else False
        return run["loss"].size > 0 and bool(np.isfinite(run["loss"].values).all()) and not diverged
    return all(np.isfinite(v.values).all() for v in run.data_vars.values() if v.dtype.kind == "f")
