"""What a flow is asked for: times, tolerance, the shortest step and schedules; each is right or refused in a sentence."""

import numpy as np

from saddlescope.errors import require
from saddlescope.meanfield.limit import Limit

FLOOR = 1e-4  # of the time, where a kink may hold the flow


def checked_request(limit: Limit, T: float, times: np.ndarray | int, rtol: float, floor: float | None):
    """The saved times and the shortest step."""
    times = checked_times(T, times)
    check_schedules(limit.schedules, times)
    require(0 < rtol <= 0.1, f"`rtol` must lie between 0 and 0.1; got {rtol!r}.")
    floor = FLOOR * T * limit.kinked if floor is None else floor
    require(np.isfinite(floor) and 0 <= floor <= T, f"`floor` must lie between 0 and T = {T:g}; got {floor!r}.")
    require(
        floor > 0 or not limit.kinked,
        f"With {type(limit.activation).__name__} the flow may slide along a kink, where no step is short enough: "
        "give a `floor` above 0, or use RoundedLeakyReLU.",
    )
    return times, floor


def checked_times(T, times) -> np.ndarray:
    """Saved times from 0 to T, or a sentence."""
    require(np.isscalar(T) and np.isfinite(T) and T > 0, f"T must be a positive time; got {T!r}.")
    if np.ndim(times) == 0:
        require(times == int(times) and times >= 2, f"`times` must be 2 or more, or the times themselves; got {times}.")
        return np.linspace(0, T, int(times))
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
