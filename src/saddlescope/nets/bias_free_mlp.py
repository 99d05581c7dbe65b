"""Deep ReLU nets without biases."""

from itertools import pairwise
from typing import final

import equinox as eqx
import jax
import numpy as np

from saddlescope.errors import require, require_kind
from saddlescope.nets.activation import Activation, ReLU
from saddlescope.nets.net import Net
from saddlescope.nets.random_feature_net import check_sizes, sizes
from saddlescope.serialization.part import as_float


@final
class BiasFreeMLP(Net):
    """A multilayer perceptron without biases: f(x) = W_L σ(W_{L-1} … σ(W_1 x)).

    All weights are drawn from N(0, scale²), whatever the width. With ReLU the outputs are
    homogeneous of degree L in the weights, so that the origin is a saddle. The parameters are called
    W1, …, WL, each output × input. Reference: escape paper, Section 2 and Appendix B.

    **Arguments:**

    - `widths`: The widths of the L - 1 hidden layers, one number per layer.
    - `scale`: The standard deviation of all initial weights.
    - `activation`: σ between the layers. The default is `ReLU()`.
    """

    widths: tuple[int, ...] = eqx.field(static=True, converter=sizes)
    scale: float = eqx.field(converter=as_float)
    activation: Activation = eqx.field(default_factory=ReLU)

    def __check_init__(self):
        check_sizes("widths", self.widths)
        require(
            0 < self.scale < np.inf,
            f"`scale`, the deviation of weights, must be positive; got {self.scale}.",
        )
        kind = "`activation` must be one of saddlescope.nets, such as ReLU()"
        require_kind(self.activation, Activation, kind)

    @property
    def depth(self) -> int:
        """L, the number of weight matrices."""
        return len(self.widths) + 1

    def init(self, rng, inputs, outputs):
        shapes = pairwise((inputs, *self.widths, outputs))
        return {f"W{j}": self.scale * rng.standard_normal((n, m)) for j, (m, n) in enumerate(shapes, 1)}

    def parameter_count(self, inputs, outputs):
        return sum(n * m for n, m in pairwise((inputs, *self.widths, outputs)))

    def channels(self, params, x) -> list[jax.Array]:
        """The values Z_1, …, Z_L before the activation, one row per sample; the last is the output."""
        h, outputs = x, []
        for j in range(1, self.depth + 1):
            outputs.append(h @ params[f"W{j}"].T)
            h = self.activation(outputs[-1])
        return outputs

    def __call__(self, params, x):
        return self.channels(params, x)[-1]
