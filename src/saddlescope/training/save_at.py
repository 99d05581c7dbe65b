"""When observables are read.

`every(10, 3000) | on_cut(after=10)`; in epochs: `every_epoch(10, 300)`. The end is always read, unless the run
diverges: then there is nothing to read.
"""

from dataclasses import asdict, dataclass

import numpy as np

from saddlescope.errors import require


@dataclass(frozen=True)
class SaveAt:
    """The instants at which observables are read. `a | b` reads at those of both.

    **Arguments:**

    - `steps`: after so many optimiser steps; 0 is the start.
    - `epochs`: after so many epochs of a minibatch run.
    - `cuts`: just before every change of the learning rate.
    - `after_cut`: so many epochs (full batch: steps) after each such change.
    """

    steps: tuple[int, ...] = ()
    epochs: tuple[int, ...] = ()
    cuts: bool = False
    after_cut: int | None = None

    def __post_init__(self):
        for name, times in (("steps", self.steps), ("epochs", self.epochs)):
            whole = all(isinstance(t, int | np.integer) for t in times)
            require(whole, f"Save times are whole numbers of {name}; got {times}.")
            require(all(t >= 0 for t in times), f"Save times count from 0, got {min(times, default=0)}; leave it out.")
        require(
            self.after_cut is None or (isinstance(self.after_cut, int | np.integer) and self.after_cut > 0),
            f"`after` is a positive number of epochs (full batch: steps) after a cut, got {self.after_cut}.",
        )

    def __or__(self, other: "SaveAt") -> "SaveAt":
        require(
            None in (self.after_cut, other.after_cut) or self.after_cut == other.after_cut,
            f"One `after` for all cuts: got {self.after_cut} and {other.after_cut}.",
        )
        steps, epochs = (tuple(sorted({*a, *b})) for a, b in ((self.steps, other.steps), (self.epochs, other.epochs)))
        return SaveAt(steps, epochs, self.cuts or other.cuts, self.after_cut or other.after_cut)

    def in_steps(self, setting) -> list[int]:
        """All given times as numbers of optimiser steps, sorted."""
        return sorted({*map(int, self.steps), *(int(e) * setting.steps_per_epoch for e in self.epochs)})

    def check_within(self, setting):
        """Refuse times that the run never reaches."""
        require(
            setting.batch is not None or not self.epochs,
            "A full-batch run has no epochs: give the save times in steps, as every(…) does.",
        )
        for name, times, end in (
            ("epoch", self.epochs, setting.epochs),
            ("step", self.steps, setting.budget),
        ):
            last = max(times, default=0)
            require(
                last <= end,
                f"The last save time, {name} {last}, lies beyond the end at {end}; save up to {end} or give the run "
                "a larger budget.",
            )


def every(k: int, end: int) -> SaveAt:
    """Steps 0, k, 2k, … up to `end`, which is included."""
    return SaveAt(steps=_every(k, end))


def every_epoch(k: int, end: int) -> SaveAt:
    """Epochs 0, k, 2k, … up to `end`, which is included."""
    return SaveAt(epochs=_every(k, end))


def log_spaced(n: int, end: int) -> SaveAt:
    """Step 0 and about n steps from 1 to `end`, equally spaced in their logarithm."""
    return SaveAt(steps=_log_spaced(n, end))


def log_spaced_epochs(n: int, end: int) -> SaveAt:
    """Epoch 0 and about n epochs from 1 to `end`, equally spaced in their logarithm."""
    return SaveAt(epochs=_log_spaced(n, end))


def on_cut(after: int | None = None) -> SaveAt:
    """At every change of the learning rate, just before it, and `after` epochs (full batch: steps) later."""
    return SaveAt(cuts=True, after_cut=after)


def _every(k, end):
    good = isinstance(k, int | np.integer) and k > 0
    require(good, f"The times need a positive whole number between them, got {k}.")
    return tuple(sorted({*range(0, end + 1, k), end}))


def _log_spaced(n, end):
    require(n > 1 and end > 0, f"Log-spaced times need two or more and a positive end, got {n} and {end}.")
    return (0, *(int(t) for t in np.unique(np.geomspace(1, end, n).round())))


def record_form(observe, save_at, per_step=False):
    """What is kept of a run besides its losses, as plain JSON values."""
    return [[o.json_values() for o in observe], asdict(save_at), per_step]
