"""Two-layer nets of units."""

import math
from typing import Any, final

import equinox as eqx
import jax.numpy as jnp
import numpy as np

from saddlescope.errors import require, require_kind
from saddlescope.nets.activation import Identity
from saddlescope.nets.net import Net
from saddlescope.nets.neuron import Neuron
from saddlescope.nets.unit import Unit
from saddlescope.serialization.part import as_float, as_int
from saddlescope.tasks.task import Moments, Samples


def reduced(unit, data):
    """The moments of the unit's features, or the data where there are none."""
    if isinstance(data, Moments):
        require(
            data.degree == unit.power,
            f"The population is given by the moments of x^{data.degree}, but these units see x^{unit.power}: give the "
            "task `samples`.",
        )
        return data
    return data if (z := unit.features(data.x)) is None else Moments.of(Samples(z, data.y))


@final
class Units(Net):
    """A two-layer net of units: f(x) = Σ_i φ(x; u_i) v_i.

    Initial weights are u_i, v_i ~ N(0, scale²). With `rank` = r > 0, a matrix of that rank is
    added: θ_i(0) = noise + Σ_{k≤r} c_ik w_k, with c_ik ~ N(0, 1 / units) and w_k ~ N(0, spread²).
    Such weights start near an invariant manifold and far from saddles.

    Where φ makes the net linear in fixed features, the net trains on their moments. Reference:
    simplicity paper, Eq. 1 and App. I; for `rank`, Fig. 2C.

    **Arguments:**

    - `units`: The width, a positive number of units.
    - `unit`: φ, one of `saddlescope.nets` such as `Neuron(ReLU())`.
    - `scale`: The standard deviation of the initial weights, or of the noise where `rank` is given.
    - `rank`: The rank of the large part of the initial weights. The default 0 means that there is
      none.
    - `spread`: The standard deviation of w_k; it has no effect if `rank` is 0.
    """

    units: int = eqx.field(static=True, converter=as_int)
    unit: Unit
    scale: float = eqx.field(converter=as_float)
    rank: int = eqx.field(default=0, static=True, converter=as_int)
    spread: float = eqx.field(default=1.0, converter=as_float)

    def __check_init__(self):
        require_kind(self.unit, Unit, "`unit` must be one of saddlescope.nets, such as Neuron(ReLU())")
        require(
            isinstance(self.units, int) and self.units > 0,
            f"`units`, the width, must be a positive whole number; got {self.units}.",
        )
        for name, size in (("scale", self.scale), ("spread", self.spread)):
            require(0 < size < math.inf, f"`{name}`, a deviation of initial weights, must be positive; got {size}.")
        require(
            isinstance(self.rank, int) and self.rank >= 0, f"`rank` must be a whole number, 0 or more; got {self.rank}."
        )

    def init(self, rng, inputs, outputs):
        """u then v, so that a draw of the same seed agrees between kinds of units."""
        n_u, n_v = self.unit.sizes(inputs, outputs)
        u, v = (self.scale * rng.standard_normal((self.units, n)) for n in (n_u, n_v))
        if self.rank:
            C = rng.standard_normal((self.units, self.rank)) / np.sqrt(self.units)
            large = C @ (self.spread * rng.standard_normal((self.rank, n_v + n_u)))
            u, v = u + large[:, n_v:], v + large[:, :n_v]
        return {"u": u, "v": v}

    def parameter_count(self, inputs, outputs):
        return self.units * sum(self.unit.sizes(inputs, outputs))

    def __call__(self, params, x):
        phi, v = self.unit(x, params["u"]), params["v"]
        return phi @ v if phi.ndim == 2 else jnp.einsum("siw,iw->s", phi, v)[:, None]

    @property
    def uses_moments(self):
        return self.unit.power is not None

    def statistics(self, data):
        return reduced(self.unit, data)

    def moment_loss(self, params, moments):
        error = self.matrix(params, len(moments.xx)) - moments.optimum
        return moments.floor + jnp.sum((error @ moments.xx) * error)

    def matrix(self, params, features):
        """W of f = W z(x), output × feature, where the net is linear in features."""
        maps, v = self.unit.maps(params["u"], features), params["v"]
        return v.T @ maps[:, 0] if maps.shape[1] == 1 else jnp.einsum("iw,iwf->f", v, maps)[None]


def linear_units(units: int, scale: float, **more: Any) -> Units:
    """Make a two-layer linear net, f(x) = Σ_i v_i u_i · x (simplicity paper, Eq. 8 and 65).

    **Arguments:**

    - `units`: The width.
    - `scale`: The standard deviation of the initial weights.
    - `more`: Further fields of `Units`.
    """
    return Units(units, Neuron(Identity()), scale, **more)
