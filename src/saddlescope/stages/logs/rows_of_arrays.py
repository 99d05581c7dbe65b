"""Arrays made into series: a curve is one row of numbers; `loss[3]` is row 3 of a table."""

import numpy as np

from saddlescope.stages.logs.log import Series


def rows_of(name: str, values, time=None, time_name="point") -> dict[str, Series]:
    """One series per row. `values` and `time` are arrays or lists of rows."""
    if isinstance(values, list) or np.ndim(values) == 2:
        own = time if isinstance(time, list) and len(time) == len(values) else None
        times = own or [_for_all(time)] * len(values)
        pairs = zip(values, times, strict=True)
        return {f"{name}[{i}]": _series(v, t, time_name) for i, (v, t) in enumerate(pairs)}
    return {name: _series(values, _for_all(time), time_name)} if np.ndim(values) == 1 else {}


def _for_all(time):
    return time if isinstance(time, np.ndarray) and time.ndim == 1 else None


def _series(values, time, time_name):
    values = np.asarray(values, float)
    if time is None or len(time) < len(values):
        return Series(None, values, "point")
    return Series(np.asarray(time, float)[: len(values)], values, time_name)
