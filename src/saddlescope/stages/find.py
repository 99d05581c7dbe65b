"""Find the stages of a loss curve."""

from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from saddlescope.errors import require
from saddlescope.stages.cuts import Cuts
from saddlescope.stages.level import Level
from saddlescope.stages.noise import (
    RESOLUTION,
    blurred,
    is_noisy,
    logged_once,
    lows,
    quantum,
    rising_share,
    unrounded,
    without_outliers,
)
from saddlescope.stages.noisy import noisy_stages
from saddlescope.stages.value import Plateau, Stages

STEPS = 4096  # of log time, at most
FEW = 16  # points: in fewer, noise is not looked for


def find_stages(
    loss: ArrayLike,
    time: ArrayLike | None = None,
    *,
    log_time: bool = False,
    min_fall: float = 0.05,
    prominence: float = 5.0,
    smooth: float | None = None,
) -> Stages:
    """Find the plateaus and drops of a loss curve, ours or anybody's.

    1. Single points far from their neighbours are spikes: they are listed and left out. A curve that
       was rounded is drawn from the middle of each run of equal values to the next.
    2. Noise is read off the rises, at every scale: what falls by chance rises as often. Correlated
       noise, as of a smoothed log, is measured as what it is. A curve that hardly ever rises has
       none.
    3. With noise, a drop is a gap between the lines through two flanks. It is larger than chance makes
       anywhere in the curve, and the loss falls faster in it than in the flanks, by `prominence`.
       Without noise, drops are maxima of log r, r = -dL/dt, that stand out by `prominence` on both
       sides. In both cases a drop lowers the loss by more than `min_fall` of its level.
    4. A plateau is the part between two falls where the smoothed loss stays within a tenth of its
       level (or the noise). What is left of the stretch is a slow fall or a rise.

    A fall from the very start has no plateau before it and is a slope. A fall that the curve ends
    in is unfinished. A fall that stands out by less than `prominence`, but by two or more, is a
    shoulder. None of these counts as a drop; `Stages.all_falls` has them.

    **Arguments:**

    - `loss`: The curve, a row of numbers. Points that are not finite are left out; a curve that stays so is cut
      there.
    - `time`: The time of each point, increasing. The default is the index of a pandas series or
      data array, else 0, 1, 2, …
    - `log_time`: Whether rates are measured per unit of log time; the default time then starts at
      1.
    - `min_fall`: The least fall of a drop, as a share of the level before it.
    - `prominence`: The factor by which the rate of a drop must stand out on both sides.
    - `smooth`: A width in points, in place of the automatic one; 0 for no smoothing.
    """
    require(0 < min_fall < 1, f"`min_fall` is a share of the level between 0 and 1, got {min_fall}.")
    require(prominence > 1, f"`prominence` is a factor above 1, got {prominence}.")
    require(smooth is None or 0 <= smooth < 1e6, f"`smooth` is a width in points, 0 to 1e6, got {smooth}.")
    loss, time, note = _without_repeats(*_checked(loss, time, log_time))
    if len(loss) < 3 or np.all(loss == loss[0]):
        return Stages((), _flat(loss, time), 0.0, note)
    scale = float(np.abs(loss).max())
    loss, clock, depth = loss / scale, np.log(time) if log_time else time, np.log(prominence)
    grain, given = quantum(loss), loss
    loss, spikes = without_outliers(loss)
    level = Level(loss)
    if grain and np.median(rising_share(loss, 0.0, level)) * np.median(level(loss)) < 0.3 * grain:
        loss = unrounded(loss, grain)
    if smooth is None and len(time) >= FEW and is_noisy(loss, level):
        points = (_in_log_time if log_time else _in_time)(loss, time)
        found = noisy_stages(*points, level, grain, min_fall, prominence)
    else:
        found = _clean(loss, time, clock, level, float(smooth or 0), grain, min_fall, depth)
    plateaus = tuple(_with_band(p, given, time, spikes) for p in found.plateaus)
    with np.errstate(over="ignore"):  # levels near the largest float
        found = replace(found, plateaus=plateaus).scaled(scale)
    return replace(found, note=note, spikes=tuple(map(float, time[spikes])))


def _without_repeats(loss, time, note):
    """The curve with each value once, if the log repeats each."""
    kept = logged_once(loss)
    if len(kept) == len(loss):
        return loss, time, note
    said = f"values are repeated: {len(kept)} of {len(loss)} points count"
    return loss[kept], time[kept], "; ".join(filter(None, (note, said)))


def _flat(loss, time):
    """The one plateau of a curve of hardly any points, or of one value; none of an empty one."""
    if not len(loss):
        return ()
    band = float(loss.min()), float(loss.max())
    return (Plateau(time[0], time[-1], time[0], loss[0], 0.0, band, (0.0, 0.0, 0.0), band),)


def _with_band(plateau, loss, time, spikes):
    """The least and the largest loss that were given between its start and its end, spikes left out."""
    part = slice(
        *(int(np.searchsorted(time, t, side)) for t, side in ((plateau.start, "left"), (plateau.end, "right")))
    )
    inside = loss[part][~spikes[part]]
    return replace(plateau, band=(float(inside.min()), float(inside.max()))) if inside.size else plateau


def _in_time(loss, time):
    return loss, time, time


def _in_log_time(loss, time):
    """The curve at even steps of log time: means of what was logged in each step, or a line where nothing was."""
    clock = np.log(time)
    even = np.linspace(clock[0], clock[-1], min(len(time), STEPS))
    cell = np.rint((clock - clock[0]) / (even[1] - even[0])).astype(int)
    full, count = np.unique(cell, return_counts=True)
    means = [np.bincount(cell, values)[full] / count for values in (clock, loss)]
    times = np.concatenate([time[:1], np.exp(even[1:-1]), time[-1:]])
    return np.interp(even, *means), times, even


def _clean(loss, time, clock, level, width, grain, min_fall, depth):
    """By the peaks of the rate. `width` is that of a smoothing that was asked for."""
    smooth = blurred(loss, width)
    curve = lows(smooth, min_fall * level(smooth))
    step = np.median(rising_share(loss, width, level)) * level(smooth) if width else np.zeros(len(loss))
    left = np.sqrt(2) * max(width, 1.0) * step + grain / np.sqrt(12)
    rounding = 4 * np.finfo(float).eps * np.abs(curve) + RESOLUTION * 1e-3 * np.ptp(curve) + 1e-300
    rate, floor = -np.gradient(curve, clock), (step + rounding) / np.gradient(clock)
    low = smooth - curve <= min_fall * level(curve) + 3 * left  # not on a later rise
    cuts = Cuts(loss, curve, clock, level, width, (rate <= floor) & low, low, np.log(np.maximum(rate, floor)), depth)
    cuts.drop_small_falls(min_fall, left, grain)
    falls, plateaus, trends = cuts.stages(time, min_fall)
    return Stages(falls, plateaus, width, trends=trends)


def _own_time(loss):
    """The index of a pandas series or the coordinate of a data array, if it is one of numbers."""
    index = getattr(loss, "index", None) if hasattr(loss, "iloc") else None
    if hasattr(loss, "dims") and len(loss.dims) == 1 and loss.dims[0] in loss.coords:
        index = loss.coords[loss.dims[0]]
    return None if index is None or np.asarray(index).dtype.kind not in "fiu" else np.asarray(index)


def _checked(loss, time, log_time):
    """Finite floats and their times; the rest in words."""
    time = _own_time(loss) if time is None else time
    loss = np.asarray(loss)
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
    note = f"{lost} points that are not finite are left out" if lost else ""
    if end < len(loss):
        note = "; ".join(filter(None, (note, f"not finite from point {end}")))
    loss, time = loss[:end][finite[:end]], time[:end][finite[:end]]
    require(
        bool(np.all(np.diff(time) > 0)),
        "Time must increase from each point to the next; sort the curve, or name another time column.",
    )
    require(not log_time or not len(time) or time[0] > 0, "Log time needs positive times; start at 1.")
    return loss, time, note
