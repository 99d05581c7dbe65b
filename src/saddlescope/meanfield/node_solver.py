"""Solve the equations on nodes by adaptive methods of order 5: Tsitouras's, or Kvaerno's where the flow is stiff."""

from typing import NamedTuple, cast

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from saddlescope.errors import InvalidInput, require
from saddlescope.meanfield.nodes import NodeSystem, State
from saddlescope.nets.activation import is_kinked

MOST_STEPS = 100_000
MOST_NUMBERS = 4000  # of a state whose implicit steps solve dense linear systems


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
def _solve(system, state, times, rtol, floor, most_steps, implicit):
    import diffrax  # takes half a second

    # As a plain list: diffrax stumbles over the empty tuple of a net without blocks above the first.
    leaves, structure = jax.tree.flatten(state)

    def velocity(t, leaves, _):
        return jax.tree.leaves(system.velocity(t, structure.unflatten(leaves)))

    controller = diffrax.PIDController(rtol=rtol, atol=rtol, dtmin=floor, force_dtmin=True)
    saves = diffrax.SaveAt(
        subs=[diffrax.SubSaveAt(ts=times), diffrax.SubSaveAt(steps=True, t0=True, fn=lambda t, y, args: t)]
    )
    solution = diffrax.diffeqsolve(
        diffrax.ODETerm(velocity),
        diffrax.Kvaerno5() if implicit else diffrax.Tsit5(),
        times[0],
        times[-1],
        jnp.minimum(1e-3 * (times[-1] - times[0]), 1e-2),
        leaves,
        saveat=saves,
        stepsize_controller=controller,
        max_steps=most_steps,
        throw=False,
    )
    saved, ends = cast(tuple, solution.ys)
    return structure.unflatten(saved), ends, solution.result


def solve_nodes(
    system: NodeSystem, state: State, times: np.ndarray, rtol: float, floor: float, implicit: bool = False
) -> NodeFlow:
    """Follow the flow through `times`.

    **Arguments:**

    - `system`: the equations.
    - `state`: Γ and weights at times[0].
    - `times`: when to save, increasing.
    - `rtol`: relative and absolute tolerance of a step.
    - `floor`: the shortest step; 0 for none.
    - `implicit`: take implicit steps, whose length stiffness does not limit.
    """
    import diffrax

    if implicit:
        _check_implicit(system, state)
    # As arrays: one compilation for all values.
    rtol_, floor_, when = (jnp.asarray(v, float) for v in (rtol, floor, times))
    states, ends, result = _solve(system, state, when, rtol_, floor_, MOST_STEPS, implicit)
    ends = np.asarray(ends)[np.isfinite(ends)]
    if result != diffrax.RESULTS.successful:
        raise InvalidInput(_said_of_end(ends.max(initial=0.0), times[-1], len(ends) - 1, implicit, floor))
    lengths = np.diff(ends)
    short = lengths[lengths <= floor * (1 + 1e-6)].sum() if floor else 0.0
    span = times[-1] - times[0]
    return NodeFlow(np.asarray(times), jax.tree.map(np.asarray, states), len(lengths), float(short / span))


def _check_implicit(system, state):
    numbers = sum(a.size for a in jax.tree.leaves(state))
    require(
        not is_kinked(system.activation),
        f"Implicit steps need a smooth activation; got {type(system.activation).__name__}. Use RoundedLeakyReLU.",
    )
    require(
        numbers <= MOST_NUMBERS,
        f"Implicit steps solve dense systems: at most {MOST_NUMBERS:,} numbers in Γ and weights; got {numbers:,}. "
        "Use fewer nodes, particles or neurons.",
    )


def _said_of_end(reached, end, steps, implicit, floor):
    """Why a solver stopped, and what to do."""
    remedy = "" if implicit else ", or implicit=True with a smooth activation"
    if floor and steps < MOST_STEPS / 2:
        remedy = ", or a smaller floor"
    where = f"The solver stopped at time {reached:.3g} of {end:g} after {steps:,} steps"
    return f"{where}. Ask for a shorter time{remedy}."
