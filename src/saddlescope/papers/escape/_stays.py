"""How long runs of `fig4` stay at the origin and on the plateau after it, and what two such stays can tell.

A run that ends while it stays gives a lower bound only.
"""

from typing import NamedTuple

import numpy as np

from saddlescope.papers.escape._readings import NEVER

RESOLVED = 4  # epochs: a shorter wait is known to a quarter or worse, too coarsely for a factor of two


class Stay(NamedTuple):
    """How long a run stays.

    **Arguments:**

    - `wait`: epochs at the origin; infinite where it is not left.
    - `length`: epochs of the plateau after that; 0 where there is none.
    - `more`: whether the run ends on it, so that it lasts longer than was seen.
    """

    wait: float
    length: float
    more: bool

    @property
    def share(self):
        """Length of the plateau over the wait at the origin."""
        return self.length / max(self.wait, 1)


def stay(run):
    waited = np.inf if run["wait"] == NEVER else float(run["wait"])
    if not run["rested"]:
        return Stay(waited, 0.0, False)
    return Stay(waited, float(run["rest_end"] - run["rest_start"]), not run["left"])


def said(found):
    """`16 after 4`, in epochs."""
    if np.isinf(found.wait):
        return "still at the origin"
    return f"{found.length:.0f}{' or more' if found.more else ''} after {found.wait:.0f}"


def longer_share(a, b):
    """Whether a rests longer than b for its wait. What still waits at the origin cannot tell, nor
    can a plateau that is shorter so far and still lasts."""
    if np.isinf(a.wait + b.wait):
        return None
    longer = a.share > b.share
    return None if (b.more if longer else a.more) else longer


def no_longer(a, b):
    """Whether a rests no longer than b. Two runs without a plateau cannot tell."""
    if np.isinf(a.wait + b.wait) or (a.length == b.length == 0):
        return None
    longer = a.length > b.length
    return None if (b.more if longer else a.more) else not longer


def seen_wait(run):
    """Epochs at the origin, and whether it was left."""
    left = bool(run["wait"] != NEVER)
    return float(run["wait"] if left else run["epochs"]), left


def factor_of_waits(a, b):
    """How many times the larger is the smaller. A run that is still at the origin gives a lower
    bound, which tells only if it is two or more. Waits of a few epochs tell nothing."""
    (first, left), (second, other) = a, b
    if min(first, second) < RESOLVED:
        return None
    factor = max(first, second) / min(first, second)
    return factor if (left and other) or ((left or other) and factor >= 2) else None
