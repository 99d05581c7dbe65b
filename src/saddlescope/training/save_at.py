"""When observables are read: at given ticks, at a learning-rate cut, and some ticks after it. The end is always read,
unless the run diverges: then there is nothing to read.

`every(10, 3000) | on_cut(after=10)`.
"""

from dataclasses import dataclass

import numpy as np

from saddlescope.errors import require


@dataclass(frozen=True)
class SaveAt:
    ticks: tuple[int, ...] = ()
    cuts: bool = False
    after_cut: int | None = None

    def __post_init__(self):
        require(
            all(isinstance(t, int | np.integer) for t in self.ticks),
            f"Save times are whole numbers of ticks; got {self.ticks}.",
        )
        require(
            all(t >= 0 for t in self.ticks), f"Save times count from 0, got {min(self.ticks, default=0)}; leave it out."
        )
        require(
            self.after_cut is None or (isinstance(self.after_cut, int | np.integer) and self.after_cut > 0),
            f"`after` is a positive number of ticks after a cut, got {self.after_cut}.",
        )

    def __or__(self, other):
        require(
            None in (self.after_cut, other.after_cut) or self.after_cut == other.after_cut,
            f"One `after` for all cuts: got {self.after_cut} and {other.after_cut}.",
        )
        ticks = tuple(sorted({*self.ticks, *other.ticks}))
        return SaveAt(ticks, self.cuts or other.cuts, self.after_cut or other.after_cut)

    def check_within(self, setting):
        last = max(self.ticks, default=0)
        require(
            last <= setting.budget,
            f"The last save time, {setting.tick} {last}, lies beyond the end at {setting.budget}; "
            f"save up to {setting.budget} or give the run a larger budget.",
        )


def every(k, end):
    """Ticks 0, k, 2k, … up to `end`, which is included."""
    require(isinstance(k, int | np.integer) and k > 0, f"`every` needs a positive whole number of ticks, got {k}.")
    return SaveAt(tuple(sorted({*range(0, end + 1, k), end})))


def log_spaced(n, end):
    """Tick 0 and about n ticks from 1 to `end`, equally spaced in their logarithm."""
    require(n > 1 and end > 0, f"`log_spaced` needs two times or more and a positive end, got {n} and {end}.")
    return SaveAt((0, *(int(t) for t in np.unique(np.geomspace(1, end, n).round()))))


def on_cut(after=None):
    """At every learning-rate cut, just before it, and `after` ticks later."""
    return SaveAt((), True, after)
