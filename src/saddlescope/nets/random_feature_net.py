"""Low-rank random-feature nets: blocks h ↦ c + m · C σ(A h + b), rank → width → rank, where A and b keep their draw.

No activation follows a block. With inputs d, ranks r_1 … r_L and outputs o there are L + 1 blocks, of ranks
d → r_1 → … → r_L → o. Valleys paper, App. A.1 (all ranks r, all widths W); meanfield paper, Eq. 1 (its "layers" are
L + 1). The parameters of block j are called A0, b0, C0, c0, A1, …
"""

from typing import final

import equinox as eqx
import jax
import numpy as np

from saddlescope.errors import InvalidInput, require, require_kind
from saddlescope.nets.activation import Activation, LeakyReLU, ReLU, Sigmoid, Tanh
from saddlescope.nets.net import Net
from saddlescope.nets.parameterisation import Parameterisation, UniformFanIn
from saddlescope.serialization.part import as_int


def sizes(given):
    """Converter: a tuple of whole numbers."""
    if isinstance(given, str) or not np.iterable(given):
        raise InvalidInput(f"Ranks and widths are tuples with one number a block, such as (10, 10); got {given!r}.")
    return tuple(as_int(v) for v in given)


def check_sizes(name, given):
    require(
        len(given) > 0 and all(type(v) is int and v > 0 for v in given),
        f"`{name}` must be positive whole numbers; got {', '.join(map(str, given)) or 'none'}.",
    )


@final
class RandomFeatureNet(Net):
    ranks: tuple[int, ...] = eqx.field(static=True, converter=sizes)
    widths: tuple[int, ...] = eqx.field(static=True, converter=sizes)
    activation: Activation = eqx.field(default_factory=ReLU)
    trainable: str = eqx.field(default="narrow", static=True)
    residual: bool = eqx.field(default=False, static=True)
    parameterisation: Parameterisation = eqx.field(default_factory=UniformFanIn)

    def __check_init__(self):
        check_sizes("ranks", self.ranks)
        check_sizes("widths", self.widths)
        require(
            len(self.widths) == len(self.ranks) + 1,
            f"{len(self.ranks)} ranks make {len(self.ranks) + 1} blocks, each with a width; got {len(self.widths)}.",
        )
        for j, rank in enumerate(self.ranks):
            width = min(self.widths[j : j + 2])
            require(
                rank <= width, f"The rank must not exceed the width; got rank {rank} and width {width}: widen the net."
            )
        known = ReLU | LeakyReLU | Tanh | Sigmoid
        require_kind(self.activation, known, "`activation` must be ReLU, LeakyReLU, Tanh or Sigmoid")
        require(
            self.trainable in ("narrow", "all"),
            f"`trainable` must be 'narrow' (the width → rank maps alone) or 'all'; got {self.trainable!r}.",
        )
        require(isinstance(self.residual, bool), f"`residual` must be True or False; got {self.residual!r}.")
        drawn = "`parameterisation` must be one of saddlescope.nets, such as UniformFanIn()"
        require_kind(self.parameterisation, Parameterisation, drawn)

    def dims(self, inputs, outputs) -> tuple[int, ...]:
        return (inputs, *self.ranks, outputs)

    def init(self, rng, inputs, outputs):
        dims, p, params = self.dims(inputs, outputs), self.parameterisation, {}
        for j, width in enumerate(self.widths):
            n, out = dims[j], dims[j + 1]
            params |= {f"A{j}": p.wide(rng, (width, n), n), f"b{j}": p.wide(rng, (width,), n)}
            params |= {f"C{j}": p.narrow(rng, (out, width), width), f"c{j}": p.narrow(rng, (out,), width)}
        return params

    @property
    def frozen(self):
        blocks = range(len(self.widths)) if self.trainable == "narrow" else ()
        return frozenset(f"{name}{j}" for j in blocks for name in "Ab")

    def rate(self, name):
        return self.parameterisation.rate(name[0], self.widths[int(name[1:])])

    def channels(self, params, x) -> list[jax.Array]:
        """The output of every block, one row a sample: the partials of the valleys paper."""
        h, outputs = x, []
        for j, width in enumerate(self.widths):
            z = self.activation(h @ params[f"A{j}"].T + params[f"b{j}"])
            new = params[f"c{j}"] + self.parameterisation.multiplier(width) * (z @ params[f"C{j}"].T)
            h = new + h if self.residual and new.shape == h.shape else new
            outputs.append(h)
        return outputs

    def __call__(self, params, x):
        return self.channels(params, x)[-1]


def low_rank(rank, depth, width=1024, **more) -> RandomFeatureNet:
    """The valleys paper's net: `depth` hidden bottlenecks of one rank, every block of one width."""
    rank, depth, width = as_int(rank), as_int(depth), as_int(width)
    require(
        type(depth) is int and 0 < depth <= 10_000,
        f"`depth` must be a positive whole number, at most 10,000; got {depth!r}.",
    )
    return RandomFeatureNet(ranks=(rank,) * depth, widths=(width,) * (depth + 1), **more)


def count(net: Net, inputs, outputs) -> tuple[int, int]:
    """The number of parameters, and of trained ones."""
    params = net.init(np.random.default_rng(0), inputs, outputs)
    return sum(v.size for v in params.values()), sum(v.size for v in net.trained(params).values())
