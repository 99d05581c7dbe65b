"""When each part of the task is learned."""

import numpy as np

from saddlescope.checks.shares import error_within
from saddlescope.claims import MOST


def half_strength(observable, within: float, share: float = MOST):
    """Each part of the task is half learned at the predicted step, relative error."""

    def error(run):
        times = run.times
        found = np.array([half_way(times, curve) for curve in run[observable.name].values.T])
        step = run.predicted["half_strength_step"].values
        return float(np.max(np.abs(found / step - 1))) if found.shape == step.shape else np.inf

    return error_within(error, within, "relative error of the half-strength steps", share)


def half_way(times, curve):
    """When a rising curve passes ½: on a line between two saved points in log-odds.

    A logistic rise is such a line.
    """
    after = int(np.argmax(curve >= 0.5))
    if after == 0 or not (0 < curve[after - 1] < 0.5 <= curve[after] < 1):
        return np.inf
    odds = np.log(curve[after - 1 : after + 1] / (1 - curve[after - 1 : after + 1]))
    return float(np.interp(0.0, odds, times[after - 1 : after + 1]))
