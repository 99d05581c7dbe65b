"""Solve the equations on nodes by adaptive methods of order 5.

Smooth flows take the steps of Dormand and Prince (`marching`), which compile fast. A kink makes thousands of short
steps: Tsitouras's, in compiled code. Stiff flows take Kvaerno's implicit ones.
"""

from typing import cast

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from saddlescope.errors import InvalidInput, require
from saddlescope.meanfield.marching import MOST_STEPS, NodeFlow, march_system
from saddlescope.meanfield.nodes import NodeSystem, State
from saddlescope.nets.activation import is_kinked

MOST_NUMBERS = 4000  # of a state whose implicit steps solve dense linear systems


def solve_nodes(
    system: NodeSystem, state: State, times: np.ndarray, rtol: float, floor: float, implicit: bool = False
) -> NodeFlow:
    """Follow the flow through `times`.

    **Arguments:**

    - `system`: the equations.
    - `state`: Γ and weights at times[0].
    - `times`: when to save, increasing.
    - `rtol`: relative and absolute tolerance of a step.
    - `floor`: the shortest step on a kink; 0 for none.
    - `implicit`: take implicit steps, whose length stiffness does not limit.
    """
    if implicit:
        _check_implicit(system, state)
    elif not is_kinked(system.activation):
        return march_system(system, state, times, rtol, floor)
    return _solve_compiled(system, state, times, rtol, floor, implicit)


def _solve_compiled(system, state, times, rtol, floor, implicit) -> NodeFlow:
    import diffrax  # takes half a second

    # As arrays: one compilation for all values.
    rtol_, floor_, when = (jnp.asarray(v, float) for v in (rtol, floor, times))
    states, ends, result = _compiled(system, state, when, rtol_, floor_, implicit)
    ends = np.asarray(ends)[np.isfinite(ends)]
    if result != diffrax.RESULTS.successful:
        raise InvalidInput(_said_of_end(ends.max(initial=0.0), times[-1], len(ends) - 1, implicit))
    lengths = np.diff(ends)
    short = lengths[lengths <= floor * (1 + 1e-6)].sum() if floor else 0.0
    span = times[-1] - times[0]
    return NodeFlow(np.asarray(times), jax.tree.map(np.asarray, states), len(lengths), float(short / span))


@eqx.filter_jit
def _compiled(system, state, times, rtol, floor, implicit):
    import diffrax

    # As a plain list: diffrax stumbles over the empty tuple of a net without blocks above the first.
    leaves, structure = jax.tree.flatten(state)

    def velocity(t, leaves, _):
        return jax.tree.leaves(system.velocity(t, structure.unflatten(leaves)))

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
        stepsize_controller=diffrax.PIDController(rtol=rtol, atol=rtol, dtmin=floor, force_dtmin=True),
        max_steps=MOST_STEPS,
        throw=False,
    )
    saved, ends = cast(tuple, solution.ys)
    return structure.unflatten(saved), ends, solution.result


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


def _said_of_end(reached, end, steps, implicit):
    """Why a solver stopped, and what to do."""
    remedy = "" if implicit else ", or a smaller floor" if steps < MOST_STEPS / 2 else ", or a larger floor"
    return f"The solver stopped at time {reached:.3g} of {end:g} after {steps:,} steps. Ask for a shorter time{remedy}."
