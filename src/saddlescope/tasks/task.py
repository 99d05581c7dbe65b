"""What is learned: a task gives samples, or exact population moments where it has them."""

from abc import abstractmethod

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from saddlescope.serialization.part import Part


class Samples(eqx.Module):
    """A data set: inputs x and targets y, one row a sample."""

    x: Float[Array | np.ndarray, "sample input"]
    y: Float[Array | np.ndarray, "sample output"]


class Moments(eqx.Module):
    """All that a linear map sees of the data under squared loss, written around its optimum.

    L(W) = floor + tr (W - optimum) xx (W - optimum)ᵀ, with xx = ⟨x xᵀ⟩ and optimum = ⟨y xᵀ⟩ xx⁺. The floor is summed
    from residuals, not subtracted, so small losses keep their digits. Of a population, x may stand for x^{⊗degree}.
    """

    optimum: Float[Array | np.ndarray, "output input"]
    xx: Float[Array | np.ndarray, "input input"]
    floor: Float[Array | np.ndarray, ""]
    degree: int = eqx.field(default=1, static=True)

    @property
    def yx(self):
        """⟨y xᵀ⟩."""
        return self.optimum @ self.xx

    @property
    def power(self):
        """⟨|y|²⟩, the loss of the zero map."""
        return self.floor + jnp.einsum("oi,ij,oj->", self.optimum, self.xx, self.optimum)

    @staticmethod
    def of(data):
        """The moments of samples; moments pass through."""
        if isinstance(data, Moments):
            return data
        x, y = jnp.asarray(data.x), jnp.asarray(data.y)
        xx = x.T @ x / len(x)
        optimum = (y.T @ x / len(x)) @ jnp.linalg.pinv(xx, hermitian=True)
        return Moments(optimum, xx, jnp.mean(jnp.sum((y - x @ optimum.T) ** 2, axis=1)))


class Task(Part):
    """One data set or distribution. `inputs` and `outputs` are its dimensions."""

    @property
    @abstractmethod
    def inputs(self) -> int: ...

    @property
    @abstractmethod
    def outputs(self) -> int: ...

    @property
    @abstractmethod
    def size(self) -> int | None:
        """The number of samples; None where the task is a population, given by its moments."""

    @property
    def aliased(self) -> bool:
        """Whether the target is faster than its samples can show; a result of such a task is marked."""
        return False

    @abstractmethod
    def data(self, rng: np.random.Generator) -> Samples | Moments:
        """The data in float64; `rng` is the only source of chance."""

    def held_out(self, rng: np.random.Generator) -> Samples | None:
        """Samples that are not trained on, in float64; None where the task has none."""
        return None
