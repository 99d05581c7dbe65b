"""Channels of a net over the input, and how symmetric they are."""

from typing import final

import equinox as eqx
import numpy as np

from saddlescope.errors import require
from saddlescope.observables.observable import Observable
from saddlescope.observables.readout import channels, check_points, grid
from saddlescope.serialization.part import as_int


@final
class ChannelPartials(Observable):
    """The output of each rank channel over the input: one variable per block, `partial_0`,
    `partial_1`, …

    Each is point × channel, over equally spaced points; the last block is the net's output.
    Reference: valleys paper, Fig. 2, 5 and 7.

    **Arguments:**

    - `blocks`: The blocks to read, counted from 0. The default, None, reads all.
    - `points`: The number of equally spaced points. The default 500 is that of `TestError`.
    """

    blocks: tuple[int, ...] | None = eqx.field(default=None, static=True)
    points: int = eqx.field(default=500, static=True, converter=as_int)

    name = "partial"
    on_host = True

    def __check_init__(self):
        check_points(self.points)

    def __call__(self, snapshot):
        found = channels(snapshot, grid(snapshot, self.points))
        wanted = range(len(found)) if self.blocks is None else self.blocks
        require(
            all(0 <= j < len(found) for j in wanted),
            f"The net has blocks 0 to {len(found) - 1}; got {self.blocks}.",
        )
        return {str(j): found[j] for j in wanted}


def odd_share(f: np.ndarray) -> np.ndarray:
    """The odd part's share of each column's energy, ‖f(x) - f(-x)‖² / ‖2f‖², after its mean is
    removed.

    It is 0 for an even function and 1 for an odd one. A constant has no energy to share and gives
    0.

    **Arguments:**

    - `f`: Values, point × column, at points that lie evenly about 0.
    """
    f = f - f.mean(axis=0)
    energy = np.sum((2 * f) ** 2, axis=0)
    return np.sum((f - f[::-1]) ** 2, axis=0) / np.where(energy > 0, energy, 1.0)


@final
class SymmetryDefect(Observable):
    """The odd part's share of each channel's energy: one variable per block, `symmetry_defect_0`, …

    It is 0 for an even channel and 1 for an odd one.

    **Arguments:**

    - `points`: The number of equally spaced points. The default 500 is that of `TestError`.
    """

    points: int = eqx.field(default=500, static=True, converter=as_int)

    name = "symmetry_defect"
    on_host = True

    def __check_init__(self):
        check_points(self.points)

    def __call__(self, snapshot):
        return {str(j): odd_share(f) for j, f in enumerate(channels(snapshot, grid(snapshot, self.points), "float64"))}
