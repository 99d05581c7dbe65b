"""Deep nets with a first layer of units."""

from itertools import pairwise
from typing import final

import equinox as eqx
import jax.numpy as jnp
import numpy as np

from saddlescope.errors import require, require_kind
from saddlescope.nets.activation import Activation, Identity
from saddlescope.nets.net import Net
from saddlescope.nets.random_feature_net import check_sizes, sizes
from saddlescope.nets.unit import Unit
from saddlescope.nets.units import reduced
from saddlescope.serialization.part import as_float, as_int


@final
class DeepUnits(Net):
    """A deep net: a first layer of units of any kind, then dense layers.

    The layers are h₁ = φ(x; u_i), h_{l+1} = σ(W_{l+1} h_l) and f = W_L h_{L-1}. Initial weights are
    N(0, scale²), and there are no biases. With `skip` = k the output of the first layer is added
    again after k dense layers (Eq. 18): h_{1+k} + h₁. For ReLU we read that as σ(W h) + h₁, since
    the paper writes it for linear nets alone.

    Where all dense layers are linear, and the units are linear in features, the net trains on
    moments. Reference: simplicity paper, Fig. 5 and 6.

    **Arguments:**

    - `units`: The number of units in the first layer.
    - `unit`: φ, one of `saddlescope.nets` such as `Neuron(ReLU())`.
    - `hidden`: The widths of the dense hidden layers, one number per layer.
    - `scale`: The standard deviation of all initial weights.
    - `activation`: σ of the dense hidden layers. The default `Identity()` makes them linear.
    - `skip`: The number of dense layers that the skip connection spans. The default 0 means that
      there is no skip.
    """

    units: int = eqx.field(static=True, converter=as_int)
    unit: Unit
    hidden: tuple[int, ...] = eqx.field(static=True, converter=sizes)
    scale: float = eqx.field(converter=as_float)
    activation: Activation = eqx.field(default_factory=Identity)
    skip: int = eqx.field(default=0, static=True, converter=as_int)

    def __check_init__(self):
        require_kind(self.unit, Unit, "`unit` must be one of saddlescope.nets, such as Neuron(ReLU())")
        require_kind(self.activation, Activation, "`activation` must be one of saddlescope.nets, such as ReLU()")
        check_sizes("hidden", self.hidden)
        require(
            isinstance(self.units, int) and self.units > 0,
            f"`units`, the first layer's width, must be a positive whole number; got {self.units}.",
        )
        require(0 < self.scale < np.inf, f"`scale`, the deviation of weights, must be positive; got {self.scale}.")
        require(
            self.skip == 0 or (0 < self.skip <= len(self.hidden) and self.hidden[self.skip - 1] == self.units),
            f"A skip over {self.skip} layers needs as many hidden layers, the last of them {self.units} wide.",
        )

    def of_widths(self, widths, scale):
        """Make the same kind of net, with layers of these widths."""
        require(
            len(widths) == 1 + len(self.hidden) and not self.skip,
            f"Give {1 + len(self.hidden)} widths, one per layer, for a net without a skip; got {widths}.",
        )
        return DeepUnits(widths[0], self.unit, widths[1:], scale, self.activation)

    def init(self, rng, inputs, outputs):
        n_u, entries = self.unit.sizes(inputs, 1)
        require(self.skip == 0 or entries == 1, "A skip needs units that give one number each.")
        params, width = {"u": self.scale * rng.standard_normal((self.units, n_u))}, self.units * entries
        for layer, out in enumerate((*self.hidden, outputs), start=2):
            params[f"W{layer}"] = self.scale * rng.standard_normal((out, width))
            width = out
        return params

    def parameter_count(self, inputs, outputs):
        n_u, entries = self.unit.sizes(inputs, 1)
        widths = (self.units * entries, *self.hidden, outputs)
        return self.units * n_u + sum(n * out for n, out in pairwise(widths))

    def __call__(self, params, x):
        first = self.unit(x, params["u"])
        return self.further(params, first.reshape(len(first), -1))

    def further(self, params, first):
        """What the dense layers make of the first layer's outputs."""
        h, last = first, len(self.hidden) + 2
        for layer in range(2, last):
            h = self.activation(h @ params[f"W{layer}"].T)
            h = h + first if layer == 1 + self.skip and self.skip else h
        return h @ params[f"W{last}"].T

    def statistics(self, data):
        return reduced(self.unit, data) if isinstance(self.activation, Identity) else data

    @property
    def uses_moments(self):
        return self.unit.power is not None and isinstance(self.activation, Identity)

    def moment_loss(self, params, moments):
        features = len(moments.xx)
        first = self.unit.maps(params["u"], features).reshape(-1, features)
        error = self.further(params, first.T).T - moments.optimum
        return moments.floor + jnp.sum((error @ moments.xx) * error)

    # ---- A layer as units of its own (Eq. 1): u_i what comes in, v_i what goes out. Not of a net with a skip. ----

    def layer(self, params, number):
        """The units of one layer, {'u', 'v'}; the first layer is 1. A net with a skip has none."""
        out = params[f"W{number + 1}"]
        u = params["u"] if number == 1 else params[f"W{number}"]
        return {"u": u, "v": jnp.moveaxis(out.reshape(len(out), len(u), -1), 1, 0).reshape(len(u), -1)}

    def with_layer(self, params, number, units):
        """The parameters with other units in that layer, as many as there are."""
        n, out = len(units["u"]), len(params[f"W{number + 1}"])
        outer = jnp.moveaxis(jnp.asarray(units["v"]).reshape(n, out, -1), 0, 1).reshape(out, -1)
        return params | {"u" if number == 1 else f"W{number}": jnp.asarray(units["u"]), f"W{number + 1}": outer}
