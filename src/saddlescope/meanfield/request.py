"""What a flow is asked for: times, tolerance, the shortest step, schedules. Each is right, or refused in a sentence."""

from collections.abc import Sequence

import numpy as np

from saddlescope.errors import InvalidInput, require
from saddlescope.meanfield.limit import Limit
from saddlescope.meanfield.numbers import is_number

MOST_TIMES = 100_000
FLOOR, HIGHEST_FLOOR = 1e-4, 0.01  # of the time, where a kink may hold the flow; and at most


def checked_request(
    limit: Limit, T: float, times: np.ndarray | Sequence[float] | int, rtol: float, floor: float | None
):
    """The saved times and the shortest step."""
    times = checked_times(T, times)
    check_schedules(limit.schedules, times)
    require(is_number(rtol) and 0 < rtol <= 0.1, f"`rtol` must lie between 0 and 0.1; got {rtol!r}.")
    floor = least_step(T) * limit.kinked if floor is None else floor
    require(is_number(floor) and 0 <= floor <= T, f"`floor` must lie between 0 and T = {T:g}; got {floor!r}.")
    require(
        floor > 0 or not limit.kinked,
        f"With {type(limit.activation).__name__} the flow may slide along a kink, where no step is short enough: "
        "give a `floor` above 0, or use RoundedLeakyReLU.",
    )
    return times, floor


def least_step(T: float) -> float:
    """The shortest step with a kink, where none was asked for."""
    return min(FLOOR * T, HIGHEST_FLOOR)


def checked_times(T: float, times) -> np.ndarray:
    """Saved times from 0 to T, or a sentence."""
    require(is_number(T) and T > 0, f"T must be a positive time; got {T!r}.")
    if is_number(times):
        few = times == int(times) and 2 <= times <= MOST_TIMES
        require(few, f"`times` must be 2 to {MOST_TIMES:,}, or the times themselves; got {times}.")
        return np.linspace(0, T, int(times))
    try:
        times = np.asarray(times, float)
    except (TypeError, ValueError):
        raise InvalidInput(f"`times` must be how many, or the times themselves; got {times!r}.") from None
    rising = times.ndim == 1 and len(times) > 1 and times[0] == 0 and times[-1] == T and (np.diff(times) > 0).all()
    require(rising, f"`times` must rise from 0 to T = {T:g}.")
    return times


def check_schedules(schedules, times):
    """Refuse a learning rate that is no number, or goes below zero."""
    fine = np.linspace(times[0], times[-1], 1001)
    for i, schedule in enumerate(schedules, 1):
        values = np.array([_rate(i, schedule, t) for t in fine])
        require(
            np.isfinite(values).all() and (values >= 0).all(),
            f"The schedule of block {i} must stay at 0 or above; it is {values.min():.3g} at time "
            f"{fine[values.argmin()]:.3g}.",
        )


def _rate(block, schedule, t):
    rate = np.asarray(schedule(t))
    if rate.ndim > 0 or not np.issubdtype(rate.dtype, np.number):
        raise InvalidInput(f"The schedule of block {block} must give one number per time; it gave {rate!r}.")
    return float(rate)
