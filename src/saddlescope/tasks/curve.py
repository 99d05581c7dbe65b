"""Functions of one number on an equally spaced grid."""

from abc import abstractmethod

import equinox as eqx
import numpy as np

from saddlescope.errors import require
from saddlescope.tasks.task import Samples, Task


class Curve(Task):
    """Abstract base of tasks that learn a function of one number, y = target(x).

    The inputs are `samples` equally spaced points over [-1, 1], ends included. A grid of N samples
    carries frequencies up to (N - 1) / 4, at two samples per period. Above that limit the samples
    cannot tell the target from a slower one. Such a target is refused unless `allow_aliasing` is
    set.

    A curve of your own is a subclass with the two fields below, `target` and `highest`.

    **Arguments:**

    - `samples`: The number of grid points, two or more.
    - `allow_aliasing`: Whether a target above the grid's limit is accepted.
    """

    samples: eqx.AbstractVar[int]
    allow_aliasing: eqx.AbstractVar[bool]

    @abstractmethod
    def target(self, x: np.ndarray) -> np.ndarray:
        """Evaluate the function at any points."""

    @property
    @abstractmethod
    def highest(self) -> float:
        """The highest local frequency of the target, in periods per unit of x."""

    @property
    def aliased(self) -> bool:
        """Whether the target has a frequency above the grid's limit."""
        return self.highest > (self.samples - 1) / 4

    def __check_init__(self):
        require(
            type(self.samples) is int and self.samples >= 2,
            f"A grid needs two samples or more, a whole number; got {self.samples}.",
        )
        require(
            isinstance(self.allow_aliasing, bool),
            f"`allow_aliasing` is True or False; got {self.allow_aliasing!r}.",
        )
        require(
            self.allow_aliasing or not self.aliased,
            f"The target's highest frequency, {self.highest:g}, lies above {(self.samples - 1) / 4:g}, the Nyquist "
            f"limit of a grid of {self.samples} samples: use {int(np.ceil(4 * self.highest)) + 1} samples or more, or "
            "give the task `allow_aliasing=True` (on the command line: `--allow-aliasing` after a run's name).",
        )

    @property
    def inputs(self):
        return 1

    @property
    def outputs(self):
        return 1

    @property
    def size(self):
        return self.samples

    def data(self, rng):
        x = np.linspace(-1, 1, self.samples)[:, None]
        return Samples(x, self.target(x))

    def held_out(self, rng):
        """The same number of points, drawn uniformly from [-1, 1]."""
        x = rng.uniform(-1, 1, (self.samples, 1))
        return Samples(x, self.target(x))
