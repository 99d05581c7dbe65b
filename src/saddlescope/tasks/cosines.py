"""Sums of cosines, and the sums that the valleys paper uses."""

import math
from typing import final

import equinox as eqx
import numpy as np

from saddlescope.errors import InvalidInput, require
from saddlescope.serialization.part import as_int
from saddlescope.tasks.curve import Curve

MANY = 100  # terms


def _numbers(given):
    """Converter: a tuple of finite numbers, or one number for each term."""
    try:
        values = tuple(float(v) for v in (given if np.iterable(given) else (given,)))
    except (TypeError, ValueError):
        raise InvalidInput(f"Frequencies, phases and amplitudes are numbers, one per term; got {given!r}.") from None
    require(all(map(math.isfinite, values)), f"Every number of a cosine must be finite; got {given!r}.")
    return values


@final
class Cosines(Curve):
    """A sum of cosines: y = Σ_k amplitude_k cos(2π frequency_k x + phase_k) for x in [-1, 1].

    Reference: valleys paper, App. A.2 and C.8. `cosine`, `cosine_sum`, `dyadic` and
    `multi_frequency` make the sums of that paper.

    **Arguments:**

    - `frequencies`: One positive number per term, in periods per unit of x.
    - `samples`: The number of equally spaced points over [-1, 1].
    - `phases`: One number per term, in radians. The default, an empty tuple, means zero phases.
    - `amplitudes`: One number per term. The default, an empty tuple, means ones.
    - `allow_aliasing`: Whether frequencies above the grid's limit (samples - 1) / 4 are accepted.
      The default refuses them, because the samples would show a slower target.
    """

    frequencies: tuple[float, ...] = eqx.field(converter=_numbers)
    samples: int = eqx.field(static=True, converter=as_int)
    phases: tuple[float, ...] = eqx.field(default=(), converter=_numbers)
    amplitudes: tuple[float, ...] = eqx.field(default=(), converter=_numbers)
    allow_aliasing: bool = eqx.field(default=False, static=True)

    def __check_init__(self):
        n = len(self.frequencies)
        require(
            n > 0 and min(self.frequencies) > 0,
            f"Frequencies must be positive; got {self.frequencies or 'none'}.",
        )
        for name in ("phases", "amplitudes"):
            given = len(getattr(self, name))
            require(
                given in (0, n),
                f"`{name}` must have one number for each of {n} cosines; got {given}.",
            )

    def target(self, x):
        n = len(self.frequencies)
        terms = zip(self.frequencies, self.phases or (0.0,) * n, self.amplitudes or (1.0,) * n, strict=True)
        return sum((a * np.cos(2 * np.pi * f * x + p) for f, p, a in terms), np.zeros_like(x))

    @property
    def highest(self):
        return max(self.frequencies)


def cosine(frequency: float, samples: int, allow_aliasing: bool = False) -> Cosines:
    """Make one cosine, y = cos(2π frequency x); `allow_aliasing` as in `Cosines`."""
    return Cosines(frequencies=(frequency,), samples=samples, allow_aliasing=allow_aliasing)


def _check_count(name, given, most=10_000):
    require(
        isinstance(given, int | np.integer) and 0 < given <= most,
        f"`{name}`, the number of cosines, must be a positive whole number, at most {most:,}; got {given!r}.",
    )


def cosine_sum(factor: int, samples: int, allow_aliasing: bool = False) -> Cosines:
    """Make the main target of the valleys paper; `allow_aliasing` as in `Cosines`.

    y = Σ_{k=1..factor} cos(2πkx).
    """
    _check_count("factor", factor)
    if factor > MANY:
        cosine(factor, samples, allow_aliasing)  # refuses too high a factor before a long list is made
    return Cosines(frequencies=tuple(range(1, factor + 1)), samples=samples, allow_aliasing=allow_aliasing)


def dyadic(terms: int, samples: int, allow_aliasing: bool = False) -> Cosines:
    """Make a sum over octaves, y = Σ_{k=0..terms-1} cos(2π 2ᵏ x).

    `allow_aliasing` is that of `Cosines`.
    """
    _check_count("terms", terms, 50)
    return Cosines(frequencies=tuple(2**k for k in range(terms)), samples=samples, allow_aliasing=allow_aliasing)


def multi_frequency(m: float, samples: int, allow_aliasing: bool = False) -> Cosines:
    """Make the four-frequency target of the valleys paper, App. C.8.

    y = cos(12mπx) + cos(24mπx + ½) + cos(36mπx) + cos(72mπx + ½). `allow_aliasing` is that of
    `Cosines`.
    """
    frequencies, phases = tuple(m * f for f in (6, 12, 18, 36)), (0, 0.5, 0, 0.5)
    return Cosines(frequencies=frequencies, samples=samples, phases=phases, allow_aliasing=allow_aliasing)
