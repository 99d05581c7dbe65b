"""Full-rank multilayer perceptrons."""

from itertools import pairwise
from typing import final

import equinox as eqx
import jax

from saddlescope.errors import require_kind
from saddlescope.nets.activation import Activation, ReLU
from saddlescope.nets.net import Net
from saddlescope.nets.parameterisation import Gaussian, Parameterisation, UniformFanIn
from saddlescope.nets.random_feature_net import check_sizes, sizes


@final
class MLP(Net):
    """A full-rank multilayer perceptron: affine maps with an activation between them.

    The parameters are called W0, b0, W1, b1, … The affine maps stand where a random-feature net has
    blocks. Compare the two by `channels`, which both give before an activation.

    **Arguments:**

    - `widths`: The widths of the hidden layers, one number per layer.
    - `activation`: σ between the maps. The default `ReLU()` is that of the random-feature nets.
    - `parameterisation`: How weights are drawn: `UniformFanIn()`, PyTorch's default and ours, or
      `Gaussian()`.
    """

    widths: tuple[int, ...] = eqx.field(static=True, converter=sizes)
    activation: Activation = eqx.field(default_factory=ReLU)
    parameterisation: Parameterisation = eqx.field(default_factory=UniformFanIn)

    def __check_init__(self):
        check_sizes("widths", self.widths)
        require_kind(
            self.activation,
            Activation,
            "`activation` must be one of saddlescope.nets, such as ReLU()",
        )
        drawn = "A full-rank MLP is drawn by UniformFanIn() or Gaussian()"
        require_kind(self.parameterisation, UniformFanIn | Gaussian, drawn)

    def init(self, rng, inputs, outputs):
        dims, draw, params = (inputs, *self.widths, outputs), self.parameterisation.wide, {}
        for j, (n, out) in enumerate(pairwise(dims)):
            params |= {f"W{j}": draw(rng, (out, n), n), f"b{j}": draw(rng, (out,), n)}
        return params

    def parameter_count(self, inputs, outputs):
        return sum((n + 1) * out for n, out in pairwise((inputs, *self.widths, outputs)))

    def channels(self, params, x) -> list[jax.Array]:
        """The output of every affine map, before the activation, one row per sample; the last is
        the net's."""
        h, outputs = x, []
        for j in range(len(self.widths) + 1):
            outputs.append(h @ params[f"W{j}"].T + params[f"b{j}"])
            h = self.activation(outputs[-1])
        return outputs

    def __call__(self, params, x):
        return self.channels(params, x)[-1]
