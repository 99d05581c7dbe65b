"""The kind of all tasks, and the two forms in which data reaches a net."""

from abc import abstractmethod

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from saddlescope.numerics import reproducible
from saddlescope.serialization.part import Part


class Samples(eqx.Module):
    """A finite data set: inputs and targets, one row per sample.

    **Arguments:**

    - `x`: The inputs, sample × input.
    - `y`: The targets, sample × output.
    """

    x: Float[Array | np.ndarray, "sample input"]
    y: Float[Array | np.ndarray, "sample output"]


class Moments(eqx.Module):
    """All that a linear map sees of the data under squared loss, written around its optimum.

    The loss of a map W is L(W) = floor + tr (W - optimum) xx (W - optimum)ᵀ. Here xx = ⟨x xᵀ⟩ and
    optimum = ⟨y xᵀ⟩ xx⁺. The floor is summed from residuals, not subtracted, so that small losses
    keep their digits.

    **Arguments:**

    - `optimum`: The map of least squared loss, output × input.
    - `xx`: The second moments ⟨x xᵀ⟩, input × input.
    - `floor`: The loss of the optimum, one number.
    - `degree`: 1 for moments of x itself. Moments of a population may be those of x^{⊗degree}.
    """

    optimum: Float[Array | np.ndarray, "output input"]
    xx: Float[Array | np.ndarray, "input input"]
    floor: Float[Array | np.ndarray, ""]
    degree: int = eqx.field(default=1, static=True)

    @property
    @reproducible()
    def yx(self):
        """⟨y xᵀ⟩."""
        return self.optimum @ self.xx

    @property
    @reproducible()
    def power(self):
        """⟨|y|²⟩, the loss of the zero map."""
        return self.floor + jnp.einsum("oi,ij,oj->", self.optimum, self.xx, self.optimum)

    @staticmethod
    @reproducible()
    def of(data):
        """Compute the moments of samples; moments pass through unchanged."""
        if isinstance(data, Moments):
            return data
        x, y = jnp.asarray(data.x), jnp.asarray(data.y)
        xx = x.T @ x / len(x)
        optimum = (y.T @ x / len(x)) @ jnp.linalg.pinv(xx, hermitian=True)
        return Moments(optimum, xx, jnp.mean(jnp.sum((y - x @ optimum.T) ** 2, axis=1)))


class Task(Part):
    """Abstract base of all tasks: one data set, or one distribution.

    A task of your own is a subclass with `inputs`, `outputs`, `size` and `data`. All its fields
    enter the setting's hash. It must draw its random numbers from the generator that `data` is
    given, and from nothing else.
    """

    @property
    @abstractmethod
    def inputs(self) -> int:
        """The dimension of x."""

    @property
    @abstractmethod
    def outputs(self) -> int:
        """The dimension of y."""

    @property
    @abstractmethod
    def size(self) -> int | None:
        """The number of samples; None for a population, given by its moments."""

    @property
    def aliased(self) -> bool:
        """Whether the target is faster than its samples can show; results of such a task are
        marked."""
        return False

    @abstractmethod
    def data(self, rng: np.random.Generator) -> Samples | Moments:
        """Draw the data in float64; `rng` is the only source of chance."""

    def held_out(self, rng: np.random.Generator) -> Samples | None:
        """Draw samples that are not trained on, in float64; None where the task has none."""
        return None
