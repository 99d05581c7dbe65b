"""Which frequencies are learned, and when."""

from collections.abc import Iterable
from typing import final

import equinox as eqx
import numpy as np
from numpy.typing import ArrayLike

from saddlescope.errors import InvalidInput, require
from saddlescope.observables.observable import Observable
from saddlescope.observables.readout import check_points, curve_of, grid, outputs
from saddlescope.serialization.part import as_int
from saddlescope.tasks.cosines import Cosines


def cosine_amplitudes(
    x: np.ndarray, y: np.ndarray, frequencies: Iterable[float], phases: Iterable[float]
) -> np.ndarray:
    """Fit the amplitudes of cos(2πfx + phase), beside a constant, by least squares.

    They are exact for a sum of those cosines, on any points.

    **Arguments:**

    - `x`: The points, one row of numbers.
    - `y`: The values at these points.
    - `frequencies`: One number per cosine, in periods per unit of x.
    - `phases`: One number per cosine, in radians.
    """
    columns = [
        np.ones_like(x),
        *(np.cos(2 * np.pi * f * x + p) for f, p in zip(frequencies, phases, strict=True)),
    ]
    return np.linalg.lstsq(np.stack(columns, axis=1), y, rcond=None)[0][1:]


def learned_since(times: ArrayLike, amplitudes: np.ndarray, targets: np.ndarray) -> np.ndarray:
    """For each frequency, the first time from which on it is learned; NaN where it never is.

    A frequency is learned while its error stays below half of the target's amplitude.

    **Arguments:**

    - `times`: When the amplitudes were read, in ascending order.
    - `amplitudes`: The errors, time × frequency.
    - `targets`: The target's amplitude at each frequency.
    """
    small = np.abs(amplitudes) < np.abs(targets) / 2
    stays = np.logical_and.accumulate(small[::-1], axis=0)[::-1]
    first = np.argmax(stays, axis=0)
    return np.where(stays.any(axis=0), np.asarray(times, float)[first], np.nan)


@final
class ResidualAmplitudes(Observable):
    """The amplitude of target minus fit along each cosine, as `residual_amplitude`. For a `Curve`.

    **Arguments:**

    - `modes`: Read the frequencies 1 … `modes`, all with phase 0. The default, None, reads the
      cosines of the target, which must be `Cosines`.
    - `points`: The number of equally spaced points where the residual is read. The default 500 is
      that of `TestError`.
    """

    modes: int | None = eqx.field(default=None, static=True, converter=as_int)
    points: int = eqx.field(default=500, static=True, converter=as_int)

    name = "residual_amplitude"
    axes = ("frequency",)
    on_host = True

    def __check_init__(self):
        check_points(self.points)
        require(
            self.modes is None or (type(self.modes) is int and 0 < self.modes < self.points // 4),
            f"`modes` must be a whole number below a quarter of the {self.points} points; got {self.modes!r}.",
        )

    def __call__(self, snapshot):
        task, x = curve_of(snapshot), grid(snapshot, self.points)
        if self.modes is not None:
            frequencies = tuple(range(1, self.modes + 1))
            phases = (0.0,) * self.modes
        elif isinstance(task, Cosines):
            frequencies, phases = task.frequencies, task.phases or (0.0,) * len(task.frequencies)
        else:
            raise InvalidInput("The target is not a sum of cosines: say how many frequencies to look at by `modes`.")
        residual = (task.target(x) - outputs(snapshot, x))[:, 0]
        return cosine_amplitudes(x[:, 0], residual, frequencies, phases)
