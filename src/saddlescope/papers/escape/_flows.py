"""What several experiments of the escape paper share: random data, initial draws, and an
independent solver.

The solver is scipy's DOP853 on the flow in t, with a gradient of its own (JAX), so that it shares
no code with `theory`. Adaptive solvers stall where the flow slides along a kink of a ReLU: it stops
after a budget of evaluations and says how far it came. `stepped_time` takes small explicit steps
instead, which pass kinks, for flows from any start.
"""

from collections.abc import Callable
from functools import partial
from itertools import pairwise
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from scipy.integrate import DOP853, OdeSolution

from saddlescope.errors import InvalidInput
from saddlescope.theory.escape.one_neuron import one_neuron_direction


def random_data(rng, inputs=3, points=8, outputs=2):
    """Gaussian X, and Gaussian G over the number of points."""
    return rng.standard_normal((inputs, points)), rng.standard_normal((outputs, points)) / points


def data_with_direction(rng, **sizes):
    """Random data that have a one-neuron escape direction off the kinks: X, G, u, y and its
    speed."""
    while True:
        X, G = random_data(rng, **sizes)
        try:
            return X, G, *one_neuron_direction(X, G, rng)
        except InvalidInput:  # about one data set in four has none: its optima lie on kinks
            continue


def drawn_weights(rng, X, outputs, depth, width):
    """Gaussian weights of a net of this depth, scaled to ‖θ‖ = 1; drawn again where the net is
    dead: Y = 0."""
    widths = (len(X), *(width,) * (depth - 1), outputs)
    while True:
        weights = [rng.standard_normal((b, a)) for a, b in pairwise(widths)]
        norm = np.sqrt(sum(np.sum(w * w) for w in weights))
        weights = [w / norm for w in weights]
        if np.any(outputs_of(weights, X)):
            return weights


def outputs_of(weights, x):
    """Y_θ in JAX; its derivative at a kink is 0."""
    for matrix in weights[:-1]:
        x = jax.nn.relu(matrix @ x)
    return weights[-1] @ x


def localized(weights, x, g):
    return jnp.sum(g * outputs_of(weights, x))


_gradient = jax.jit(jax.grad(localized))


class Solved(NamedTuple):
    """A flow that the solver followed.

    **Arguments:**

    - `times`: its steps.
    - `of`: the weights, as matrices, at any time up to the last.
    """

    times: np.ndarray
    of: Callable

    def norm(self, t):
        return float(np.sqrt(sum(np.sum(w * w) for w in self.of(t))))

    def clock(self, power, at):
        """∫ ‖θ‖^power dt up to each of these times, by Gauss's rule with five points within steps
        of the solver."""
        nodes, weights = np.polynomial.legendre.leggauss(5)
        ends = np.unique(np.concatenate([self.times, at]))
        parts = [
            (b - a) / 2 * weights @ [self.norm((a + b) / 2 + (b - a) / 2 * x) ** power for x in nodes]
            for a, b in pairwise(ends)
        ]
        return np.concatenate([[0.0], np.cumsum(parts)])[np.searchsorted(ends, at)]


def solved_flow(weights, x, g, until, budget=4000, rtol=1e-10) -> Solved:
    """The localized flow in t. It ends where until(t, norm) is true, or where the budget of
    gradients is spent."""
    shapes, ends = [w.shape for w in weights], np.cumsum([w.size for w in weights])[:-1]
    matrices = lambda z: [p.reshape(s) for p, s in zip(np.split(z, ends), shapes, strict=True)]  # noqa: E731

    def velocity(t, z):
        return -np.concatenate([np.ravel(d) for d in _gradient(matrices(z), x, g)])

    start = np.concatenate([w.ravel() for w in weights])
    solver = DOP853(velocity, 0.0, start, np.inf, rtol=rtol, atol=rtol * 1e-3 * float(np.linalg.norm(start)))
    times, pieces = [0.0], []
    while solver.nfev < budget and not until(solver.t, np.linalg.norm(solver.y)):
        solver.step()
        if solver.status == "failed":
            break
        times.append(solver.t)
        pieces.append(solver.dense_output())
    path = OdeSolution(times, pieces)
    return Solved(np.array(times), lambda t: matrices(path(t)))


TURN, MOST_STEPS = 1 / 256, 50_000  # of ‖θ‖ moved per step, and steps after which a flow is given up
SHRUNK = 1e-4  # of the norm at the start: such a flow goes to the origin


def stepped_time(weights, x, g, level) -> float:
    """When ‖Y‖_F first reaches a level on the localized flow, by Heun's rule; infinite where it never
    does."""
    k, time, end = _stepped(tuple(map(jnp.asarray, weights)), jnp.asarray(x), jnp.asarray(g), level)
    reached = k < MOST_STEPS and jnp.linalg.norm(outputs_of(end, x)) >= level
    return float(time) if reached else np.inf


@jax.jit
def _stepped(weights, x, g, level):
    least = SHRUNK * _norm(weights)

    def unfinished(state):
        k, _, now = state
        small = jnp.linalg.norm(outputs_of(now, x)) < level
        return small & (k < MOST_STEPS) & (_norm(now) > least)

    return jax.lax.while_loop(unfinished, partial(_heun, x=x, g=g), (0, 0.0, weights))


def _heun(state, x, g):
    k, time, now = state
    first = jax.grad(localized)(now, x, g)
    h = TURN * _norm(now) / jnp.maximum(_norm(first), 1e-300)
    second = jax.grad(localized)(tuple(w - h * d for w, d in zip(now, first, strict=True)), x, g)
    moved = tuple(w - h / 2 * (a + b) for w, a, b in zip(now, first, second, strict=True))
    return k + 1, time + h, moved


def _norm(weights):
    return jnp.sqrt(sum(jnp.vdot(w, w) for w in weights))
