"""What a log holds, whoever wrote it: named series of numbers over steps."""

from dataclasses import dataclass, field

import numpy as np


@dataclass(frozen=True)
class Series:
    """One series of a log, in the order in which it was written.

    **Arguments:**

    - `time`: the step of each value, or None where the log has none.
    - `values`: the numbers.
    - `time_name`: what the log calls the time, such as "epoch".
    - `rows`: the number of the record that each value was written in, where records hold several.
    """

    time: np.ndarray | None
    values: np.ndarray
    time_name: str = "step"
    rows: np.ndarray | None = None


@dataclass(frozen=True)
class Log:
    """All series of one log.

    **Arguments:**

    - `kind`: what wrote it, such as "TensorBoard event file".
    - `series`: name → series.
    - `notes`: what a reader should know, such as "a sampled export: not every point is here".
    - `runs`: the names of the runs, where it holds several; a series is then called `run/metric`.
    - `unreadable`: name → how many numbers a column has that is not a series, and a sentence why.
    """

    kind: str
    series: dict[str, Series]
    notes: tuple[str, ...] = field(default=())
    runs: tuple[str, ...] = ()
    unreadable: dict[str, tuple[int, str]] = field(default_factory=dict)
