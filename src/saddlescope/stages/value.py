"""What a segmentation is: plateaus, drops and the whole of them."""

import json
from dataclasses import asdict, dataclass, replace
from math import isfinite, nan
from typing import TYPE_CHECKING, Any

from saddlescope.errors import number_of
from saddlescope.stages.text_table import COLUMNS, shown_time, stage_lines

if TYPE_CHECKING:  # neither is needed to find stages
    import pandas as pd
    from matplotlib.axes import Axes

CLEAN, TILTED = 0.05, 0.2  # flatness
HIDDEN = 0.3  # of the level: where noise hides larger drops than this, it is said
MOST = 4  # plateaus in a sentence


@dataclass(frozen=True)
class Plateau:
    """A stretch of a loss curve that stays near one level, between two falls or at an end.

    **Arguments:**

    - `start`, `end`: The smoothed loss stays within a tenth of the level, or the noise, between them.
    - `at`: Where the loss moves least.
    - `level`: The mean loss; of a curve without noise, the loss at `at`.
    - `flatness`: The rate there, over the geometric mean of the neighbouring falls' largest rates.
    - `level_interval`: Where the level lies, with 95 %; without noise, the level itself.
    - `slope`: The slope of a line through it, per unit of time, and its 95 % interval.
    - `band`: The least and the largest loss between start and end, spikes left out.
    - `smallest_drop`: The least drop that could be seen in its middle, as a share of the level.
    """

    start: float
    end: float
    at: float
    level: float
    flatness: float
    level_interval: tuple[float, float] = (nan, nan)
    slope: tuple[float, float, float] = (nan, nan, nan)
    band: tuple[float, float] = (nan, nan)
    smallest_drop: float = 0.05

    @property
    def unsure(self) -> dict[str, float]:
        """Half of the level's interval, for the table; nothing without noise."""
        half = 0.5 * (self.level_interval[1] - self.level_interval[0])
        return {"±": half} if half > 0 else {}

    @property
    def kind(self) -> str:
        """ "clean" for a flatness below 0.05, "tilted" below 0.2, else "weak"."""
        return "clean" if self.flatness < CLEAN else "tilted" if self.flatness < TILTED else "weak"


@dataclass(frozen=True)
class Trend:
    """A stretch beside a plateau in which the loss moves by more than a tenth, but in no drop.

    **Arguments:**

    - `start`, `end`: From when to when.
    - `before`, `after`: The smoothed loss then.
    - `kind`: "slow fall" or "rise".
    """

    start: float
    end: float
    before: float
    after: float
    kind: str


@dataclass(frozen=True)
class Drop:
    """A fall of the loss. Only falls of kind "drop" lead from one plateau to another.

    **Arguments:**

    - `start`: When 10 % of the fall is done; the first time, for a slope.
    - `end`: When 90 % of the fall is done.
    - `at`: Where the loss falls fastest.
    - `before`: The loss on the plateau before, or at the curve's start.
    - `after`: The loss on the plateau after, or at the curve's end.
    - `rate`: The largest rate of fall, in loss per unit of time (of log time, where that was asked
      for).
    - `kind`: "drop", "shoulder" (it stands out by less than `prominence`), "slope" (it falls from the
      very start) or "unfinished" (the curve ends in it).
    - `deviations`: The fall over what noise makes of it; infinite without noise.
    """

    start: float
    end: float
    at: float
    before: float
    after: float
    rate: float
    kind: str
    deviations: float = float("inf")

    @property
    def size(self) -> float:
        """How far the loss falls."""
        return self.before - self.after

    @property
    def width(self) -> float:
        """The time from 10 % to 90 % of the fall."""
        return self.end - self.start


@dataclass(frozen=True)
class Stages:
    """The plateaus and drops of a loss curve; `find_stages` makes one. It prints as a table.

    **Arguments:**

    - `all_falls`: All falls in the order of time: shoulders, slopes and unfinished falls too; `drops`
      has the drops alone.
    - `plateaus`: All plateaus in the order of time.
    - `smoothing`: The width of the Gaussian that the curve was smoothed with, in points; 0 for
      none.
    - `note`: What else there is to say, such as where the curve stops being finite.
    - `trends`: Slow falls and rises beside the plateaus.
    - `spikes`: The times of points far above their neighbours.
    - `noise`: The deviation of a point, as a share of the level; 0 for none.
    """

    all_falls: tuple[Drop, ...]
    plateaus: tuple[Plateau, ...]
    smoothing: float = 0.0
    note: str = ""
    trends: tuple[Trend, ...] = ()
    spikes: tuple[float, ...] = ()
    noise: float = 0.0

    @property
    def drops(self) -> tuple[Drop, ...]:
        """Falls from one plateau to another: no shoulders, slopes or unfinished falls."""
        return tuple(d for d in self.all_falls if d.kind == "drop")

    @property
    def n_drops(self) -> int:
        """The number of drops."""
        return len(self.drops)

    def to_json(self) -> str:
        """All of it as text, in full precision."""
        return json.dumps(asdict(self))

    @classmethod
    def from_json(cls, text: str) -> "Stages":
        """The stages that `to_json` wrote."""
        found = json.loads(text)
        for name, kind in (("all_falls", Drop), ("plateaus", Plateau), ("trends", Trend)):
            found[name] = tuple(kind(**{k: _untied(v) for k, v in one.items()}) for one in found[name])
        return cls(**found | {"spikes": tuple(found["spikes"])})

    def scaled(self, factor) -> "Stages":
        """The stages of the curve times a factor."""

        def times(values):
            return tuple(factor * v for v in values)

        return replace(
            self,
            all_falls=tuple(replace(d, before=factor * d.before, after=factor * d.after, rate=factor * d.rate)
                            for d in self.all_falls),
            plateaus=tuple(replace(p, level=factor * p.level, level_interval=times(p.level_interval),
                                   slope=times(p.slope), band=times(p.band)) for p in self.plateaus),
            trends=tuple(replace(t, before=factor * t.before, after=factor * t.after) for t in self.trends),
        )  # fmt: skip

    def rows(self) -> list[dict[str, Any]]:
        """One dict per stage, by their starts. A shoulder inside a slow fall follows it."""
        found = [_plateau_row(p) for p in self.plateaus] + [_fall_row(d) for d in self.all_falls]
        found += [_trend_row(t) for t in self.trends]
        return sorted(found, key=_order)

    def to_pandas(self) -> "pd.DataFrame":
        """One row per stage, as a pandas data frame."""
        import pandas as pd

        return pd.DataFrame(self.rows(), columns=list(COLUMNS))

    def __str__(self):
        return "\n".join([*stage_lines(self.rows()), *self.sentences()])

    def sentences(self) -> list[str]:
        """What is said below the table, one line each."""
        said = [number_of(self.n_drops, "drop")]
        noise = f"{100 * self.noise:.0f}" if self.noise > 0.1 else f"{100 * self.noise:.2g}"
        said += [f"noise of {noise} % of the level"] if self.noise else []
        width = f"{self.smoothing:.3g}"
        said += [f"smoothed over {width} point{'s' * (width != '1')}"] if self.smoothing else []
        spikes = "a spike" if len(self.spikes) == 1 else "spikes"
        left_out = f"{number_of(len(self.spikes), 'point')} left out as {spikes}"
        said += [left_out] if self.spikes else []
        said += [self.note] if self.note else []
        return ["; ".join(said), *self._hidden()]

    def _hidden(self):
        """Plateaus on which noise hides every drop, and those on which it hides some."""
        hidden = [p for p in self.plateaus if p.smallest_drop > HIDDEN]
        shares = [(_span(p), round(100 * p.smallest_drop)) for p in hidden]
        blind = [span for span, share in shares if share >= 100]
        dim = [f"{span} (below {share} %)" for span, share in shares if share < 100]
        said = [f"cannot tell any drop from noise within {_plateaus(blind)}"] if blind else []
        some = f"cannot tell drops from noise within {_plateaus(dim)} of the level"
        return [*said, some] if dim else said

    def draw(self, ax: "Axes") -> None:
        """Draw over a curve: plateaus are shaded, their levels dotted, falls marked by a line, spikes by a tick."""
        upright = ax.get_xaxis_transform()
        if self.plateaus:
            start, end, level = zip(*((p.start, p.end, p.level) for p in self.plateaus), strict=True)
            _shade(ax, start, end, color="#56B4E9", alpha=0.18, label="plateau")
            ax.hlines(level, start, end, color="#000000", ls=":", lw=1, label="level")
        for kind, style in (("drop", "-"), ("shoulder", "-."), ("slope", "--"), ("unfinished", ":")):
            if at := [d.at for d in self.all_falls if d.kind == kind]:
                ax.vlines(at, 0, 1, color="#D55E00", ls=style, lw=1, label=kind, transform=upright)
        for kind, colour in (("slow fall", "#E69F00"), ("rise", "#CC79A7")):
            if found := [t for t in self.trends if t.kind == kind]:
                _shade(ax, [t.start for t in found], [t.end for t in found], color=colour, alpha=0.12, label=kind)
        if self.spikes:
            foot = [0.0] * len(self.spikes)
            ax.plot(self.spikes, foot, "|", color="#0072B2", ms=7, transform=upright, label="spike")


def _untied(value) -> Any:
    return tuple(value) if isinstance(value, list) else value


def _shade(ax, start, end, **style):
    """Shade stretches of time from top to bottom, as one artist: each costs a millisecond."""
    from matplotlib.collections import PolyCollection

    corners = [[(a, 0), (a, 1), (b, 1), (b, 0)] for a, b in zip(start, end, strict=True)]
    ax.add_collection(PolyCollection(corners, lw=0, transform=ax.get_xaxis_transform(), **style), autolim=False)


# ---- words ----


def _span(plateau):
    return f"{shown_time(plateau.start)} to {shown_time(plateau.end)}"


def _plateaus(spans):
    more = [f"{len(spans) - MOST} more"] if len(spans) > MOST else []
    return f"the plateau{'s' * (len(spans) > 1)} " + ", ".join([*spans[:MOST], *more])


def _order(row):
    return row["start"], row["stage"] == "shoulder", row["end"], row["at"]


def _plateau_row(p):
    row = {"stage": "plateau", "start": p.start, "end": p.end, "at": p.at, "level": p.level}
    return row | {"flatness": p.flatness, "quality": p.kind, **p.unsure}


def _fall_row(d):
    row = {"stage": d.kind, "start": d.start, "end": d.end, "at": d.at, "level": d.after}
    noise = {"deviations": d.deviations} if isfinite(d.deviations) else {}
    return row | {"fall": d.size} | noise


def _trend_row(t):
    row = {"stage": t.kind, "start": t.start, "end": t.end, "at": 0.5 * (t.start + t.end)}
    return row | {"level": t.after, "fall": t.before - t.after}
