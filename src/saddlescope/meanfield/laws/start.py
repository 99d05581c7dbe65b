"""The law of trained weights at the start."""

from typing import final

import equinox as eqx
import numpy as np

from saddlescope.errors import InvalidInput, require
from saddlescope.serialization.part import Part, as_float


def _numbers(given) -> tuple[float, ...]:
    values = np.atleast_1d(np.asarray(given, float))
    if values.ndim != 1 or not np.isfinite(values).all():
        raise InvalidInput(f"A mean or slope is a finite number, or one per channel; got {given!r}.")
    return tuple(map(float, values))


def _atoms(given) -> tuple[tuple[tuple[float, ...], tuple[float, ...]], ...]:
    try:
        return tuple((_numbers(place), _numbers(heights)) for place, heights in given)
    except (TypeError, ValueError):
        raise InvalidInput(
            f"Atoms are pairs (place, height per channel), such as ((0.5, 1.0),); got {given!r}."
        ) from None


@final
class StartLaw(Part):
    """Weights at the start: w⁰ = mean + slope · Σ_j L_j + Σ_m a_m φ(L·z_m + b) + deviation · noise.

    L are the neuron's frozen weights, the bias b among them. The noise is a standard Gaussian, independent of everything: the limit does not see it, a finite net does. Without
    slope and atoms a start of mean 0 often is a stationary point of the limit; so is any mean where φ is odd.

    **Arguments:**

    - `mean`: the mean of w⁰: one number, or one per channel.
    - `slope`: how w⁰ grows with the neuron's own frozen weights: one number, or one per channel.
    - `std`: the deviation of the noise.
    - `atoms`: pairs (z, a), with a per channel: in the first layer, channel k starts as Σ a_k K(x, z).
    """

    mean: tuple[float, ...] = eqx.field(default=0.0, converter=_numbers)
    slope: tuple[float, ...] = eqx.field(default=1.0, converter=_numbers)
    std: float = eqx.field(default=1.0, converter=as_float)
    atoms: tuple = eqx.field(default=(), converter=_atoms)

    def __check_init__(self):
        require(self.std >= 0, f"`std` must not be negative; got {self.std:g}.")

    def means(self, channels: int) -> np.ndarray:
        """The mean of every channel."""
        return _for_channels(self.mean, channels)

    def slopes(self, channels: int, inputs: int) -> np.ndarray:
        """The slope of every channel in every frozen weight, channel × input."""
        return np.tile(_for_channels(self.slope, channels)[:, None], inputs)

    def places(self, inputs: int) -> np.ndarray:
        """z of every atom with the bias's 1 as its last coordinate, atom × (input + 1)."""
        given = [z for z, _ in self.atoms]
        require(
            all(len(z) == inputs for z in given),
            f"Atoms have as many coordinates as the block has inputs, {inputs}; got {[len(z) for z in given]}.",
        )
        return np.array([(*z, 1.0) for z in given]).reshape(-1, inputs + 1)

    def heights(self, channels: int) -> np.ndarray:
        """a of every atom, atom × channel."""
        return np.array([_for_channels(a, channels) for _, a in self.atoms]).reshape(-1, channels)

    def average(self, frozen: np.ndarray, channels: int, activation) -> np.ndarray:
        """w⁰ without its noise, for neurons with these frozen weights (the bias last), neuron × channel."""
        features = np.asarray(activation(frozen @ self.places(frozen.shape[1] - 1).T))
        smooth = self.means(channels) + frozen @ self.slopes(channels, frozen.shape[1]).T
        return smooth + features @ self.heights(channels)

    def draw(self, rng: np.random.Generator, frozen: np.ndarray, channels: int, activation) -> np.ndarray:
        """Draw w⁰ for neurons with these frozen weights, neuron × channel."""
        return self.average(frozen, channels, activation) + self.std * rng.standard_normal((len(frozen), channels))

    @property
    def still(self) -> bool:
        """Whether every channel starts at zero in the limit."""
        return not any((*self.mean, *self.slope, *(v for _, a in self.atoms for v in a)))


def _for_channels(given, channels):
    require(
        len(given) in (1, channels),
        f"A start law has one mean, or one per channel; got {len(given)} for {channels} channels.",
    )
    return np.broadcast_to(np.array(given), channels).copy()
