"""A net of your own: a diagonal linear net, f(x) = Σ u_i v_i x_i.

It is a file with a class. `--import own_net.py` lets a sweep file name it, and an experiment imports it as usual:

    saddlescope sweep own_sweep.toml --import own_net.py
"""

import equinox as eqx
import jax.numpy as jnp
import numpy as np

from saddlescope.nets import Net


class DiagonalNet(Net):
    """f(x) = Σ u_i v_i x_i, where u_i = v_i at the start.

    **Arguments:**

    - `scale`: size of the initial weights.
    """

    scale: float = eqx.field(converter=float)

    def init(self, rng, inputs, outputs):
        u = self.scale * (1 + 0.1 * rng.random(inputs))
        return {"u": u, "v": np.array(u)}

    def __call__(self, params, x):
        return jnp.sum(params["u"] * params["v"] * x, axis=-1, keepdims=True)
