"""Convolution kernels over a one-dimensional input."""

from typing import final

import equinox as eqx
import jax.numpy as jnp
import numpy as np

from saddlescope.errors import require, require_kind
from saddlescope.nets.activation import Activation, Identity
from saddlescope.nets.unit import Unit
from saddlescope.serialization.part import as_int


@final
class ConvUnit(Unit):
    """A convolution kernel: φ(x; u) = (σ(u · patch 1), σ(u · patch 2), …), with one outer weight
    per position.

    There is no padding, and the net has one output. With σ = Identity the net trains on moments.
    Reference: simplicity paper, Eq. 66 and 68, with size 2 and stride 2.

    **Arguments:**

    - `size`: The number of inputs in a patch.
    - `activation`: σ, one of `saddlescope.nets` such as `ReLU()`.
    - `stride`: The distance between patches. The default, None, means `size`: patches touch and do
      not overlap, as in the paper.
    """

    size: int = eqx.field(static=True, converter=as_int)
    activation: Activation
    stride: int | None = eqx.field(default=None, static=True, converter=as_int)

    def __check_init__(self):
        require_kind(
            self.activation,
            Activation,
            "`activation` must be one of saddlescope.nets, such as ReLU()",
        )
        for name, n in (("size", self.size), ("stride", self.step)):
            require(isinstance(n, int) and n > 0, f"`{name}` must be a positive whole number; got {n}.")

    @property
    def step(self):
        """The stride in use: `size` where none is given."""
        return self.size if self.stride is None else self.stride

    def positions(self, inputs) -> np.ndarray:
        """The inputs of each patch, position × tap."""
        first = np.arange(0, inputs - self.size + 1, self.step)
        return first[:, None] + np.arange(self.size)

    def sizes(self, inputs, outputs):
        require(inputs >= self.size, f"A kernel of {self.size} does not fit into {inputs} inputs.")
        require(outputs == 1, f"A layer of kernels has one output here, but the task has {outputs}.")
        return self.size, len(self.positions(inputs))

    def __call__(self, x, u):
        patches = x[:, self.positions(x.shape[1])]  # sample × position × tap
        return self.activation(jnp.einsum("spt,it->sip", patches, u))

    @property
    def power(self):
        return 1 if isinstance(self.activation, Identity) else None

    def features(self, x):
        return x if self.power else None

    def maps(self, u, features):
        at = self.positions(features)
        rows = np.arange(len(at))[:, None]
        return jnp.zeros((len(u), len(at), features), u.dtype).at[:, rows, at].set(u[:, None])
