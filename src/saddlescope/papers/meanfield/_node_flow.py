"""Flows on nodes by scipy: seconds less compilation than diffrax where every width is a shape of its
own.

It is for activations that are smooth, or whose kinks are crossed and not slid along. A state is one
flat array here.
"""

from collections.abc import Callable

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from scipy.integrate import solve_ivp

from saddlescope.meanfield.nodes import NodeSystem


def flat_of(state) -> np.ndarray:
    """Γ and the weights of every block in one array."""
    return np.concatenate([np.ravel(a) for a in (state[0], *state[1])])


def _shaped(system, z):
    rank, outputs = system.first.shape[1], system.targets.shape[1]
    shapes = [(len(b.weights), rank) for b in system.blocks[:-1]]
    shapes += [(len(b.weights), outputs) for b in system.blocks[-1:]]
    ends = np.cumsum([system.first.size, *(a * b for a, b in shapes)])
    parts = jnp.split(z, ends[:-1])
    return parts[0].reshape(system.first.shape), tuple(p.reshape(s) for p, s in zip(parts[1:], shapes, strict=True))


@eqx.filter_jit
def _velocity(system, z):
    gamma, weights = system.velocity(0.0, _shaped(system, z))
    return jnp.concatenate([gamma.ravel(), *(w.ravel() for w in weights)])


@eqx.filter_jit
def _overlap(system, z):
    outputs = system.channels(_shaped(system, z))[-1]
    return system.probabilities @ (system.targets * outputs).sum(axis=1)


@eqx.filter_jit
def _seen(system, z):
    def one(z):
        state = _shaped(system, z)
        return system.loss(state), system.channels(state), system.slopes(state)

    return jax.lax.map(one, z)


def follow_nodes(system: NodeSystem, start, times: np.ndarray, rtol: float = 1e-8, method: str = "DOP853"):
    """States at `times`, time × number.

    **Arguments:**

    - `system`, `start`: the equations and the state at times[0].
    - `times`: when to save.
    - `rtol`, `method`: of scipy's solver.
    """
    found = solve_ivp(
        _right_side(system), (times[0], times[-1]), flat_of(start), method, times, rtol=rtol, atol=rtol * 1e-2
    )
    return found.y.T


def times_of_overlap(system: NodeSystem, start, levels, T: float, rtol: float = 1e-7) -> list[float]:
    """When E yŷ first reaches each of the rising `levels` before T; 0 where it starts above, −1 where it does not."""
    first = float(_overlap(system, flat_of(start)))

    def event(level):
        def gap(_, z):
            return float(_overlap(system, z)) - level

        gap.terminal, gap.direction = level == levels[-1], 1
        return gap

    found = solve_ivp(
        _right_side(system),
        (0, T),
        flat_of(start),
        "DOP853",
        rtol=rtol,
        atol=rtol * 1e-2,
        events=[event(level) for level in levels],
    )
    reached = [float(t[0]) if len(t) else -1.0 for t in found.t_events]
    return [0.0 if first >= level else t for level, t in zip(levels, reached, strict=True)]


def _right_side(system) -> Callable:
    return lambda _, z: np.asarray(_velocity(system, z))


def seen(system: NodeSystem, states: np.ndarray):
    """Loss, channels of every block and B at every state, as numpy arrays."""
    return jax.tree.map(np.asarray, _seen(system, states))


def speed(system: NodeSystem, state: np.ndarray) -> float:
    """The largest derivative of any weight or of Γ."""
    return float(np.abs(_velocity(system, state)).max())
