"""When each part of the task is learned."""

from typing import TYPE_CHECKING

import numpy as np

from saddlescope.checks.shares import Check, error_within
from saddlescope.claims import MOST

if TYPE_CHECKING:  # observables bring JAX, which readers do without
    from saddlescope.observables import Observable


def half_strength(observable: "Observable", within: float, share: float = MOST) -> Check:
    """Each part of the task is half learned at the predicted step, relative error."""

    def error(run):
        times = run.times
        found = np.array([half_way(times, curve) for curve in run[observable.name].values.T])
        step = run.predicted["half_strength_step"].values
        return float(np.max(np.abs(found / step - 1))) if found.shape == step.shape else np.inf

    return error_within(error, within, "relative error of the half-strength steps", share)


def half_way(times: np.ndarray, curve: np.ndarray) -> float:
    """When a rising curve passes ½: on a line between two saved points in log-odds.

    A logistic rise is such a line.
    """
    after = int(np.argmax(curve >= 0.5))
    if after == 0 or not (0 < curve[after - 1] < 0.5 <= curve[after] < 1):
        return np.inf
    odds = np.log(curve[after - 1 : after + 1] / (1 - curve[after - 1 : after + 1]))
    return float(np.interp(0.0, odds, times[after - 1 : after + 1]))
