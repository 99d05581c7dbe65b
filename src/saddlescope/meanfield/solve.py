"""Solve the limit by the method that fits: memory form, quadrature over the mixing law, or random particles."""

import numpy as np

from saddlescope.errors import InvalidInput, require
from saddlescope.meanfield.by_memory import flow_by_memory
from saddlescope.meanfield.by_nodes import flow_by_particles, flow_by_quadrature
from saddlescope.meanfield.flow import Flow
from saddlescope.meanfield.limit import Limit
from saddlescope.numerics import reproducible
from saddlescope.theory.meanfield.kernel import closed_form

SOLVERS = {"memory": flow_by_memory, "quadrature": flow_by_quadrature, "particles": flow_by_particles}
KERNEL_SECONDS, ALLOWED_SECONDS = 4e-8, 60.0
FLOOR = 1e-4  # of the time, where a kink may hold the flow


@reproducible()
def flow_of_limit(
    limit: Limit,
    T: float,
    times: np.ndarray | int = 101,
    solver: str | None = None,
    rtol: float = 1e-9,
    floor: float | None = None,
    **options,
) -> Flow:
    """Follow the limit to time T.

    **Arguments:**

    - `limit`: what to solve.
    - `T`: the end.
    - `times`: when to save, from 0 to T; a number asks for that many times, equally spaced.
    - `solver`: "memory", "quadrature" or "particles"; by default the best that fits.
    - `rtol`: tolerance of one step.
    - `floor`: the shortest step. With a kinked activation it must be positive; the default is T/10,000 there.
    - `options`: `nodes` of the quadrature per coordinate, `count` and `seed` of the particles.
    """
    times = checked_times(T, times)
    check_schedules(limit.schedules, times)
    floor = FLOOR * T * limit.kinked if floor is None else floor
    require(
        floor > 0 or not limit.kinked,
        f"With {type(limit.activation).__name__} the flow may slide along a kink, where no step is short enough: "
        "give a `floor` above 0, or use RoundedLeakyReLU.",
    )
    solver = solver or best_solver(limit, T)
    require(solver in SOLVERS, f"`solver` must be memory, quadrature or particles; got {solver!r}.")
    return SOLVERS[solver](limit, times, rtol, floor, **options)


def checked_times(T, times) -> np.ndarray:
    """Saved times from 0 to T, or a sentence."""
    require(np.isfinite(T) and T > 0, f"T must be a positive time; got {T!r}.")
    if np.ndim(times) == 0:
        return np.linspace(0, T, max(int(times), 2))
    times = np.asarray(times, float)
    rising = times.ndim == 1 and len(times) > 1 and times[0] == 0 and times[-1] == T and (np.diff(times) > 0).all()
    require(rising, f"`times` must rise from 0 to T = {T:g}.")
    return times


def check_schedules(schedules, times):
    """Refuse a learning rate that goes below zero."""
    fine = np.linspace(times[0], times[-1], 1001)
    for i, schedule in enumerate(schedules, 1):
        values = np.array([float(schedule(t)) for t in fine])
        require(
            np.isfinite(values).all() and (values >= 0).all(),
            f"The schedule of block {i} must stay at 0 or above; it is {values.min():.3g} at time "
            f"{fine[values.argmin()]:.3g}.",
        )


def best_solver(limit: Limit, T: float) -> str:
    """The memory form where there is one and it takes less than a minute; else quadrature; else particles."""
    if limit.depth == 0:
        return "memory" if limit.mixing.deviations(limit.rank) is not None else "quadrature"
    exact = closed_form(limit.activation) is not None and limit.mixing.deviations(limit.rank) is not None
    steps = 60 + 2 * T  # a step of two or so per unit of time at the tolerance of 1e-9
    cost = 21 * steps**2 * len(limit.measure.x) ** 2 * limit.depth * KERNEL_SECONDS
    if exact and cost < ALLOWED_SECONDS:
        return "memory"
    try:
        limit.mixing.nodes(limit.rank, 24, limit.kinked)
    except InvalidInput:
        return "particles"
    return "quadrature"
