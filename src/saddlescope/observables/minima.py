"""Oscillation: how many minima a channel has along the input."""

from abc import abstractmethod
from typing import ClassVar, final

import equinox as eqx
import numpy as np

from saddlescope.errors import require, require_kind
from saddlescope.observables.observable import Observable
from saddlescope.observables.readout import channels, check_points, grid
from saddlescope.serialization.part import Part, as_float, as_int


class MinimaRule(Part):
    """Abstract base of rules that count the minima of one channel; `word` names the count."""

    word: ClassVar[str]

    @abstractmethod
    def __call__(self, f: np.ndarray) -> float:
        """The count, from one channel's values over a grid."""


@final
class PaperMinima(MinimaRule):
    """The rule of the valleys paper: interior points below both neighbours, with a value above
    `threshold`.

    It misses every minimum below zero, scores nothing on a cosine itself, and counts rounding in
    float32. `ProminentMinima` is the sound rule. Reference: valleys paper, Fig. 4 and App. C.10.

    **Arguments:**

    - `threshold`: The value that a minimum must exceed. The default 1e-4 is the paper's.
    """

    word = "paper_minima"

    threshold: float = eqx.field(default=1e-4, converter=as_float)

    def __call__(self, f):
        inner = f[1:-1]
        return float(np.sum((inner < f[:-2]) & (inner < f[2:]) & (inner > self.threshold)))


@final
class ProminentMinima(MinimaRule):
    """Half the number of interior minima and maxima that stand out by `share` of the channel's
    range.

    The sign of a channel is a convention of the maps around it, so both count alike. A channel
    whose range is within rounding of its size has none.

    **Arguments:**

    - `share`: The least prominence, as a share of the range. The default 0.02 lies far above
      rounding in float32.
    """

    word = "prominent_minima"

    share: float = eqx.field(default=0.02, converter=as_float)

    def __check_init__(self):
        require(0 < self.share < 1, f"`share` must lie between 0 and 1; got {self.share:g}.")

    def __call__(self, f):
        span = np.ptp(f)
        if span <= 1e-9 * np.abs(f).max(initial=0.0):
            return 0.0
        from scipy.signal import find_peaks  # a second to import

        return sum(len(find_peaks(sign * f, prominence=self.share * span)[0]) for sign in (1, -1)) / 2


@final
class MinimaCounts(Observable):
    """The mean count of minima over the channels of each block. Reference: valleys paper, Fig. 4.

    The name of the variable tells the rule and the precision, as in `prominent_minima_float64`.

    **Arguments:**

    - `rule`: `PaperMinima()` or `ProminentMinima()`.
    - `points`: The number of equally spaced points over the input's range, three or more.
    - `precision`: "float32" or "float64": that of the evaluation, not that of training. The default
      keeps rounding out of the count.
    """

    rule: MinimaRule
    points: int = eqx.field(default=1000, static=True, converter=as_int)
    precision: str = eqx.field(default="float64", static=True)

    axes = ("block",)
    on_host = True

    def __check_init__(self):
        check_points(self.points, 3)
        require_kind(self.rule, MinimaRule, "`rule` must be PaperMinima() or ProminentMinima()")
        require(
            self.precision in ("float32", "float64"),
            f"`precision` must be 'float32' or 'float64', got {self.precision!r}.",
        )

    @property
    def name(self):  # type: ignore[override]
        return f"{self.rule.word}_{self.precision}"

    def __call__(self, snapshot):
        found = channels(snapshot, grid(snapshot, self.points), self.precision)
        return np.array([np.mean([self.rule(column) for column in f.T]) for f in found])
