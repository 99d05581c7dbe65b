"""One loss curve out of any log."""

from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from saddlescope.errors import number_of, require
from saddlescope.stages.logs import read_log
from saddlescope.stages.logs.choice import choose
from saddlescope.stages.logs.clock import at_rows, counts_steps, repeats
from saddlescope.stages.logs.log import Log, Series
from saddlescope.stages.logs.plain_file import STDIN

LARGEST_SPAN = 1e306  # beyond it the axis of a figure overflows


@dataclass(frozen=True)
class Curve:
    """A loss curve that was read from a log; `read_curves` makes one.

    **Arguments:**

    - `time`: The time of each point, increasing; 0, 1, 2, … where the log has no times.
    - `loss`: The values.
    - `name`: What the log calls them.
    - `time_name`: What the log calls the time; "point" where it has none.
    - `kind`: What wrote the log.
    - `others`: The names of the other series in the log.
    - `notes`: What to know about the log and the choice, one sentence each.
    """

    time: np.ndarray
    loss: np.ndarray
    name: str
    time_name: str
    kind: str
    others: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def whole(self) -> int:
        """The most that a share can be: 1, or 100 in percent; 0 for a curve that is no share."""
        finite = self.loss[np.isfinite(self.loss)]
        low, high = float(finite.min()), float(finite.max())
        return 1 if low >= 0 and high <= 1 else 100 if low >= 0 and high <= 100 else 0

    def flipped(self) -> "Curve":
        """A curve that falls where this one rises, such as an accuracy: 1 - x, 100 - x or -x."""
        name = f"{self.whole} - {self.name}" if self.whole else f"-{self.name}"
        said = f"Drops, falls and shares are those of {name}; levels are those of {self.name}."
        return replace(self, loss=self.whole - self.loss, name=name, notes=(*self.notes, said))

    def from_one(self) -> "Curve":
        """The curve with a step 0 shifted to 1, and all others with it, as log time needs it."""
        if not len(self.time) or self.time[0] != 0:
            return self
        said = f"Log time has no {self.time_name} 0: each {self.time_name} is shifted by one."
        return replace(self, time=self.time + 1, notes=(*self.notes, said))


def read_curves(path: str | Path, column: str | None = None, time: str | None = None) -> Curve:
    """Read a loss curve from a log of any kind: the training loss with the most points.

    A step that was written again, as after a resume, has its last value.

    **Arguments:**

    - `path`: A log file (also compressed by gzip), a folder with one log in it, or "-" for
      standard input.
    - `column`: The series to take; `loss[3]` takes row 3. The default looks for a training loss.
    - `time`: The series to take as time. The default looks for one that is called like a time.
    """
    shown = "standard input" if Path(path) == STDIN else path
    log = read_log(path)
    name, chosen = choose(log, column, shown)
    series, missing = _over(log, name, time, shown)
    _check_finite(series.values, f"{name!r} of {shown}")
    series, again = _last_written(series)
    times = np.arange(len(series.values), dtype=float) if series.time is None else series.time
    others = tuple(n for n in log.series if n not in (name, series.time_name))
    notes = (*log.notes, *chosen, *missing, *again)
    return Curve(times, series.values, name, series.time_name, log.kind, others, notes)


def _check_finite(loss, what):
    """A curve may end in numbers that are not finite, but has some before; a figure has a scale."""
    finite = loss[np.isfinite(loss)]
    require(finite.size > 0, f"{what} holds no finite number: give a column with a loss curve.")
    span = float(finite.max()) - float(finite.min())
    require(span < LARGEST_SPAN, f"{what} spans more than {LARGEST_SPAN:g}: give other units.")


def _over(log: Log, name, time, path) -> tuple[Series, tuple[str, ...]]:
    """The series over the time that was asked for, and how many of its points have none."""
    series = log.series[name]
    if time is None or time == series.time_name:
        return series, (series.note,) if series.note else ()
    clock = log.series[choose(log, time, path)[0]]
    values, there = _aligned(series, clock, f"{time!r} and {name!r} of {path}")
    there &= np.isfinite(values)
    left = number_of(int((~there).sum()), "point")
    notes = () if there.all() else (f"Left out: {left} without {time!r}.",)
    return Series(values[there], series.values[there], time), notes


def _aligned(series, clock, what):
    """The clock at each value: in the same record, at the same step, or at the same place."""
    if series.rows is not None and clock.rows is not None:
        return at_rows((clock.rows, clock.values), series.rows)
    if series.time is not None and clock.time is not None:
        last = dict(zip(clock.time.tolist(), clock.values.tolist(), strict=True))
        found = np.array([last.get(t, np.nan) for t in series.time.tolist()])
        return found, np.isfinite(found)
    same = len(series.values) == len(clock.values)
    require(same, f"{what} have different lengths: choose a time that belongs to the curve.")
    return clock.values.astype(float), np.ones(len(series.values), bool)


def _last_written(series: Series) -> tuple[Series, tuple[str, ...]]:
    """The curve with increasing times: what was written later stands in place of what was there."""
    time, values, name = series.time, series.values, series.time_name
    if time is None or np.all(np.diff(time) > 0):
        return series, ()
    if repeats(time) and not counts_steps(name):
        said = f"{name} is the same for many points: they are spread evenly over each {name}."
        return replace(series, time=_spread(time)), (said,)
    if np.all(np.diff(time) < 0):
        said = f"The newest {name} comes first: the curve was turned around."
        return replace(series, time=time[::-1], values=values[::-1]), (said,)
    least_after = np.minimum.accumulate(time[::-1])[::-1]
    kept = np.append(time[:-1] < least_after[1:], True)
    back = number_of(int(np.sum(np.diff(time) <= 0)), "time")
    lost = number_of(int((~kept).sum()), "earlier point")
    said = f"The {name} repeats or goes back {back}, as after a resume."
    return Series(time[kept], values[kept], name), (f"{said} Later values replace {lost}.",)


def _spread(time):
    """Equal times spread evenly up to the next; the last ones as far as the others on average."""
    values, first, counts = np.unique(time, return_index=True, return_counts=True)
    gaps = np.diff(values)
    gaps = np.append(gaps, np.median(gaps) if gaps.size else 1.0)
    place = np.arange(len(time)) - np.repeat(first, counts)
    return time + np.repeat(gaps / counts, counts) * place
