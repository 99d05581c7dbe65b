"""Stages: the plateaus and drops of a loss curve, ours or anybody's.

1. Noise: on a plateau a quarter of the steps rise by more than 0.954 s, for point noise of deviation s. Read off in
   blocks, so that it may differ along the curve; a monotone curve has none.
2. Smoothing: a Gaussian as wide as brings the noise under 2 % of the level and the fastest fall to 45 times the rate
   of noise, at most 1/32 of the curve; none for a clean curve. The width is stated. Then the running minimum, so that
   a spike that comes back is no drop.
3. Rate r = -dL/dt, not below one deviation of what noise alone would give. Drops are maxima of log r that stand out by a
   factor of `prominence` on both sides and lower the loss by more than `min_fall` of its level.
4. A plateau is what lies between: its level is the loss where r is smallest, its flatness r there over the
   geometric mean of the neighbouring drops' rates: below 0.05 it is clean, below 0.2 a shoulder.

A fall from the very start has no plateau before it and is a `slope`; one that the curve ends in is `unfinished`.
Neither counts as a drop. A plateau shorter than the smoothing, or falls below 1e-12 of the whole, cannot be seen.
"""

from dataclasses import dataclass

import numpy as np
from scipy.ndimage import gaussian_filter1d, maximum_filter1d
from scipy.signal import find_peaks

from saddlescope.refusal import refuse_unless

NOISE_SHARE = 0.02  # of the level, after smoothing
STANDS_OUT = 45  # times the rate of noise, for the fastest drop
LEAST = 2.0  # points of smoothing, where there is noise at all
CLEAN, SHOULDER = 0.05, 0.2
RESOLUTION = 1e-12  # of the curve's whole range


@dataclass(frozen=True)
class Plateau:
    start: float
    end: float
    at: float  # where the rate is smallest
    level: float
    flatness: float

    @property
    def kind(self):
        return "clean" if self.flatness < CLEAN else "shoulder" if self.flatness < SHOULDER else "weak"


@dataclass(frozen=True)
class Drop:
    start: float  # 10 % of the fall done
    end: float  # 90 %
    at: float  # where the loss falls fastest
    before: float
    after: float
    rate: float
    kind: str  # 'drop', 'slope' (from the very start) or 'unfinished' (at the very end)


@dataclass(frozen=True)
class Stages:
    drops: tuple[Drop, ...]
    plateaus: tuple[Plateau, ...]
    smoothing: float = 0.0
    note: str = ""

    @property
    def n_drops(self) -> int:
        """Drops from one plateau to another."""
        return sum(d.kind == "drop" for d in self.drops)

    def rows(self):
        """One dict a stage, in the order of time."""
        flat = [
            {"stage": "plateau", "start": p.start, "end": p.end, "at": p.at, "level": p.level, "flatness": p.flatness,
             "quality": p.kind} for p in self.plateaus
        ]  # fmt: skip
        falls = [
            {"stage": d.kind, "start": d.start, "end": d.end, "at": d.at, "level": d.after, "fall": d.before - d.after}
            for d in self.drops
        ]
        return sorted(flat + falls, key=lambda row: (row["at"], row["stage"]))

    def to_pandas(self):
        import pandas as pd

        columns = ["stage", "start", "end", "at", "level", "fall", "flatness", "quality"]
        return pd.DataFrame(self.rows(), columns=columns)

    def __str__(self):
        def cell(row, key):
            value = row.get(key, "")
            return value if isinstance(value, str) else f"{value:.5g}"

        head = ("stage", "start", "end", "level", "fall", "flatness", "quality")
        table = [head, *(tuple(cell(row, key) for key in head) for row in self.rows())]
        widths = [max(map(len, column)) for column in zip(*table, strict=True)]
        lines = ["  ".join(f"{c:<{w}}" for c, w in zip(row, widths, strict=True)).rstrip() for row in table]
        smoothed = f"smoothed over {self.smoothing:.3g} points" if self.smoothing else "not smoothed"
        count = f"{self.n_drops} drop{'s' * (self.n_drops != 1)}"
        return "\n".join([*lines, "; ".join(filter(None, (count, smoothed, self.note)))])

    def draw(self, ax, **_):
        """Over a curve already drawn: plateaus shaded, their levels dotted, drops marked by a line."""
        for i, p in enumerate(self.plateaus):
            ax.axvspan(p.start, p.end, color="#56B4E9", alpha=0.18, lw=0, label=None if i else "plateau")
            ax.plot([p.start, p.end], [p.level] * 2, color="#000000", ls=":", lw=1)
        for kind, style in (("drop", "-"), ("slope", "--"), ("unfinished", ":")):
            for i, d in enumerate(d for d in self.drops if d.kind == kind):
                ax.axvline(d.at, color="#D55E00", ls=style, lw=1, label=None if i else kind)


def find_stages(loss, time=None, *, log_time=False, min_fall=0.05, prominence=5.0, smooth=None) -> Stages:
    """The stages of a loss curve. `time` defaults to 0, 1, 2, …; `log_time` measures rates per unit of log time.

    `smooth` is a width in points instead of the automatic one. A curve that stops being finite is cut there.
    """
    loss, time, note = checked(loss, time, log_time)
    if len(loss) < 3 or np.ptp(loss) == 0:
        level = () if not len(loss) else (Plateau(time[0], time[-1], time[0], loss[0], 0.0),)
        return Stages((), tuple(level), 0.0, note)
    clock = np.log(time) if log_time else time
    noise = point_noise(loss)
    width = smoothing_width(loss, clock, noise) if smooth is None else float(smooth)
    curve = smoothed(loss, width)
    rate, floor = rates(curve, clock, noise, width)
    log_rate = np.log(np.maximum(rate, floor))
    cuts = Cuts(loss, curve, rate <= floor, log_rate, peaks_of(log_rate, prominence), np.log(prominence))
    cuts.drop_small_falls(min_fall, noise / np.sqrt(1 + 3.545 * width))
    return Stages(*cuts.stages(time, clock), width, note)


def checked(loss, time, log_time):
    """Finite floats and their times; the rest in words."""
    loss = np.asarray(loss)
    refuse_unless(
        loss.ndim == 1 and loss.dtype.kind in "fiub",
        f"A loss curve is one row of numbers, got an array of {loss.dtype} with shape {loss.shape}; pass one curve.",
    )
    loss = loss.astype(float)
    time = np.arange(len(loss)) + float(log_time) if time is None else np.asarray(time, float)
    refuse_unless(time.shape == loss.shape, f"Time must be as long as the loss, {len(loss)}, got shape {time.shape}.")
    bad = np.flatnonzero(~np.isfinite(loss))
    end = bad[0] if bad.size else len(loss)
    note = f"not finite from point {end}" if bad.size else ""
    loss, time = loss[:end], time[:end]
    refuse_unless(bool(np.all(np.diff(time) > 0)), "Time must increase from each point to the next; sort the curve.")
    refuse_unless(not log_time or not len(time) or time[0] > 0, "Log time needs positive times; start at 1.")
    return loss, time, note


def point_noise(loss):
    """The deviation of point noise along the curve, from how much it rises; and of rounding, if values are rounded.

    A steep fall hides rises, so the noise of a block, as a share of its level, is the largest of it and its neighbours.
    """
    step, level = np.diff(loss), np.maximum(np.abs(loss), 1e-300)
    blocks = np.array_split(np.arange(len(step)), max(1, len(step) // 100))
    rises = np.array([max(0.0, np.quantile(step[b], 0.75)) / 0.954 / np.mean(level[b]) for b in blocks])
    share = np.interp(np.arange(len(loss)), [b.mean() for b in blocks], maximum_filter1d(rises, 3))
    still, moved = np.mean(step == 0), np.abs(step[step != 0])
    rounding = moved.min() / np.sqrt(12) if still > 0.25 else 0.0
    return np.maximum(share * level, rounding)


def smoothing_width(loss, clock, noise):
    """σ in points. A Gaussian divides the deviation of point noise by √(2√π σ)."""
    share = np.quantile(noise / np.maximum(np.abs(loss), 1e-300), 0.9)
    if share < 1e-6:
        return 0.0
    most, width = len(loss) / 32, max(LEAST, (share / NOISE_SHARE) ** 2 / 3.545)
    while width < most:
        rate, floor = rates(smoothed(loss, width), clock, noise, width)
        if np.max(rate / floor) >= STANDS_OUT:
            break
        width *= 1.5
    return float(min(width, most))


def smoothed(loss, width):
    """Gaussian, then running minimum: a spike that comes back is no drop."""
    return np.minimum.accumulate(gaussian_filter1d(loss, width, mode="nearest") if width else loss)


def rates(curve, clock, noise, width):
    """-dL/dt, and the rate that noise and rounding alone would show."""
    spacing = np.gradient(clock)
    point = noise / np.sqrt(2) / (1 + 1.88 * width**1.5)  # 0.376 noise / width^1.5 for a wide Gaussian
    rounding = 4 * np.finfo(float).eps * np.abs(curve) + RESOLUTION * 1e-3 * np.ptp(curve)
    return -np.gradient(curve, clock), (point + rounding) / spacing


def peaks_of(log_rate, prominence):
    """Maxima that stand out, the two ends included: beyond them the rate counts as nothing."""
    low = log_rate.min() - 100
    found, _ = find_peaks(np.concatenate([[low], log_rate, [low]]), prominence=np.log(prominence))
    return [int(p) - 1 for p in found]


class Cuts:
    """The curve cut at the valleys of its rate: one valley (or None, at an end without plateau) around each peak."""

    def __init__(self, loss, curve, quiet, log_rate, peaks, depth):
        self.loss, self.curve, self.quiet, self.log_rate = loss, curve, quiet, log_rate
        self.peaks, self.depth = list(peaks), depth

    def valleys(self):
        ends = [0, *self.peaks, len(self.log_rate) - 1]
        found: list[int | None] = [self.valley(a, b) for a, b in zip(ends, ends[1:], strict=False)]
        for side, p in ((0, self.peaks[0]), (-1, self.peaks[-1])) if self.peaks else ():
            if self.log_rate[found[side]] > self.log_rate[p] - self.depth:
                found[side] = None
        return found

    def valley(self, a, b):
        lowest = a + np.flatnonzero(self.log_rate[a : b + 1] == self.log_rate[a : b + 1].min())
        return int(lowest[len(lowest) // 2])

    def levels(self, valleys):
        """The loss in each valley: a mean over where nothing but noise is left, if there is such a place."""
        ends = [0, *self.peaks, len(self.log_rate) - 1]
        found = []
        for v, a, b in zip(valleys, ends, ends[1:], strict=False):
            still = a + np.flatnonzero(self.quiet[a : b + 1])
            edge = self.curve[0] if a == 0 else self.curve[-1]
            found.append(edge if v is None else self.loss[still].mean() if len(still) else self.curve[v])
        return found

    def drop_small_falls(self, min_fall, noise):
        """Take away the weakest peak until every fall is large against its level, the noise and the whole."""
        least = RESOLUTION * np.ptp(self.curve)
        while self.peaks:
            levels = self.levels(self.valleys())
            falls = [
                (before - after) / max(min_fall * abs(before), 5 * noise[p], least)
                for before, after, p in zip(levels, levels[1:], self.peaks, strict=False)
            ]
            if min(falls) > 1:
                return
            del self.peaks[int(np.argmin(falls))]

    def stages(self, time, clock):
        valleys = self.valleys()
        levels = self.levels(valleys)
        drops = tuple(
            self.drop(p, valleys[i : i + 2], levels[i : i + 2], time, clock) for i, p in enumerate(self.peaks)
        )
        plateaus = []
        for i, v in enumerate(valleys):
            if v is not None:
                near = [self.log_rate[p] for p in self.peaks[max(i - 1, 0) : i + 1]]
                flatness = float(np.exp(self.log_rate[v] - np.mean(near))) if near else 0.0
                start, end = drops[i - 1].end if i else time[0], drops[i].start if i < len(drops) else time[-1]
                plateaus.append(Plateau(float(start), float(end), float(time[v]), float(levels[i]), flatness))
        return drops, tuple(plateaus)

    def drop(self, p, valleys, levels, time, clock):
        (a, b), (before, after) = valleys, levels
        first, last = (0 if a is None else a), (len(time) - 1 if b is None else b)
        part, fall = self.curve[first : last + 1], before - after
        start = first + np.flatnonzero(part >= before - 0.1 * fall)[-1:].sum()
        end = first + int(np.argmax(part <= before - 0.9 * fall)) if part[-1] <= before - 0.9 * fall else last
        kind = "slope" if a is None else "unfinished" if b is None else "drop"
        rate = float(np.exp(self.log_rate[p]))
        return Drop(float(time[start]), float(time[end]), self.fastest(p, time, clock), float(before), float(after),
                    rate, kind)  # fmt: skip

    def fastest(self, p, time, clock):
        """The top of the parabola through log r at the peak and its neighbours."""
        if not 0 < p < len(clock) - 1:
            return float(time[p])
        x, y = clock[p - 1 : p + 2] - clock[p], self.log_rate[p - 1 : p + 2]
        bend, slope, _ = np.polyfit(x, y, 2)
        top = float(np.clip(-slope / (2 * bend), x[0], x[2])) if bend < 0 else 0.0
        return float(np.interp(clock[p] + top, clock, time))
