"""Solve the equations on nodes by an adaptive method of order 5 (Tsitouras), from saved time to saved time."""

from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from saddlescope.errors import InvalidInput
from saddlescope.meanfield.nodes import NodeSystem, State

MOST_STEPS = 100_000


class NodeFlow(NamedTuple):
    """A solution at the saved times.

    **Arguments:**

    - `times`: when.
    - `states`: Γ and weights, with the time as the first axis.
    - `steps`: the number of steps.
    - `on_floor`: the share of the time that went by in steps of the shortest length.
    """

    times: np.ndarray
    states: State
    steps: int
    on_floor: float


@eqx.filter_jit
def _solve(system, state, times, rtol, floor, most_steps):
    import diffrax  # takes half a second

    controller = diffrax.PIDController(rtol=rtol, atol=rtol, dtmin=floor, force_dtmin=True)
    saves = diffrax.SaveAt(
        subs=[diffrax.SubSaveAt(ts=times), diffrax.SubSaveAt(steps=True, t0=True, fn=lambda t, y, args: t)]
    )
    return diffrax.diffeqsolve(
        diffrax.ODETerm(system.velocity),
        diffrax.Tsit5(),
        times[0],
        times[-1],
        jnp.minimum(1e-3 * (times[-1] - times[0]), 1e-2),
        state,
        saveat=saves,
        stepsize_controller=controller,
        max_steps=most_steps,
        throw=False,
    )


def solve_nodes(system: NodeSystem, state: State, times: np.ndarray, rtol: float, floor: float) -> NodeFlow:
    """Follow the flow through `times`.

    **Arguments:**

    - `system`: the equations.
    - `state`: Γ and weights at times[0].
    - `times`: when to save, increasing.
    - `rtol`: relative and absolute tolerance of a step.
    - `floor`: the shortest step; 0 for none.
    """
    import diffrax

    numbers = (jnp.asarray(float(v)) for v in (rtol, floor))  # as arrays: one compilation for all values
    solution = _solve(system, state, jnp.asarray(times), *numbers, MOST_STEPS)
    states, ends = solution.ys
    if solution.result != diffrax.RESULTS.successful:
        reached = np.asarray(ends)[np.isfinite(ends)].max(initial=0.0)
        raise InvalidInput(
            f"The solver stopped at time {reached:.3g} of {times[-1]:g} after {MOST_STEPS:,} steps: the flow is stiff or "
            "slides along a kink. Ask for a shorter time, a larger floor, or a rounded activation."
        )
    ends = np.asarray(ends)
    lengths = np.diff(ends[np.isfinite(ends)])
    short = lengths[lengths <= floor * (1 + 1e-6)].sum() if floor else 0.0
    span = times[-1] - times[0]
    return NodeFlow(np.asarray(times), jax.tree.map(np.asarray, states), len(lengths), float(short / span))
