"""A curve as it was given: checked, finite, each value once."""

import numpy as np

from saddlescope.errors import number_of, require
from saddlescope.stages.rounding import logged_once


def given_curve(loss, time, log_time) -> tuple[np.ndarray, np.ndarray, str]:
    """Finite losses and their times, and what is to be said of them in words."""
    return _without_repeats(*_checked(loss, time, log_time))


def _without_repeats(loss, time, note):
    """The curve with each value once, if the log repeats each."""
    kept = logged_once(loss)
    if len(kept) == len(loss):
        return loss, time, note
    said = f"values are repeated: {len(kept)} of {len(loss)} points count"
    return loss[kept], time[kept], "; ".join(filter(None, (note, said)))


def _own_time(loss):
    """The index of a pandas series or the coordinate of a data array, if it is one of numbers."""
    index = getattr(loss, "index", None) if hasattr(loss, "iloc") else None
    if hasattr(loss, "dims") and len(loss.dims) == 1 and loss.dims[0] in loss.coords:
        index = loss.coords[loss.dims[0]]
    return None if index is None or np.asarray(index).dtype.kind not in "fiu" else np.asarray(index)


def _checked(loss, time, log_time) -> tuple[np.ndarray, np.ndarray, str]:
    """Finite floats and their times; the rest in words."""
    time = _own_time(loss) if time is None else time
    loss = np.asarray(loss.detach() if hasattr(loss, "detach") else loss)  # a tensor of PyTorch may ask for gradients
    require(
        loss.ndim == 1 and loss.dtype.kind in "fiub",
        f"A loss curve is one row of numbers, got an array of {loss.dtype} with shape {loss.shape}; pass one curve.",
    )
    loss = loss.astype(float)
    time = np.arange(len(loss)) + float(log_time) if time is None else np.asarray(time)
    require(time.dtype.kind in "fiu", f"Time is a row of numbers, got an array of {time.dtype}.")
    time = time.astype(float)
    require(time.shape == loss.shape, f"Time must be as long as the loss, {len(loss)}, got shape {time.shape}.")
    finite = np.isfinite(loss)
    end = int(np.flatnonzero(finite)[-1]) + 1 if finite.any() else 0
    lost = end - int(finite[:end].sum())
    note = f"{number_of(lost, 'point')} without a finite value: left out" if lost else ""
    if end < len(loss):
        note = "; ".join(filter(None, (note, f"not finite from point {end}")))
    loss, time = loss[:end][finite[:end]], time[:end][finite[:end]]
    require(
        bool(np.all(np.diff(time) > 0)),
        "Time must increase from each point to the next; sort the curve, or name another time column.",
    )
    require(not log_time or not len(time) or time[0] > 0, "Log time needs positive times; start at 1.")
    return loss, time, note
