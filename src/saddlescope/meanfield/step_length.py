"""Whether a step is taken, and how long the next one is; for methods of order five."""

import numpy as np

from saddlescope.errors import InvalidInput

FIRST = 0.01  # the first step to try
SAFETY, SHRINK, GROW = 0.9, 0.2, 5.0
ROUGHEST = 0.01  # the largest relative error of a step on the floor
SHORTEST = 1e-14  # of the end: no shorter step moves the time
COARSER, HIGHER = 100.0, 4.0  # tolerance and floor of a second run that estimates the error, over those of the first


class StepLength:
    """The length of the steps of one flow.

    Where the flow slides along a kink no step is short enough: errors fall as the step, not as its
    fifth power. There, and only there, steps are as long as the floor.

    **Arguments:**

    - `floor`: the shortest step on a kink; elsewhere steps may be shorter.
    - `rtol`: the relative error that an error of 1 stands for.
    """

    def __init__(self, floor: float, rtol: float):
        self.next, self.rtol = FIRST, rtol
        self.floor = floor * (1 + 1e-9)  # a gap between saved times may be a floor, but for rounding
        self._on_kink, self._longer = False, None

    def takes(self, taken: float, error: float, end: float, last: bool) -> bool:
        """Whether a step is taken; sets `next`.

        **Arguments:**

        - `taken`, `error`: the step's length, and its error over what is allowed.
        - `end`: the time to go to.
        - `last`: whether the step was cut short there, so that it says little about the next one.
        """
        error = error if np.isfinite(error) else np.inf
        factor = float(np.clip(SAFETY * max(error, 1e-10) ** -0.2, SHRINK, GROW))
        if error <= 1:
            self._on_kink, self._longer = False, None
            self.next = max(self.next, taken * factor) if last and factor > 1 else taken * factor
            return True
        if taken <= SHORTEST * end:
            raise InvalidInput(
                f"No step is short enough for this flow: {taken:.1e} still has too large an error. Its numbers may be "
                "too large: scale inputs, targets and start to about 1, or ask for a larger rtol."
            )
        if taken > self.floor:
            self.next = max(taken * factor, self.floor)
            return False
        if self._held(taken, error):
            self.next = self.floor
            return True
        self.next = taken / 4
        return False

    def _held(self, taken, error):
        """Whether a kink holds the flow: from the longer step to this one the error has not fallen as h²."""
        if error * self.rtol > ROUGHEST:
            return False
        if not self._on_kink:
            longer, self._longer = self._longer, (taken, error)
            self._on_kink = longer is not None and error > longer[1] * (taken / longer[0]) ** 2
        return self._on_kink
