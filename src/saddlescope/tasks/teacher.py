"""A teacher of a few nonlinear units."""

from collections.abc import Callable
from itertools import product
from typing import final

import equinox as eqx
import numpy as np

from saddlescope.errors import require
from saddlescope.serialization.part import as_int
from saddlescope.tasks.linear_teacher import Matrix, as_matrix
from saddlescope.tasks.task import Moments, Samples, Task


@final
class Teacher(Task):
    """A teacher of a few units: y = Σ_k σ(w_k · x) with x ~ N(0, I).

    Reference: simplicity paper, Fig. 1G and Fig. 4; with `split`, Fig. 5F.

    **Arguments:**

    - `activation`: σ, such as `Tanh()`.
    - `directions`: The rows w_k, unit × input.
    - `samples`: The number of samples. None means the population itself, for σ(z) = z^p alone: the
      target is then linear in x^{⊗p}, whose moments are products of odd numbers (Isserlis).
    - `split`: Whether every unit is an output of its own. The default sums them, as in most of the
      paper's figures.
    """

    activation: Callable
    directions: Matrix = eqx.field(converter=as_matrix)
    samples: int | None = eqx.field(static=True, converter=as_int)
    split: bool = eqx.field(default=False, static=True)

    def __check_init__(self):
        require(
            callable(self.activation),
            f"`activation` must be such as Tanh(); got {self.activation!r}.",
        )
        require(
            self.samples is None or (isinstance(self.samples, int) and self.samples > 0),
            f"`samples` must be a positive whole number, or None for the population; got {self.samples}.",
        )
        require(
            self.samples is not None or self.power is not None,
            "Only a teacher of powers (Identity, Square, Cube) has its population's moments: give it `samples`.",
        )
        require(isinstance(self.split, bool), f"`split` must be True or False; got {self.split!r}.")

    @property
    def inputs(self):
        return len(self.directions[0])

    @property
    def outputs(self):
        return len(self.directions) if self.split else 1

    @property
    def size(self):
        return self.samples

    @property
    def power(self) -> int | None:
        """p where σ(z) = z^p; else None."""
        return getattr(self.activation, "power", None)

    def data(self, rng):
        if self.samples is None:
            return self.population()
        x = rng.standard_normal((self.samples, self.inputs))
        units = np.asarray(self.activation(x @ np.array(self.directions).T), float)
        return Samples(x, units if self.split else units.sum(axis=1, keepdims=True))

    def held_out(self, rng):
        """A fresh draw of as many samples."""
        return None if self.samples is None else self.data(rng)

    def population(self) -> Moments:
        """The moments of x^{⊗p} and the teacher's map of them."""
        p, n = self.power, self.inputs
        assert p is not None  # refused when the task was made
        rows = np.array([[np.prod([w[i] for i in at]) for at in product(range(n), repeat=p)] for w in self.directions])
        both = [[*a, *b] for a in product(range(n), repeat=p) for b in product(range(n), repeat=p)]
        xx = np.array([_normal_moment(np.bincount(at, minlength=n)) for at in both]).reshape(n**p, n**p)
        return Moments(rows if self.split else rows.sum(axis=0, keepdims=True), xx, np.zeros(()), p)


def _normal_moment(counts) -> float:
    """⟨x_1^{n_1} x_2^{n_2} …⟩ of independent standard normals: (n - 1)!! each, 0 where one is odd."""
    return float(np.prod([0 if n % 2 else np.prod(np.arange(1, n, 2)) for n in counts]))
