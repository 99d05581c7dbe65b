"""Find the stages of a loss curve."""

from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from saddlescope.errors import require
from saddlescope.stages.cuts import Cuts
from saddlescope.stages.given import given_curve
from saddlescope.stages.level import Level
from saddlescope.stages.noise import RESOLUTION, blurred, is_noisy, lows, rising_share
from saddlescope.stages.noisy import noisy_stages
from saddlescope.stages.rounding import quantum, unrounded
from saddlescope.stages.spikes import without_outliers
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

    1. A log that repeats each value counts it once. Points far from their neighbours, from which the loss comes back,
       are spikes: they are listed and left out. A curve that was rounded is drawn from the middle of each run of equal
       values to the next.
    2. Noise is read off the rises, at every scale: what falls by chance rises as often. Correlated
       noise, as of a smoothed log, is measured as what it is. A curve that hardly ever rises has
       none.
    3. With noise, a drop is a gap between the lines through two flanks, of the loss or of its logarithm. It is larger
       than chance makes anywhere in the curve, and the loss falls faster in it than in the flanks, by `prominence`.
       Without noise, drops are maxima of log r, r = -dL/dt, that stand out by `prominence` on both
       sides. In both cases a drop lowers the loss by more than `min_fall` of its level.
    4. A plateau is the part between two falls where the smoothed loss stays within a tenth of its
       level (or the noise). What is left of the stretch is a slow fall or a rise.

    The level is the loss itself; of a curve that goes below zero, at least twice its depth there.

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
    values, times, note = given_curve(loss, time, log_time)
    if len(values) < 3 or np.all(values == values[0]):
        return Stages((), _flat(values, times), 0.0, note)
    scale = float(np.abs(values).max())
    found = _scaled_stages(values / scale, times, log_time, min_fall, prominence, smooth)
    return replace(found.scaled(scale), note=note)


def _scaled_stages(given, time, log_time, min_fall, prominence, smooth):
    """The stages of a curve whose largest size is one."""
    grain = quantum(given)
    loss, spikes = without_outliers(given)
    level = Level(loss)
    if grain and np.median(rising_share(loss, 0.0, level)) * np.median(level(loss)) < 0.3 * grain:
        loss = unrounded(loss, grain)
    if smooth is None and len(time) >= FEW and is_noisy(loss, level):
        points = _in_log_time(loss, time) if log_time else (loss, time, time)
        found = noisy_stages(*points, level, grain, min_fall, prominence)
    else:
        clock = np.log(time) if log_time else time
        found = _clean(loss, time, clock, level, float(smooth or 0), grain, min_fall, np.log(prominence))
    plateaus = tuple(_with_band(p, given, time, spikes) for p in found.plateaus)
    return replace(found, plateaus=plateaus, spikes=tuple(map(float, time[spikes])))


def _flat(loss, time):
    """The one plateau of a curve of hardly any points, or of one value; none of an empty one."""
    if not len(loss):
        return ()
    band = float(loss.min()), float(loss.max())
    return (Plateau(time[0], time[-1], time[0], loss[0], 0.0, band, (0.0, 0.0, 0.0), band),)


def _with_band(plateau, loss, time, spikes):
    """The least and the largest loss that were given between its start and its end, spikes left out."""
    part = slice(int(np.searchsorted(time, plateau.start)), int(np.searchsorted(time, plateau.end, side="right")))
    inside = loss[part][~spikes[part]]
    return replace(plateau, band=(float(inside.min()), float(inside.max()))) if inside.size else plateau


def _in_log_time(loss, time):
    """The curve at even steps of log time: means of what was logged in each step, or a line where nothing was."""
    clock = np.log(time)
    even = np.linspace(clock[0], clock[-1], min(len(time), STEPS))
    cell = np.rint((clock - clock[0]) / (even[1] - even[0])).astype(int)
    full, count = np.unique(cell, return_counts=True)
    when, mean = (np.bincount(cell, values)[full] / count for values in (clock, loss))
    times = np.concatenate([time[:1], np.exp(even[1:-1]), time[-1:]])
    return np.interp(even, when, mean), times, even


def _clean(loss, time, clock, level, width, grain, min_fall, depth):
    """By the peaks of the rate. `width` is that of a smoothing that was asked for."""
    smooth = blurred(loss, width)
    curve = lows(smooth, min_fall * level(smooth))
    step = np.median(rising_share(loss, width, level)) * level(smooth) if width else np.zeros(len(loss))
    left = np.sqrt(2) * max(width, 1.0) * step + grain / np.sqrt(12)
    rounding = 4 * np.finfo(float).eps * np.abs(curve) + RESOLUTION * 1e-3 * np.ptp(curve) + 1e-300
    rate, floor = -np.gradient(curve, clock), (step + rounding) / np.gradient(clock)
    above = smooth - curve - 3 * left
    low, lowest = above <= min_fall * level(curve), above <= 0.1 * min_fall * level(curve)  # not on a later rise
    cuts = Cuts(loss, curve, clock, level, width, (rate <= floor) & lowest, low, np.log(np.maximum(rate, floor)), depth)
    cuts.drop_small_falls(min_fall, left, grain)
    falls, plateaus, trends = cuts.stages(time, min_fall)
    return Stages(falls, plateaus, width, trends=trends)
