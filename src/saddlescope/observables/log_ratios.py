"""Log-ratios between the channels of a block."""

from typing import final

import equinox as eqx
import numpy as np
from numpy.typing import ArrayLike

from saddlescope.errors import require
from saddlescope.observables.observable import Observable
from saddlescope.observables.readout import channels, one_input
from saddlescope.serialization.part import as_float

FLOOR = 1e-6  # added to |f|, so that a channel that crosses zero has a logarithm


def log_ratios(f: ArrayLike) -> np.ndarray:
    """R_ij = log|f_i| - log|f_j| of a row of channel values, as an antisymmetric matrix."""
    size = np.log(np.abs(f) + FLOOR)
    return size[:, None] - size[None, :]


def log_sizes(pairs: ArrayLike) -> np.ndarray:
    """log|f_k| less its mean over channels, from the ratios of all pairs i < j (the last axis)."""
    pairs = np.asarray(pairs)
    n = int((1 + np.sqrt(1 + 8 * pairs.shape[-1])) / 2)
    full, (i, j) = np.zeros((*pairs.shape[:-1], n, n)), np.triu_indices(n, 1)
    full[..., i, j], full[..., j, i] = pairs, -pairs
    return full.mean(axis=-1)


@final
class LogRatios(Observable):
    """The log-ratios R_ij = log|f_i| - log|f_j| between the channels of one block, at one point.

    `log_ratio_pairs` are the ratios of all pairs i < j, and `log_ratio_max` is the largest of
    either sign. 1e-6 is added to |f|, so that a channel that crosses zero has a logarithm.
    Reference: valleys paper, Fig. 3 and 8.

    **Arguments:**

    - `x`: The input at which the channels are read. The default is 0, the middle of the curve.
    - `block`: The block whose channels are read, counted from 0. The default 1 is the second
      bottleneck.
    """

    x: float = eqx.field(default=0.0, converter=as_float)
    block: int = eqx.field(default=1, static=True)

    name = "log_ratio"
    on_host = True

    def __call__(self, snapshot):
        one_input(snapshot)
        found = channels(snapshot, np.full((1, 1), self.x), "float64")
        require(
            0 <= self.block < len(found) and found[self.block].shape[1] > 1,
            f"Log-ratios need a block with two channels or more, of blocks 0 to {len(found) - 1}; got {self.block}.",
        )
        ratios = log_ratios(found[self.block][0])
        return {"pairs": ratios[np.triu_indices(len(ratios), 1)], "max": ratios.max()}
