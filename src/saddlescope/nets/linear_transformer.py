"""A one-layer linear transformer."""

from typing import final

import equinox as eqx
import jax.numpy as jnp
import numpy as np

from saddlescope.errors import require
from saddlescope.nets.heads import check_head, check_positive, context_and_query, outer_features
from saddlescope.nets.net import Net
from saddlescope.serialization.part import as_float, as_int
from saddlescope.tasks.task import Moments, Samples


@final
class LinearTransformer(Net):
    """A one-layer linear transformer: linear attention, then two dense linear layers.

    Each part is added to what comes in: h = x_q + Σ_i V_i (X Xᵀ / N) K_iᵀ Q_i x_q and f = h + B A
    h. The last entry of f is the prediction. V_i is a full matrix here, since A mixes its rows.
    Heads are units with u_i = (K_i, Q_i) and v_i = V_i.

    The paper does not say whether there are residual connections. Without them every path is a
    product of five small weights, and nothing is learned in any reasonable time. The net is linear
    in the features (x_q, (X Xᵀ / N) ⊗ x_q) and trains on their moments. Reference: simplicity
    paper, Fig. 5E.

    **Arguments:**

    - `heads`: The number of attention heads.
    - `hidden`: The width between the dense layers A and B.
    - `dimension`: D, the dimension of x.
    - `scale`: The standard deviation of all initial weights.
    """

    heads: int = eqx.field(static=True, converter=as_int)
    hidden: int = eqx.field(static=True, converter=as_int)
    dimension: int = eqx.field(static=True, converter=as_int)
    scale: float = eqx.field(converter=as_float)

    def __check_init__(self):
        check_positive(heads=self.heads, hidden=self.hidden, dimension=self.dimension)
        require(0 < self.scale < np.inf, f"`scale`, the deviation of weights, must be positive; got {self.scale}.")

    def of_widths(self, widths, scale):
        """Make the same kind of net, with so many heads and so wide a dense layer."""
        require(len(widths) == 2, f"Give two widths, of heads and of the dense layer; got {widths}.")
        return LinearTransformer(widths[0], widths[1], self.dimension, scale)

    def init(self, rng, inputs, outputs):
        check_head(self, inputs, outputs)
        t = self.dimension + 1
        shapes = {"u": (self.heads, 2 * t - 1), "v": (self.heads, t * t), "A": (self.hidden, t), "B": (t, self.hidden)}
        return {name: self.scale * rng.standard_normal(shape) for name, shape in shapes.items()}

    def parameter_count(self, inputs, outputs):
        t = self.dimension + 1
        return self.heads * (2 * t - 1 + t * t) + 2 * self.hidden * t

    def parts(self, params):
        """c of the prediction c · h, and the attention's map of S ⊗ q into h."""
        t = self.dimension + 1
        K, Q, V = params["u"][:, :t], params["u"][:, t:], params["v"].reshape(-1, t, t)
        c = jnp.zeros(t, K.dtype).at[-1].set(1) + params["B"][-1] @ params["A"]
        return c, jnp.einsum("ica,ib,id->cabd", V, K, Q).reshape(t, -1)

    def __call__(self, params, x):
        (c, W), (S, q) = self.parts(params), context_and_query(x, self.dimension)
        h = jnp.pad(q, ((0, 0), (0, 1))) + jnp.einsum("sab,sd->sabd", S, q).reshape(len(q), -1) @ W.T
        return (h @ c)[:, None]

    def statistics(self, data):
        if not isinstance(data, Samples):
            return data
        q = context_and_query(data.x, self.dimension)[1]
        return Moments.of(Samples(jnp.concatenate([q, outer_features(data.x, self.dimension)], axis=1), data.y))

    def moment_loss(self, params, moments):
        c, W = self.parts(params)
        error = jnp.concatenate([c[:-1], c @ W])[None] - moments.optimum
        return moments.floor + jnp.sum((error @ moments.xx) * error)
