"""Deep nets without biases whose layers after the first have a given rank."""

from itertools import pairwise
from typing import final

import equinox as eqx
import numpy as np

from saddlescope.errors import require, require_kind
from saddlescope.nets.activation import Activation, ReLU
from saddlescope.nets.net import Net
from saddlescope.nets.random_feature_net import check_sizes, sizes
from saddlescope.serialization.part import as_float, as_int


@final
class LowRankMLP(Net):
    """A bias-free multilayer perceptron with W_ℓ = A_ℓ B_ℓ of rank at most `rank` from the second layer on.

    It shows how well a net of bounded rank can fit, beside a `BiasFreeMLP` of the same widths. All
    factors are drawn from N(0, scale²). The parameters are called W1, A2, B2, …, AL, BL. Reference:
    escape paper, Section 5, conjecture 4.

    **Arguments:**

    - `widths`: The widths of the L - 1 hidden layers, one number per layer.
    - `rank`: The largest rank of W_2, …, W_L.
    - `scale`: The standard deviation of all initial weights.
    - `activation`: σ between the layers. The default is `ReLU()`.
    """

    widths: tuple[int, ...] = eqx.field(static=True, converter=sizes)
    rank: int = eqx.field(static=True, converter=as_int)
    scale: float = eqx.field(converter=as_float)
    activation: Activation = eqx.field(default_factory=ReLU)

    def __check_init__(self):
        check_sizes("widths", self.widths)
        check_sizes("rank", (self.rank,))
        good = 0 < self.scale < np.inf
        require(good, f"`scale`, the deviation of weights, must be positive; got {self.scale}.")
        require_kind(self.activation, Activation, "`activation` must be one of saddlescope.nets, such as ReLU()")

    @property
    def depth(self) -> int:
        """L, the number of layers."""
        return len(self.widths) + 1

    def init(self, rng, inputs, outputs):
        found = {"W1": rng.standard_normal((self.widths[0], inputs))}
        for j, (m, n) in enumerate(pairwise((*self.widths, outputs)), 2):
            found |= {f"A{j}": rng.standard_normal((n, self.rank)), f"B{j}": rng.standard_normal((self.rank, m))}
        return {name: self.scale * w for name, w in found.items()}

    def parameter_count(self, inputs, outputs):
        return inputs * self.widths[0] + sum(self.rank * (m + n) for m, n in pairwise((*self.widths, outputs)))

    def __call__(self, params, x):
        z = x @ params["W1"].T
        for j in range(2, self.depth + 1):
            z = self.activation(z) @ params[f"B{j}"].T @ params[f"A{j}"].T
        return z
