"""Where the plateaus lie, and whether a whole curve is the predicted one."""

import numpy as np

from saddlescope.checks.shares import Check, error_within
from saddlescope.claims import MOST


def plateau_levels(within: float, share: float = MOST) -> Check:
    """Each plateau between two drops lies at its predicted level, relative error."""

    def error(run):
        found = np.array([p.level for p in run.stages.plateaus])
        level = run.predicted["plateau_level"].values
        if len(found) != len(level) or len(level) < 3:
            return np.inf
        return float(np.max(np.abs(found[1:-1] / level[1:-1] - 1)))

    return error_within(error, within, "relative error of the level", share)


def curve(name: str, within: float, share: float = MOST) -> Check:
    """The measured curve is the predicted one, largest gap over the curve's start."""

    def error(run):
        a, b = run[name].values, run.predicted[name].values
        return float(np.max(np.abs(a - b)) / abs(a[0])) if a.shape == b.shape and a.size else np.inf

    return error_within(error, within, "largest gap over the start", share)
