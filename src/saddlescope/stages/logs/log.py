"""What a log holds, whoever wrote it: named series of numbers over steps."""

from dataclasses import dataclass, field

import numpy as np


@dataclass(frozen=True)
class Series:
    """One series of a log, in the order in which it was written.

    **Arguments:**

    - `time`: the step of each value, or None where the log has none.
    - `values`: the numbers.
    """

    time: np.ndarray | None
    values: np.ndarray


@dataclass(frozen=True)
class Log:
    """All series of one log.

    **Arguments:**

    - `kind`: what wrote it, such as "TensorBoard event file".
    - `series`: name → series.
    - `notes`: what a reader should know, such as "a sampled export: not every point is here".
    """

    kind: str
    series: dict[str, Series]
    notes: tuple[str, ...] = field(default=())
