"""Many descents of the localized loss on the sphere ‖θ‖² = L, all in one compiled batch.

A rule says how a step is made and how its length falls. Two have names. `TANGENT` is ours: the gradient is projected
onto the sphere and normalised, so that a step has the same length wherever a run is. It leaves flat starts at any
depth. `PROJECTED` is the escape paper's: a plain gradient step, and back to the sphere. From depth 6 on it hardly
leaves its start: the gradient there is a product of many small numbers.
"""

from collections.abc import Callable
from functools import partial
from itertools import pairwise
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from saddlescope.numerics import reproducible

CHUNK = 32  # restarts worked on together: their weights stay near the processor


class Rule(NamedTuple):
    """How a descent on the sphere steps: the length at a share t of the run is lr · (1 − t)^power.

    **Arguments:**

    - `lr`: the length of the first step, or the learning rate.
    - `power`: how fast it falls to zero.
    - `steps`: the number of steps.
    - `normalised`: whether the gradient is projected onto the sphere and normalised.
    """

    lr: float
    power: float
    steps: int
    normalised: bool


TANGENT = Rule(0.15, 2, 2000, True)
PROJECTED = Rule(0.1, 1, 3000, False)
Activations = Callable | tuple[Callable, ...]


class Ends(NamedTuple):
    """Where descents ended: one row per start.

    **Arguments:**

    - `weights`: one array per layer, of shape (starts, out, in).
    - `speeds`: −L0 at the end.
    - `traces`: −L0 along the run, (starts, instants); the first is the start.
    """

    weights: list[np.ndarray]
    speeds: np.ndarray
    traces: np.ndarray


def random_starts(rng, number, widths) -> list[np.ndarray]:
    """Normal weights, rescaled to the sphere; widths are n_0 … n_L."""
    drawn = [rng.standard_normal((number, b, a)) for a, b in pairwise(widths)]
    norms = np.sqrt(sum(np.sum(w**2, axis=(1, 2)) for w in drawn) / len(drawn))
    return [w / norms[:, None, None] for w in drawn]


@reproducible()
def descend(starts, X, G, rule=TANGENT, activations: Activations = jax.nn.relu, instants=1) -> Ends:
    """Run the rule from every start, (starts, out, in) by layer. The steps are a multiple of `instants`.

    `activations` is one function, or one for each hidden layer.
    """
    hidden = len(starts) - 1
    each = activations if isinstance(activations, tuple) else (activations,) * hidden
    given = tuple(jnp.asarray(w, float) for w in starts)
    weights, speeds, traces = _run(given, jnp.asarray(X), jnp.asarray(G), rule, each, instants)
    return Ends([np.asarray(w) for w in weights], np.asarray(speeds), np.asarray(traces))


@partial(jax.jit, static_argnames=("rule", "activations", "instants"))
def _run(starts, X, G, rule, activations, instants):
    loss = partial(_localized, X=X, G=G, activations=activations)
    lengths = rule.lr * (1 - np.arange(rule.steps) / rule.steps) ** rule.power
    several = partial(_several, step=partial(_step, loss=loss, normalised=rule.normalised), loss=loss)

    def one(weights):
        end, trace = jax.lax.scan(several, weights, jnp.asarray(lengths.reshape(instants, -1)))
        return end, -loss(end), trace

    return jax.lax.map(one, starts, batch_size=min(CHUNK, len(starts[0])))


def _several(weights, lengths, step, loss):
    """Some steps, and the speed before them."""
    return jax.lax.scan(step, weights, lengths)[0], -loss(weights)


def _localized(weights, X, G, activations):
    for matrix, activation in zip(weights[:-1], activations, strict=True):
        X = activation(matrix @ X)
    return jnp.sum(G * (weights[-1] @ X))


def _step(weights, length, loss, normalised):
    """One step, and back to the sphere of radius √L."""
    gradient, depth = jax.grad(loss)(weights), len(weights)
    if normalised:
        along = _dot(gradient, weights) / depth
        gradient = [g - along * w for g, w in zip(gradient, weights, strict=True)]
        # A dead start has no gradient: it stays where it is.
        length = length / jnp.maximum(jnp.sqrt(_dot(gradient, gradient)), 1e-200)
    moved = [w - length * g for w, g in zip(weights, gradient, strict=True)]
    scale = jnp.sqrt(depth / _dot(moved, moved))
    return tuple(scale * w for w in moved), None


def _dot(a, b):
    return sum(jnp.vdot(x, y) for x, y in zip(a, b, strict=True))
