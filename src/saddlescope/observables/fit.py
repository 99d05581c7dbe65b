"""What the net has learned of a curve: its outputs over [-1, 1], and their error at points it was not trained on."""

from typing import final

import equinox as eqx
import numpy as np

from saddlescope.errors import require
from saddlescope.observables.observable import Observable
from saddlescope.observables.readout import check_points, curve_of, grid, outputs
from saddlescope.serialization.part import as_int


@final
class Fit(Observable):
    """The net's output over equally spaced points."""

    points: int = eqx.field(default=500, static=True, converter=as_int)

    name = "fit"
    axes = ("x",)
    on_host = True

    def __check_init__(self):
        check_points(self.points)

    def __call__(self, snapshot):
        found = outputs(snapshot, grid(snapshot, self.points))
        require(found.shape[1] == 1, f"`Fit` reads a net with one output; this one has {found.shape[1]}.")
        return found[:, 0]


@final
class TestError(Observable):
    """Mean squared error at equally spaced points (valleys paper: 500), or at random ones if they are given a seed."""

    __test__ = False  # not a test, whatever pytest thinks of the name

    points: int = eqx.field(default=500, static=True, converter=as_int)
    seed: int | None = eqx.field(default=None, static=True, converter=as_int)

    name = "test_error"
    on_host = True

    def __check_init__(self):
        check_points(self.points, 1)
        require(
            self.seed is None or (type(self.seed) is int and self.seed >= 0),
            f"`seed` must be a non-negative whole number or None; got {self.seed!r}.",
        )

    def __call__(self, snapshot):
        x = grid(snapshot, self.points)
        if self.seed is not None:
            x = np.random.default_rng(self.seed).uniform(-1, 1, (self.points, 1))
        return np.mean((outputs(snapshot, x) - curve_of(snapshot).target(x)) ** 2)
