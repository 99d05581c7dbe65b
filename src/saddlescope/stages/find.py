"""Find the stages of a loss curve."""

import numpy as np
from numpy.typing import ArrayLike

from saddlescope.errors import require
from saddlescope.stages.cuts import Cuts
from saddlescope.stages.noise import (
    blurred,
    level_of,
    lows,
    quantum,
    rates,
    rising_noise,
    smoothing_width,
    unrounded,
    without_spikes,
)
from saddlescope.stages.value import Plateau, Stages


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

    1. Noise is read off the fourth differences in blocks, so that it may differ along the curve. A
       curve that hardly ever rises has none.
    2. The curve is smoothed by a Gaussian, at most 1/32 of the curve wide. It is as wide as brings
       the noise under 2 % of the level, and the fastest fall to 45 times the rate of noise. A clean
       curve is not smoothed. A line then joins each record low to the next, so that a spike that
       comes back is not a drop.
    3. The rate is r = -dL/dt, but not below one deviation of what noise alone would give. Drops are
       maxima of log r that stand out by a factor of `prominence` on both sides. They lower the loss
       by more than `min_fall` of its level.
    4. A plateau is what lies between. Its level is the loss where r is smallest. Its flatness is r
       there over the geometric mean of the neighbouring drops' rates: below 0.05 it is clean, below
       0.2 a shoulder.

    A fall from the very start has no plateau before it and is a slope. A fall that the curve ends
    in is unfinished. Neither counts as a drop; `Stages.all_falls` has both. Not seen are plateaus
    shorter than the smoothing, falls below 1e-12 of the whole, and slow drops in noise of several
    per cent. A slow power law or straight line in such noise may be given a drop that it does not
    have.

    **Arguments:**

    - `loss`: The curve, a row of numbers. A curve that stops being finite is cut there.
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
    loss, time, note = _checked(loss, time, log_time)
    if len(loss) < 3 or np.all(loss == loss[0]):
        level = () if not len(loss) else (Plateau(time[0], time[-1], time[0], loss[0], 0.0),)
        return Stages((), tuple(level), 0.0, note)
    scale = np.abs(loss).max()
    loss, clock, depth = loss / scale, np.log(time) if log_time else time, np.log(prominence)
    grain = quantum(loss)
    loss, spikes = without_spikes(loss)
    loss = unrounded(loss, grain)
    width = smoothing_width(loss, clock, grain) if smooth is None else float(smooth)
    smooth_loss = blurred(loss, width)
    curve, left = lows(smooth_loss), rising_noise(loss, width) * np.sqrt(2) * max(width, 1.0) + grain / 3
    rate, floor = rates(loss, clock, width, grain)
    log_rate = np.log(np.maximum(rate, floor))
    low = smooth_loss - curve <= min_fall * level_of(curve) + 3 * left  # not on a spike or a later rise
    cuts = Cuts(loss, curve, clock, width, (rate <= floor) & low, log_rate, depth)
    cuts.drop_small_falls(min_fall, left)
    with np.errstate(over="ignore"):  # levels near the largest float
        return Stages(*cuts.stages(time, scale), width, note)


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
    bad = np.flatnonzero(~np.isfinite(loss))
    end = bad[0] if bad.size else len(loss)
    note = f"not finite from point {end}" if bad.size else ""
    loss, time = loss[:end], time[:end]
    require(
        bool(np.all(np.diff(time) > 0)),
        "Time must increase from each point to the next; sort the curve, or name another time column.",
    )
    require(not log_time or not len(time) or time[0] > 0, "Log time needs positive times; start at 1.")
    return loss, time, note
