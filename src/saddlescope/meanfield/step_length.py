"""Whether a step is taken, and how long the next one is; for methods of order five."""

import numpy as np

from saddlescope.errors import InvalidInput

SAFETY, SHRINK, GROW = 0.9, 0.2, 5.0
ROUGHEST = 0.05  # relative error of a step on the floor: a kink makes less, an unstable step far more
SHORTEST = 1e-14  # of the end: no shorter step moves the time


def is_taken(error: float, taken: float, floor: float, rtol: float) -> bool:
    """Whether the step is good, or as short as the floor allows and not wild.

    **Arguments:**

    - `error`: of the step, over what is allowed; NaN where a number overflowed.
    - `taken`: its length.
    - `floor`: the shortest step that a kink may ask for.
    - `rtol`: what is allowed, as a relative error.
    """
    return error <= 1 or (taken <= floor and error * rtol <= ROUGHEST)


def factor_of(error: float, taken: float, end: float) -> float:
    """The next step over this one; a sentence where none is short enough.

    **Arguments:**

    - `error`, `taken`: of the step, as above.
    - `end`: of the flow.
    """
    if not error <= 1 and taken <= SHORTEST * end:
        raise InvalidInput(
            f"No step is short enough for this flow: {taken:.1e} still has too large an error. Its numbers may be too "
            "large: scale inputs, targets and start to about 1, or ask for a larger rtol."
        )
    return float(np.clip(SAFETY * max(error, 1e-10) ** -0.2, SHRINK, GROW)) if np.isfinite(error) else SHRINK
