"""Neurons, with any activation."""

from typing import final

import equinox as eqx
import jax.numpy as jnp

from saddlescope.errors import require, require_kind
from saddlescope.nets.activation import Activation
from saddlescope.nets.unit import Unit


@final
class Neuron(Unit):
    """A neuron: φ(x; u) = σ(u · x).

    Where σ is a power, σ(z) = z^p, the net sees the data through moments alone: f = W x^{⊗p} with W
    = Σ_i v_i u_i^{⊗p}. It then trains on these moments, at a cost that does not grow with the
    number of samples.

    **Arguments:**

    - `activation`: σ, one of `saddlescope.nets` such as `ReLU()`.
    - `bias`: Whether the neuron also sees a constant 1, as the last entry of u. The default is
      False, as in the simplicity paper.
    """

    activation: Activation
    bias: bool = eqx.field(default=False, static=True)

    def __check_init__(self):
        require_kind(
            self.activation,
            Activation,
            "`activation` must be one of saddlescope.nets, such as ReLU()",
        )
        require(isinstance(self.bias, bool), f"`bias` must be True or False; got {self.bias!r}.")

    def sizes(self, inputs, outputs):
        return inputs + self.bias, outputs

    def __call__(self, x, u):
        if self.bias:
            x = jnp.concatenate([x, jnp.ones_like(x[:, :1])], axis=1)
        return self.activation(x @ u.T)

    @property
    def power(self):
        """p where σ(z) = z^p and there is no bias; else None."""
        return None if self.bias else self.activation.power

    def features(self, x):
        return None if self.power is None else _tensor_power(x, self.power)

    def maps(self, u, features):
        return _tensor_power(u, self.power)[:, None]


def _tensor_power(rows, power):
    """Each row's x^{⊗p}, flattened."""
    product = rows
    for _ in range(power - 1):
        product = (product[:, :, None] * rows[:, None, :]).reshape(len(rows), -1)
    return product
