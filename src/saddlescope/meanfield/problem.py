"""What every solver of the limit is given, as arrays: data, first layer, blocks above it, loss and schedules."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from saddlescope.meanfield.residuals import Residual


class Block(NamedTuple):
    """A block above the first, f(v) = E[w(C) φ(L_C·v + b_C)], with mixing law and start.

    **Arguments:**

    - `deviations`: of L and b, one per input coordinate and one for the bias (0: no bias).
    - `mean`: E w⁰, one per output.
    - `slope`: w⁰'s slope in (L, b), output × (input + 1).
    - `places`, `heights`: atoms of w⁰, atom × (input + 1) and atom × output.
    """

    deviations: np.ndarray
    mean: np.ndarray
    slope: np.ndarray
    places: np.ndarray
    heights: np.ndarray

    @property
    def outputs(self) -> int:
        """The number of outputs."""
        return len(self.mean)


class Problem(NamedTuple):
    """The limit on a finite set of points.

    **Arguments:**

    - `weights`: π_p, which sum to one.
    - `targets`: point × output.
    - `kernel`: of the first layer, K(x_p, x_q).
    - `first`: f(0, x_p), the channels at the start, point × channel.
    - `blocks`: the blocks above the first.
    - `residual`: the loss of one point and its derivative.
    - `schedules`: ξ_i(t), one per block, the first included.
    """

    weights: np.ndarray
    targets: np.ndarray
    kernel: np.ndarray
    first: np.ndarray
    blocks: tuple[Block, ...]
    residual: Residual
    schedules: tuple[Callable[[float], float], ...]

    def loss(self, outputs) -> float:
        """Σ π_p ℓ(y_p, ŷ_p)."""
        return float(self.weights @ self.residual.value(outputs - self.targets).sum(axis=1))
