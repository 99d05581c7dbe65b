"""What a net has learned of a curve: its outputs, and their error at new points."""

from typing import final

import equinox as eqx
import numpy as np

from saddlescope.errors import require
from saddlescope.observables.observable import Observable
from saddlescope.observables.readout import check_points, curve_of, grid, outputs
from saddlescope.serialization.part import as_int


@final
class Fit(Observable):
    """The net's output over equally spaced points of the input's range, as `fit`. For one input and
    one output.

    **Arguments:**

    - `points`: The number of points, two or more. The default 500 is that of `TestError`.
    """

    points: int = eqx.field(default=500, static=True, converter=as_int)

    name = "fit"
    axes = ("x",)
    on_host = True

    def __check_init__(self):
        check_points(self.points)

    def __call__(self, snapshot):
        found = outputs(snapshot, grid(snapshot, self.points))
        require(
            found.shape[1] == 1,
            f"`Fit` reads a net with one output; this one has {found.shape[1]}.",
        )
        return found[:, 0]


@final
class TestError(Observable):
    """The mean squared error at points beside the training samples, as `test_error`. For a `Curve`.

    **Arguments:**

    - `points`: The number of points. The default 500 is the valleys paper's.
    - `seed`: The seed of random points, uniform over [-1, 1]. The default, None, means equally
      spaced points, as in the valleys paper.
    """

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
