"""What a log holds, whoever wrote it: named series of numbers over steps."""

from dataclasses import dataclass, field

import numpy as np

from saddlescope.errors import InvalidInput


class NotBegun(InvalidInput):
    """A log that is not there, or holds no number: one that is being written may have one later.

    **Arguments:**

    - the sentence: what was expected, what was given, what to do instead.
    """


def require_begun(condition, sentence):
    """Raise a NotBegun with this sentence unless the condition holds."""
    if not condition:
        raise NotBegun(sentence)


@dataclass(frozen=True)
class Series:
    """One series of a log, in the order in which it was written.

    **Arguments:**

    - `time`: the step of each value, or None where the log has none.
    - `values`: the numbers.
    - `time_name`: what the log calls the time, such as "epoch".
    - `rows`: the number of the record that each value was written in, where records hold several.
    - `note`: what is to say of its time, such as "step starts again in each epoch …".
    """

    time: np.ndarray | None
    values: np.ndarray
    time_name: str = "step"
    rows: np.ndarray | None = None
    note: str = ""


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
