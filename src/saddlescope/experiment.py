"""Experiment: one figure, table or theorem of a paper. It is a file; its key is its import path below `papers`."""

import importlib
import inspect
import pkgutil
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import xarray as xr

from saddlescope.claims import Claim
from saddlescope.observables.observable import Observable
from saddlescope.refusal import Refusal, nearest, refuse_unless
from saddlescope.results import Results, collect
from saddlescope.sweeps import execute, grid, sweep
from saddlescope.theory.prediction import Prediction
from saddlescope.training.save_at import SaveAt

Axes = Mapping[str, Iterable[Any]]


@dataclass(frozen=True)
class Experiment:
    """`setting` is a function of what is swept; `measure` replaces it where nothing is trained.

    `predict` is a tuple of predictions, or a function of the point where they differ. `quick` has as few points as
    still show the effect, `full` what the paper ran or more seeds of it.
    """

    title: str
    where: str
    full: Axes
    quick: Axes
    draw: Callable[[Results], Any]
    claims: tuple[Claim, ...]
    setting: Callable | None = None
    measure: Callable | None = None
    observe: tuple[Observable, ...] = ()
    save_at: SaveAt | None = None
    predict: tuple[Prediction, ...] | Callable = ()

    def __post_init__(self):
        refuse_unless((self.setting is None) != (self.measure is None), "Give an experiment `setting` or `measure`.")
        for axes in (self.full, self.quick):
            self.check_axes(axes)

    @property
    def varies(self) -> Callable:
        return self.setting or self.measure  # type: ignore[return-value]

    def check_axes(self, axes):
        known = list(inspect.signature(self.varies).parameters)
        for axis in axes:
            refuse_unless(
                axis in known, f"{self.title!r} has no axis {axis!r}, but {', '.join(known)}.{nearest(axis, known)}"
            )

    def run(self, axes: Axes, workers=1, quiet=False) -> Results:
        """Measure and predict at every point of the axes."""
        self.check_axes(axes)
        values = {name: tuple(values) for name, values in axes.items()}
        for name, given in values.items():
            refuse_unless(len(set(given)) == len(given), f"The axis {name!r} has a value twice: {given}.")
        points = grid(**values)
        refuse_unless(bool(points), "There is nothing to run: an axis has no values.")
        if self.setting is not None:
            measured = sweep(partial(at, self.setting), points, self.observe, self.save_at, workers, quiet)
        else:
            jobs = [(self.measure, point) for point in points]
            measured = collect(execute(measure_point, jobs, workers, quiet), points)
        return Results(measured, collect([self.predicted(point) for point in points], points))

    def predicted(self, point) -> xr.Dataset:
        if self.setting is None:
            return xr.Dataset()
        setting, variables = self.setting(**point), {}
        for prediction in self.predict(**point) if callable(self.predict) else self.predict:
            variables |= prediction(setting)
        return xr.Dataset(variables)


def at(function, **point):
    """function(**point), where a value that an axis cannot take is refused by name."""
    try:
        return function(**point)
    except (KeyError, TypeError, ValueError) as error:
        if isinstance(error, Refusal):
            raise
        given = ", ".join(f"{name} = {value}" for name, value in point.items())
        reason = f"{type(error).__name__}: {error}"
        raise Refusal(f"This experiment cannot be run at {given} ({reason}); see `saddlescope show KEY`.") from error


def measure_point(measure, point) -> xr.Dataset:
    start = time.process_time()
    values = {k: v if isinstance(v, tuple) else ((), np.asarray(v)) for k, v in at(measure, **point).items()}
    return xr.Dataset(values | {"cpu_seconds": ((), time.process_time() - start)})


# ---- Finding experiments: the only names are import paths. ----


def keys() -> list[str]:
    """All experiments: `simplicity.fig1b` is the file papers/simplicity/fig1b.py."""
    papers = importlib.import_module("saddlescope.papers")
    found = []
    for paper in pkgutil.iter_modules(papers.__path__):
        package = importlib.import_module(f"saddlescope.papers.{paper.name}")
        found += [f"{paper.name}.{m.name}" for m in pkgutil.iter_modules(package.__path__)]
    return found


def matching(key: str) -> list[str]:
    """The experiments a key names: one, all of a paper, or `all`."""
    known = keys()
    chosen = [k for k in known if key in ("all", k, k.partition(".")[0])]
    if not chosen:
        names = [*known, *{k.partition(".")[0] for k in known}, "all"]
        raise Refusal(f"No experiment is called {key!r}.{nearest(key, names)} `saddlescope list` shows them all.")
    return chosen


def find(key: str) -> Experiment:
    return importlib.import_module(f"saddlescope.papers.{key}").experiment
