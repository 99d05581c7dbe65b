"""Systems of one shape, followed side by side: one compiled velocity, and one step length for all.

A whole solver of diffrax compiles for three seconds per shape; the velocity alone takes a tenth of that. The method is
Dormand and Prince's of orders 5 and 4.
"""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from scipy.integrate import RK45

from saddlescope.errors import InvalidInput
from saddlescope.meanfield.nodes import NodeSystem, State
from saddlescope.meanfield.step_length import StepLength

MOST_STEPS = 100_000


class NodeFlow(NamedTuple):
    """A solution at the saved times.

    **Arguments:**

    - `times`: when.
    - `states`: Γ and weights, with the time as the first axis; before it the system, if there are several.
    - `steps`: the number of steps.
    - `on_floor`: the share of the time that went by in steps of the shortest length.
    """

    times: np.ndarray
    states: State
    steps: int
    on_floor: float


def march_systems(
    systems: Sequence[tuple[NodeSystem, State]], times: np.ndarray, rtol: float, floor: float
) -> NodeFlow:
    """Γ and the weights of the blocks above the first, with system and time as the first two axes.

    **Arguments:**

    - `systems`: equations and their starts, all of one shape.
    - `times`: when to save, increasing from 0.
    - `rtol`: the allowed error of one step, relative to 1 plus the largest number of a state.
    - `floor`: the shortest step.
    """
    flat, y = flatten_systems(systems)
    saved, count, on_floor = [y], 0, 0.0
    for step in march_steps(flat.velocity, y, times, rtol, floor):
        count, on_floor = count + 1, on_floor + step.length * step.on_floor
        if step.at_saved_time:
            saved.append(step.after)
    states = _unflatten(np.stack(saved, axis=1), flat.shapes)
    return NodeFlow(np.asarray(times), states, count, on_floor / (times[-1] - times[0]))


def march_system(system: NodeSystem, state: State, times: np.ndarray, rtol: float, floor: float) -> NodeFlow:
    """One system; the arguments are those of `march_systems`."""
    flow = march_systems([(system, state)], times, rtol, floor)
    gamma, weights = flow.states
    return flow._replace(states=(gamma[0], tuple(w[0] for w in weights)))


class FlatSystems(NamedTuple):
    """Systems of one shape as flat lists. A state is one row of numbers per system.

    **Arguments:**

    - `tree`, `parts`: the systems, stacked; their structure, and their arrays and numbers.
    - `lanes`: for every part, the axis of the system; None for a part that all share.
    - `shapes`: of Γ and of the weights of every block.
    """

    tree: Any
    parts: list
    lanes: tuple
    shapes: tuple

    def velocity(self, t: float, y: np.ndarray) -> np.ndarray:
        """∂_t of every number of the states."""
        return np.asarray(_velocity(self.tree, self.lanes, self.shapes, self.parts, float(t), y))

    def values(self, of: Callable, y: np.ndarray) -> np.ndarray:
        """of(system, state) of every system; compiled once per function and shape."""
        return np.asarray(_values(self.tree, self.lanes, self.shapes, of, self.parts, y))


def flatten_systems(systems: Sequence[tuple[NodeSystem, State]]) -> tuple[FlatSystems, np.ndarray]:
    """Systems of one shape as flat lists, and their states, system × number."""
    parts, tree = jax.tree.flatten(_stack([s for s, _ in systems]))
    leaves = jax.tree.leaves(_stack([s for _, s in systems]))
    lanes = tuple(0 if eqx.is_array(part) else None for part in parts)
    shapes = tuple(leaf.shape[1:] for leaf in leaves)
    y = np.concatenate([np.asarray(leaf).reshape(len(systems), -1) for leaf in leaves], axis=1)
    return FlatSystems(tree, parts, lanes, shapes), y


class Step(NamedTuple):
    """One step that was taken.

    **Arguments:**

    - `start`, `length`: when it starts, and how long it is.
    - `before`, `slope`: the states at its start, and their velocity.
    - `after`: the states at its end.
    - `on_floor`: whether its error was too large, and the step as short as is allowed.
    - `at_saved_time`: whether it ends at one of the times.
    """

    start: float
    length: float
    before: np.ndarray
    slope: np.ndarray
    after: np.ndarray
    on_floor: bool
    at_saved_time: bool


def march_steps(velocity: Callable, y: np.ndarray, times: np.ndarray, rtol: float, floor: float) -> Iterator[Step]:
    """Take the steps through `times`, one by one; other arguments as in `march_systems`.

    **Arguments:**

    - `velocity`: a function of the time and the states.
    - `y`: the states at times[0].
    """
    t, slope, length, steps = times[0], velocity(times[0], y), StepLength(floor, rtol), 0
    for end in times[1:]:
        while t < end:
            last = t + length.next >= end * (1 - 1e-15)
            h = end - t if last else length.next
            new, new_slope, error = attempt_step(velocity, t, y, slope, h, rtol)
            if length.takes(h, error, end, last):
                yield Step(t, h, y, slope, new, error > 1, last)
                t, y, slope, steps = end if last else t + h, new, new_slope, steps + 1
            if steps > MOST_STEPS:
                raise InvalidInput(_said_of_end(t, times[-1]))


def _said_of_end(reached, end):
    remedy = "implicit=True with a smooth activation"
    where = f"The solver stopped at time {reached:.3g} of {end:g} after {MOST_STEPS:,} steps"
    return f"{where}. Ask for a shorter time, or {remedy}."


def attempt_step(
    velocity: Callable, t: float, y: np.ndarray, slope: np.ndarray, h: float, rtol: float
) -> tuple[np.ndarray, np.ndarray, float]:
    """States and velocity after a step of length `h`, and its error over what is allowed.

    **Arguments:**

    - `velocity`, `rtol`: as in `march_steps`.
    - `t`, `y`, `slope`: time, states and velocity before the step.
    - `h`: the length of the step.
    """
    slopes = [slope]
    for a, c in zip(RK45.A[1:], RK45.C[1:], strict=True):
        step = sum(w * k for w, k in zip(a, slopes, strict=False))
        slopes.append(velocity(t + c * h, y + h * step))
    new = y + h * sum(w * k for w, k in zip(RK45.B, slopes, strict=True))
    slopes.append(velocity(t + h, new))
    gap = np.abs(h * sum(w * k for w, k in zip(RK45.E, slopes, strict=True))).max(axis=1)
    worst = float((gap / (rtol * (1 + np.abs(new).max(axis=1)))).max())
    return new, slopes[-1], worst if np.isfinite(worst) else np.inf  # NaN would be neither accepted nor rejected


# Plain jit on flat lists: a call costs 20 µs, where equinox's would cost ten times that.
@partial(jax.jit, static_argnums=(0, 1, 2))
def _velocity(tree, lanes, shapes, parts, t, y):
    def one(parts, y):
        system = jax.tree.unflatten(tree, parts)
        rates = jax.tree.leaves(system.velocity(t, _unflatten(y, shapes)))
        return jnp.concatenate([rate.ravel() for rate in rates])

    return jax.vmap(one, in_axes=(list(lanes), 0))(parts, y)


@partial(jax.jit, static_argnums=(0, 1, 2, 3))
def _values(tree, lanes, shapes, of, parts, y):
    def one(parts, y):
        return of(jax.tree.unflatten(tree, parts), _unflatten(y, shapes))

    return jax.vmap(one, in_axes=(list(lanes), 0))(parts, y)


def _unflatten(y, shapes) -> State:
    ends = np.cumsum([int(np.prod(shape)) for shape in shapes])
    parts = [y[..., e - int(np.prod(s)) : e] for s, e in zip(shapes, ends, strict=True)]
    first, *rest = (p.reshape(*y.shape[:-1], *s) for p, s in zip(parts, shapes, strict=True))
    return first, tuple(rest)


def _stack(trees):
    return jax.tree.map(lambda *a: jnp.stack(a) if eqx.is_array(a[0]) else a[0], *trees)
