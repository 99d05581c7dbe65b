"""A small two-block net for tests: its flow in all weights, n times JAX's own gradient, by scipy."""

import jax
import jax.numpy as jnp
import numpy as np
from scipy.integrate import solve_ivp

from saddlescope.numerics import reproducible


class SmallNet:
    """Width 12, rank 3, tanh, three points of unequal weight, with a bias in the first layer."""

    def __init__(self, seed=0, width=12, rank=3):
        rng = np.random.default_rng(seed)
        self.x = np.array([-0.7, 0.2, 0.9])
        self.y = np.array([1.0, -0.5, 0.3])
        self.weights = np.array([0.2, 0.5, 0.3])
        self.frozen = rng.standard_normal((width, 2))
        self.mixing = rng.standard_normal((width, rank))
        self.start = rng.standard_normal((width, rank)), rng.standard_normal((width, 1))
        self.width = width

    def features(self, x):
        return np.tanh(np.outer(self.frozen[:, 0], x) + self.frozen[:, 1:])

    def loss(self, w):
        f = self.features(self.x).T @ w[0] / self.width
        outputs = jnp.tanh(f @ self.mixing.T) @ w[1][:, 0] / self.width
        return self.weights @ (outputs - self.y) ** 2 / 2

    @reproducible()
    def flow(self, times):
        """w₁ and w₂ at these times, time × neuron × channel."""
        shapes = [w.shape for w in self.start]
        cut = self.start[0].size
        gradient = jax.jit(jax.grad(self.loss))

        def velocity(_, flat):
            w = flat[:cut].reshape(shapes[0]), flat[cut:].reshape(shapes[1])
            return -self.width * np.concatenate([np.asarray(g).ravel() for g in gradient(w)])

        start = np.concatenate([w.ravel() for w in self.start])
        found = solve_ivp(velocity, (times[0], times[-1]), start, "DOP853", times, rtol=1e-12, atol=1e-13)
        flat = found.y.T
        return flat[:, :cut].reshape(-1, *shapes[0]), flat[:, cut:].reshape(-1, *shapes[1])

    def channels(self, w1, x):
        return np.einsum("cx,tck->txk", self.features(x), w1) / self.width

    def residuals_and_signals(self, w1, w2):
        """d and B by loops over the definition."""
        f = self.channels(w1, self.x)
        fields = np.einsum("tpk,ck->tpc", f, self.mixing)
        outputs = np.einsum("tpc,tc->tp", np.tanh(fields), w2[:, :, 0]) / self.width
        gates = (1 - np.tanh(fields) ** 2) * w2[:, None, :, 0]
        return outputs - self.y, np.einsum("tpc,ck->tpk", gates, self.mixing) / self.width
