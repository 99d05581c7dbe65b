"""What the layers of a deep net do to the data: ranks, the effect of the activation, bottlenecks."""

from collections.abc import Callable
from typing import final

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from saddlescope.errors import InvalidInput, require
from saddlescope.observables.observable import Observable
from saddlescope.serialization.part import as_float, as_int
from saddlescope.tasks.task import Moments

MOST = 20  # the largest rank that a bottleneck is looked for with


def numerical_rank(matrix: jax.Array | np.ndarray, tolerance: float) -> jax.Array:
    """How many singular values exceed `tolerance` times the largest; 0 of a matrix of zeros."""
    values = jnp.linalg.svd(matrix, compute_uv=False)
    return jnp.sum(values > tolerance * values[0])


def relu_effect(z: jax.Array | np.ndarray, activation: Callable) -> jax.Array:
    """‖σ(Z) - Z‖² / ‖Z‖²; 0 where the activation changes nothing, and of zeros."""
    size = jnp.sum(z**2)
    return jnp.sum((activation(z) - z) ** 2) / jnp.where(size > 0, size, 1.0)


@final
class WeightRanks(Observable):
    """The numerical rank of each weight matrix W_1, …, W_L, as `weight_rank`.

    **Arguments:**

    - `tolerance`: The share of the largest singular value above which others count. The default is
      0.1.
    """

    name = "weight_rank"
    axes = ("layer",)
    tolerance: float = eqx.field(default=0.1, converter=as_float)

    def __check_init__(self):
        _check_tolerance(self.tolerance)

    def __call__(self, snapshot):
        return jnp.stack([numerical_rank(w, self.tolerance) for w in matrices(snapshot)])


@final
class ActivationRanks(Observable):
    """The numerical rank of the activations σ(Z_ℓ) of each hidden layer over samples, as
    `activation_rank`.

    **Arguments:**

    - `tolerance`: The share of the largest singular value above which others count. The default is
      0.1.
    - `samples`: How many samples are looked at, from the first on. The default is 1000.
    """

    name = "activation_rank"
    axes = ("hidden",)
    tolerance: float = eqx.field(default=0.1, converter=as_float)
    samples: int = eqx.field(default=1000, static=True, converter=as_int)

    def __check_init__(self):
        _check_tolerance(self.tolerance)
        _check_samples(self.samples)

    def __call__(self, snapshot):
        hidden = before_activation(snapshot, self.samples)[:-1]
        act = snapshot.net.activation
        return jnp.stack([numerical_rank(act(z), self.tolerance) for z in hidden])


@final
class ActivationEffect(Observable):
    """What the activation changes in each hidden layer, ‖σ(Z_ℓ) - Z_ℓ‖² / ‖Z_ℓ‖², as
    `activation_effect`.

    It is 0 where a ReLU sees positive values alone, and 1 where it sees negative values alone.
    Reference: escape paper, Theorem 3.1.

    **Arguments:**

    - `samples`: How many samples are looked at, from the first on. The default is 1000.
    """

    name = "activation_effect"
    axes = ("hidden",)
    samples: int = eqx.field(default=1000, static=True, converter=as_int)

    def __check_init__(self):
        _check_samples(self.samples)

    def __call__(self, snapshot):
        hidden = before_activation(snapshot, self.samples)[:-1]
        return jnp.stack([relu_effect(z, snapshot.net.activation) for z in hidden])


@final
class BottleneckRanks(Observable):
    """The least rank to which a hidden layer can be cut so that the outputs stay, as
    `bottleneck_rank`.

    The activations of layer ℓ are projected on their k leading directions over the samples, and the
    later layers are applied. k is the least number for which the outputs change by at most
    `tolerance`, relative to their norm. The least over the layers is a numerical form of the
    bottleneck rank. A layer that needs more than 20 gives 21. Reference: escape paper, Section 1.2.

    **Arguments:**

    - `tolerance`: The relative change of the outputs that is allowed. The default is 0.1.
    - `samples`: How many samples are looked at, from the first on. The default is 1000.
    """

    name = "bottleneck_rank"
    axes = ("hidden",)
    tolerance: float = eqx.field(default=0.1, converter=as_float)
    samples: int = eqx.field(default=1000, static=True, converter=as_int)

    def __check_init__(self):
        _check_tolerance(self.tolerance)
        _check_samples(self.samples)

    def __call__(self, snapshot):
        before, weights = before_activation(snapshot, self.samples), matrices(snapshot)
        act = snapshot.net.activation
        return jnp.stack([self._least(act(z), weights[j + 1 :], act, before[-1]) for j, z in enumerate(before[:-1])])

    def _least(self, h, later, act, outputs):
        """The least rank of one layer, whose activations are h."""
        directions = jnp.linalg.svd(h, full_matrices=False)[2]
        along, most = h @ directions.T, min(MOST, len(directions))

        def change(leading):
            z = (along * leading) @ directions @ later[0].T
            for w in later[1:]:
                z = act(z) @ w.T
            return jnp.linalg.norm(z - outputs)

        changes = jax.lax.map(change, jnp.tri(most, len(directions), dtype=h.dtype))
        good = changes <= self.tolerance * jnp.linalg.norm(outputs)
        return jnp.where(jnp.any(good), 1 + jnp.argmax(good), most + 1)


def before_activation(snapshot, samples):
    """Z_1, …, Z_L over the first samples, one row each."""
    net, data = snapshot.net, snapshot.data
    if isinstance(data, Moments) or not hasattr(net, "channels") or not hasattr(net, "activation"):
        raise InvalidInput("This reads the layers of a net over samples: use a BiasFreeMLP and a task with samples.")
    return net.channels(snapshot.params, jnp.asarray(data.x)[:samples])


def matrices(snapshot):
    """W_1, …, W_L of a net without biases."""
    params = snapshot.params
    names = [f"W{j}" for j in range(1, len(params) + 1)]
    require(
        set(names) == set(params),
        f"This reads the layers W1, W2, … of a BiasFreeMLP, but the net has {', '.join(params)}.",
    )
    return [params[name] for name in names]


def _check_tolerance(tolerance):
    require(0 < tolerance < 1, f"`tolerance` must lie between 0 and 1; got {tolerance:g}.")


def _check_samples(samples):
    good = type(samples) is int and samples > 0
    require(good, f"`samples` must be a positive whole number; got {samples!r}.")
