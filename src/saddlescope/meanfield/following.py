"""Follow the equations on nodes from a given state: what they show at given times, and when they reach a level."""

from collections.abc import Callable, Sequence
from typing import NamedTuple, cast

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from scipy.optimize import brentq

from saddlescope.errors import require
from saddlescope.meanfield.marching import attempt_step, flatten_systems, march_steps, march_system
from saddlescope.meanfield.nodes import NodeSystem, State


class Course(NamedTuple):
    """What a system shows at its saved times, as numpy arrays with the time as the first axis.

    **Arguments:**

    - `loss`: Σ π ℓ.
    - `channels`: the outputs of every block, point × output; the last are ŷ.
    - `slopes`: B = ∂ŷ/∂f¹, point × output × channel; empty for a net of one block.
    - `speed`: the largest |∂_t| of any weight or of Γ.
    """

    loss: np.ndarray
    channels: tuple[np.ndarray, ...]
    slopes: np.ndarray
    speed: np.ndarray


def follow_system(
    system: NodeSystem, state: State, times: np.ndarray, rtol: float = 1e-7, floor: float = 0.0
) -> Course:
    """Follow the equations of `nodes.py` from a state, by the steps of `marching`.

    It holds for smooth activations, and for kinked ones whose kinks are crossed. A flow that slides along a kink needs
    a floor. One velocity is compiled per shape.

    **Arguments:**

    - `system`: the equations, such as `net.system()` or `system_of(limit, rules)` give.
    - `state`: Γ and weights at times[0].
    - `times`: when to save, increasing.
    - `rtol`: the allowed error of one step, relative to 1 plus the largest number of the state.
    - `floor`: the shortest step on a kink; 0 for none.
    """
    states = march_system(system, state, times, rtol, floor).states
    found = _course(system, jnp.asarray(times, float), jax.tree.map(jnp.asarray, states))
    return Course(*jax.tree.map(np.asarray, found))


@eqx.filter_jit
def _course(system, times, states):
    def one(at):
        t, state = at
        rates = [jnp.abs(rate).max() for rate in jax.tree.leaves(system.velocity(t, state))]
        slopes = system.slopes(state) if system.blocks else jnp.zeros(0)
        return system.loss(state), system.channels(state), slopes, jnp.stack(rates).max()

    return jax.lax.map(one, (times, states))


def times_of_levels(
    system: NodeSystem,
    state: State,
    of: Callable,
    levels: Sequence[float] | np.ndarray,
    T: float,
    rtol: float = 1e-7,
    floor: float = 0.0,
) -> np.ndarray:
    """The first time at which a number of the state reaches each of several rising levels.

    With the flow y(t) from y(0), these are t_i = min {t in [0, T]: of(y(t)) ≥ level_i}. The time is 0 where the flow
    starts at the level or above, and inf where it stays below until T. It ends at the last level.

    The number is looked at after every step. In the step that reaches a level, the length is shortened until the step
    ends at that level: a root, whose error is that of the solver. An excursion within one step is not seen. It
    holds where `follow_system` holds.

    **Arguments:**

    - `system`, `rtol`, `floor`: as in `follow_system`.
    - `state`: Γ and weights at time 0.
    - `of`: a JAX function of system and state, such as `NodeSystem.overlap`. Pass the same function each time: another
      one is compiled again.
    - `levels`: the levels, rising; for a number that falls, take its negative.
    - `T`: the last time.
    """
    given = np.asarray(levels, float)
    require(
        given.ndim == 1 and given.size > 0 and bool((np.diff(given) > 0).all()),
        f"`levels` must be rising numbers, such as (0.05, 0.5); got {levels!r}.",
    )
    require(bool(np.isfinite(T)) and T > 0, f"T must be a positive time; got {T!r}.")
    flat, y = flatten_systems([(system, state)])

    def number(y):
        return float(flat.values(of, y)[0])

    found = [0.0] * int((given <= number(y)).sum())
    steps = march_steps(flat.velocity, y, np.array([0.0, T]), rtol, floor)
    while len(found) < len(given) and (step := next(steps, None)) is not None:
        reached = int((given <= number(step.after)).sum())
        found += [_crossing(flat.velocity, step, number, level, rtol) for level in given[len(found) : reached]]
    return np.append(found, np.full(len(given) - len(found), np.inf))


def _crossing(velocity, step, number, level, rtol):
    """When a step, taken from its start with a shorter length, ends at the level."""

    def gap(h):
        return number(attempt_step(velocity, step.start, step.before, step.slope, h, rtol)[0]) - level

    return step.start + cast(float, brentq(gap, 0.0, step.length))
