"""Low-rank random-feature nets."""

from typing import Any, final

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
        raise InvalidInput(f"Ranks and widths are tuples with one number per block, such as (10, 10); got {given!r}.")
    return tuple(as_int(v) for v in given)


def check_sizes(name, given):
    require(
        len(given) > 0 and all(type(v) is int and v > 0 for v in given),
        f"`{name}` must be positive whole numbers; got {', '.join(map(str, given)) or 'none'}.",
    )


@final
class RandomFeatureNet(Net):
    """A low-rank random-feature net: a chain of blocks h ↦ c + m · C σ(A h + b).

    A block maps rank → width → rank, and no activation follows it. A and b keep their initial draw
    unless `trainable` is "all". With inputs d, ranks r_1 … r_L and outputs o there are L + 1
    blocks, of ranks d → r_1 → … → r_L → o. The parameters of block j are called Aj, bj, Cj, cj.

    Reference: valleys paper, App. A.1 (all ranks r, all widths W); meanfield paper, Eq. 1 (its
    "layers" are L + 1).

    **Arguments:**

    - `ranks`: The widths of the L bottlenecks; none may exceed the width of a block beside it. Without a
      bottleneck, `ranks=()`, the net is a readout of random features.
    - `widths`: The widths of the L + 1 blocks.
    - `activation`: σ: `ReLU()`, `LeakyReLU()`, `Tanh()` or `Sigmoid()`. The default is the valleys
      paper's ReLU.
    - `trainable`: "narrow" trains C and c alone, as both papers do; "all" trains A and b too.
    - `residual`: Whether a block's input is added to its output where their sizes agree. The papers
      do not do so, nor does the default.
    - `parameterisation`: How weights are drawn, multiplied and paced. The default `UniformFanIn()`
      fits the numbers of the valleys paper.
    """

    ranks: tuple[int, ...] = eqx.field(static=True, converter=sizes)
    widths: tuple[int, ...] = eqx.field(static=True, converter=sizes)
    activation: Activation = eqx.field(default_factory=ReLU)
    trainable: str = eqx.field(default="narrow", static=True)
    residual: bool = eqx.field(default=False, static=True)
    parameterisation: Parameterisation = eqx.field(default_factory=UniformFanIn)

    def __check_init__(self):
        check_sizes("widths", self.widths)
        if self.ranks:
            check_sizes("ranks", self.ranks)
        require(
            len(self.widths) == len(self.ranks) + 1,
            f"{len(self.ranks)} ranks make {len(self.ranks) + 1} blocks, each with a width; got {len(self.widths)}.",
        )
        for j, rank in enumerate(self.ranks):
            width = min(self.widths[j : j + 2])
            require(
                rank <= width,
                f"The rank must not exceed the width; got rank {rank} and width {width}: widen the net.",
            )
        known = ReLU | LeakyReLU | Tanh | Sigmoid
        require_kind(self.activation, known, "`activation` must be ReLU, LeakyReLU, Tanh or Sigmoid")
        require(
            self.trainable in ("narrow", "all"),
            f"`trainable` must be 'narrow' (the width → rank maps alone) or 'all'; got {self.trainable!r}.",
        )
        require(
            isinstance(self.residual, bool),
            f"`residual` must be True or False; got {self.residual!r}.",
        )
        drawn = "`parameterisation` must be one of saddlescope.nets, such as UniformFanIn()"
        require_kind(self.parameterisation, Parameterisation, drawn)

    def dims(self, inputs, outputs) -> tuple[int, ...]:
        """The sizes between blocks, from inputs to outputs."""
        return (inputs, *self.ranks, outputs)

    def init(self, rng, inputs, outputs):
        dims, p, params = self.dims(inputs, outputs), self.parameterisation, {}
        for j, width in enumerate(self.widths):
            n, out = dims[j], dims[j + 1]
            params |= {f"A{j}": p.wide(rng, (width, n), n), f"b{j}": p.wide(rng, (width,), n)}
            params |= {
                f"C{j}": p.narrow(rng, (out, width), width),
                f"c{j}": p.narrow(rng, (out,), width),
            }
        return params

    def parameter_count(self, inputs, outputs):
        dims = self.dims(inputs, outputs)
        return sum(w * (n + 1) + out * (w + 1) for w, n, out in zip(self.widths, dims, dims[1:], strict=False))

    @property
    def frozen(self):
        blocks = range(len(self.widths)) if self.trainable == "narrow" else ()
        return frozenset(f"{name}{j}" for j in blocks for name in "Ab")

    @property
    def read_transposed(self):
        return frozenset(name for name in self.frozen if name[0] == "A")

    def rate(self, name):
        return self.parameterisation.rate(name[0], self.widths[int(name[1:])])

    def _features(self, params, j, h):
        return self.activation(h @ params[f"A{j}"].T + params[f"b{j}"])

    def _narrowed(self, params, j, z):
        return params[f"c{j}"] + self.parameterisation.multiplier(self.widths[j]) * (z @ params[f"C{j}"].T)

    def channels(self, params, x) -> list[jax.Array]:
        """The output of every block, one row per sample: the partials of the valleys paper."""
        h, outputs = x, []
        for j in range(len(self.widths)):
            new = self._narrowed(params, j, self._features(params, j, h))
            h = new + h if self.residual and new.shape == h.shape else new
            outputs.append(h)
        return outputs

    def __call__(self, params, x):
        return self.channels(params, x)[-1]

    def first_features(self, params, x) -> jax.Array:
        """σ(A₀ x + b₀), one row per sample: constant over a run where A₀ and b₀ are frozen."""
        return self._features(params, 0, x)

    def from_features(self, params, z) -> jax.Array:
        """The outputs from the features of the first block, of a net without residual connections."""
        h = self._narrowed(params, 0, z)
        for j in range(1, len(self.widths)):
            h = self._narrowed(params, j, self._features(params, j, h))
        return h


def low_rank(rank: int, depth: int, width: int = 1024, **more: Any) -> RandomFeatureNet:
    """Make the net of the valleys paper: `depth` bottlenecks of one rank, every block of one width.

    **Arguments:**

    - `rank`: The width of every bottleneck.
    - `depth`: The number of bottlenecks.
    - `width`: The width of every block. The default 1024 is the valleys paper's.
    - `more`: Further fields of `RandomFeatureNet`.
    """
    rank, depth, width = as_int(rank), as_int(depth), as_int(width)
    require(
        type(depth) is int and 0 < depth <= 10_000,
        f"`depth` must be a positive whole number, at most 10,000; got {depth!r}.",
    )
    return RandomFeatureNet(ranks=(rank,) * depth, widths=(width,) * (depth + 1), **more)


def count(net: Net, inputs: int, outputs: int) -> tuple[int, int]:
    """Count the parameters of a net, and the trained ones among them."""
    params = net.init(np.random.default_rng(0), inputs, outputs)
    return sum(v.size for v in params.values()), sum(v.size for v in net.trained(params).values())
