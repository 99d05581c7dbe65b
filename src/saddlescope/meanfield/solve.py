"""Solve the limit by the method that fits: memory form, quadrature over the mixing law, or random particles."""

from collections.abc import Sequence

import numpy as np

from saddlescope.errors import InvalidInput, nearest, require
from saddlescope.meanfield.by_memory import flow_by_memory, has_closed_form
from saddlescope.meanfield.by_nodes import flow_by_particles, flow_by_quadrature
from saddlescope.meanfield.flow import Flow
from saddlescope.meanfield.limit import Limit
from saddlescope.meanfield.request import checked_request
from saddlescope.numerics import reproducible

SOLVERS = {"memory": flow_by_memory, "quadrature": flow_by_quadrature, "particles": flow_by_particles}
OPTIONS = {"memory": (), "quadrature": ("nodes", "implicit"), "particles": ("count", "seed", "implicit")}
COMMON = ("times", "solver", "rtol", "floor")
KERNEL_SECONDS = 4e-8
CHOSEN_SECONDS, ALLOWED_SECONDS = 60.0, 3600.0  # of the memory form: chosen by itself; asked for by name
MEMORY_FLOOR = 10.0  # the memory form's cost grows with the square of its steps, so that its floor is higher


@reproducible()
def flow_of_limit(
    limit: Limit,
    T: float,
    times: np.ndarray | Sequence[float] | int = 101,
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
    - `floor`: the shortest step. With a kinked activation it must be positive; the default is T/10,000 there, at
      most 0.01, and ten times that with the memory form.
    - `options`: `nodes` of the quadrature per coordinate, `count` and `seed` of the particles; `implicit=True` for
      long times (quadrature or particles, smooth activations).
    """
    given_floor = floor
    times, floor = checked_request(limit, T, times, rtol, floor)
    solver = solver or best_solver(limit, T, options)
    require(
        isinstance(solver, str) and solver in SOLVERS,
        f"`solver` must be memory, quadrature or particles; got {solver!r}.",
    )
    wrong = next((name for name in options if name not in OPTIONS[solver]), None)
    require(
        wrong is None,
        f"The solver {solver} has no option {wrong!r}; it has {', '.join(OPTIONS[solver]) or 'none'}."
        + nearest(wrong or "", (*OPTIONS[solver], *COMMON)),
    )
    implicit = options.get("implicit", False)
    require(isinstance(implicit, bool), f"`implicit` must be True or False; got {implicit!r}.")
    if solver == "memory":
        check_memory_cost(limit, T)
        floor = MEMORY_FLOOR * floor if given_floor is None else floor
    return SOLVERS[solver](limit, times, rtol, floor, **options)


def memory_seconds(limit: Limit, T: float) -> float:
    """What the memory form takes, roughly: its steps are limited by stability, to half a unit of time or so."""
    steps = 60 + 2 * T
    return 21 * steps**2 * len(limit.measure.x) ** 2 * limit.depth * KERNEL_SECONDS


def check_memory_cost(limit: Limit, T: float):
    """Refuse a time that the memory form cannot reach."""
    seconds = memory_seconds(limit, T)
    reach = (np.sqrt(ALLOWED_SECONDS / max(seconds, 1e-9)) * (60 + 2 * T) - 60) / 2
    require(
        seconds <= ALLOWED_SECONDS,
        f"The memory form keeps the whole past: time {T:g} with {len(limit.measure.x)} points would take about "
        f"{seconds / 3600:,.0f} hours. Ask for at most {max(reach, 0):.2g}, or use solver='quadrature', implicit=True.",
    )


def best_solver(limit: Limit, T: float, options=()) -> str:
    """The memory form where there is one and it takes less than a minute; else quadrature; else particles."""
    asked = next((name for name in SOLVERS if options and set(options) <= set(OPTIONS[name])), None)
    if asked:
        return asked
    if has_closed_form(limit) and (limit.depth == 0 or memory_seconds(limit, T) < CHOSEN_SECONDS):
        return "memory"
    try:
        limit.mixing.nodes(limit.rank, 24, limit.kinked)
    except InvalidInput:
        return "particles"
    return "quadrature"
