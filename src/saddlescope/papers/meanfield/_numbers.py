"""Published numbers beside ours: met, refuted, or neither; and means that are compared."""

import numpy as np

from saddlescope.claims import FAILS, HOLDS, UNCLEAR
from saddlescope.statistics import mean_of, one_more


def word_for(published, values) -> str:
    """Met inside the interval of one more seed (95 %), refuted outside that of 99 %, else undecided."""
    low, high = one_more(values)
    if np.isnan(low):
        return UNCLEAR
    least, most = one_more(values, level=0.99)
    return HOLDS if low <= published <= high else UNCLEAR if least <= published <= most else FAILS


def lies_within(low, high, mean, half) -> str:
    """Whether an interval lies between two bounds, outside of them, or across one."""
    if np.isnan(half):
        return UNCLEAR
    if low <= mean - half and mean + half <= high:
        return HOLDS
    return FAILS if mean + half < low or mean - half > high else UNCLEAR


def difference(a, b) -> tuple[float, float]:
    """Mean of a - b over seeds that both have, and half its interval: the seeds are pairs."""
    n = min(len(a), len(b))
    return mean_of(np.asarray(a)[:n] - np.asarray(b)[:n]) if n else (np.nan, np.nan)


def above(mean, half) -> str:
    """Whether a difference lies above zero, below it, or neither."""
    if np.isnan(half):
        return UNCLEAR
    return HOLDS if mean - half > 0 else FAILS if mean + half < 0 else UNCLEAR
