"""A JAX loop as an expert writes it for this net: one `scan` over all batches of several epochs, compiled once.

The layout decides its speed. A lies as (inputs, width) and C as (outputs, width), so that the long axis is the inner
one of both. With C as (width, outputs) the same program is half as fast.
"""

from itertools import chain

import jax
import jax.numpy as jnp
import numpy as np
from peer import Peer


def _loss(trained, frozen, x, y):
    for (A, b), (C, c) in zip(frozen, trained, strict=True):
        x = jax.nn.relu(x @ A + b) @ C.T + c
    return jnp.mean((x - y) ** 2)


@jax.jit
def _run(trained, frozen, x, y, rows, lr, clip):
    def step(trained, rows):
        loss, gradient = jax.value_and_grad(_loss)(trained, frozen, x[rows], y[rows])
        norm = jnp.sqrt(sum(jnp.vdot(g, g) for g in jax.tree.leaves(gradient)))
        scale = jnp.minimum(1, clip / norm)
        return jax.tree.map(lambda w, g: w - lr * scale * g, trained, gradient), loss

    return jax.lax.scan(step, trained, rows)


class JaxScan(Peer):
    """JAX, a hand-laid scan."""

    def __init__(self, setting):
        super().__init__(setting)
        self.data = jnp.asarray(self.x), jnp.asarray(self.y)
        self.fixed = [(jnp.asarray(A.T.copy()), jnp.asarray(b)) for A, b in self.frozen]
        self.moving = [tuple(jnp.asarray(v) for v in pair) for pair in self.trained]
        optimiser = setting.optimiser
        self.numbers = np.float32(optimiser.lr), np.float32(optimiser.clip)

    def run(self, epochs):
        rows = self.rows(epochs).astype(np.int32)
        self.moving, losses = _run(self.moving, self.fixed, *self.data, rows, *self.numbers)
        np.asarray(losses)

    def weights(self):
        return [np.asarray(v) for v in chain(*self.moving)]
