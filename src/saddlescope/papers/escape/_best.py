"""Fast escape directions for the experiments on bounds: a plain search, and nets lifted from one
layer less."""

import itertools

import jax
import jax.numpy as jnp
import numpy as np

from saddlescope.errors import InvalidInput
from saddlescope.papers.escape._flows import localized
from saddlescope.theory.escape.collapse import deepen
from saddlescope.theory.escape.localized import circle, localized_loss

STEPS = 1500


def best_direction(X, G, depth, width=8, restarts=24, seed=0):
    """The fastest of some descents on ‖θ‖² = L and, from depth 3 on, of the best net of one layer
    less, lifted."""
    rng = np.random.default_rng([depth, seed])
    widths = (len(X), *(width,) * (depth - 1), len(G))
    starts = [rng.standard_normal((restarts, b, a)) for a, b in itertools.pairwise(widths)]
    ends, speeds = _descend(starts, jnp.asarray(X), jnp.asarray(G))
    found = [np.asarray(w[int(np.argmax(speeds))]) for w in ends]
    if depth > 2:
        try:
            lifted = deepen(best_direction(X, G, depth - 1, width, restarts, seed), X, G)
        except InvalidInput:  # nothing escapes at one layer less
            return found
        if localized_loss(lifted, X, G) <= localized_loss(found, X, G) + 1e-6:
            return lifted
    return found


@jax.jit
def _descend(starts, X, G):
    def one(weights):
        loss = lambda w: localized(w, X, G)  # noqa: E731

        def step(k, w):
            w = _on_sphere(w)
            g = jax.grad(loss)(w)
            along = sum(jnp.vdot(a, b) for a, b in zip(g, w, strict=True)) / len(w)
            g = [a - along * b for a, b in zip(g, w, strict=True)]
            length = 0.1 * (1 - k / STEPS) ** 2 / (jnp.sqrt(sum(jnp.vdot(a, a) for a in g)) + 1e-200)
            return [b - length * a for a, b in zip(g, w, strict=True)]

        end = _on_sphere(jax.lax.fori_loop(0, STEPS, step, list(weights)))
        return end, -loss(end)

    return jax.vmap(one)(starts)


def _on_sphere(weights):
    size = jnp.sqrt(sum(jnp.vdot(w, w) for w in weights) / len(weights))
    return [w / size for w in weights]


def aligned(rng, noise, inputs=4, points=8, outputs=2):
    """X = uvᵀ + noise and G = −y vᵀ + noise with v ≥ 0: data so nearly rank one that Theorem 3.1
    says something."""
    u, v, y = (
        rng.standard_normal(inputs),
        np.abs(rng.standard_normal(points)),
        rng.standard_normal(outputs),
    )
    u, v, y = (w / np.linalg.norm(w) for w in (u, v, y))
    add = lambda a: a + noise * rng.standard_normal(a.shape) / np.sqrt(a.size)  # noqa: E731
    return add(np.outer(u, v)), add(-np.outer(y, v))


def data_of(name, seed):
    """A data set by name: circles of so many points, Gaussian data, or aligned ones."""
    rng = np.random.default_rng([7, seed])
    if name.startswith("circle"):
        return circle(int(name.removeprefix("circle")))
    if name == "aligned":
        return aligned(rng, 0.02)
    return rng.standard_normal((3, 12)), rng.standard_normal((2, 12)) / 12
