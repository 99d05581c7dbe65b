"""What a segmentation is: plateaus, drops and the whole of them."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # neither is needed to find stages
    import pandas as pd
    from matplotlib.axes import Axes

CLEAN, SHOULDER = 0.05, 0.2  # flatness


@dataclass(frozen=True)
class Plateau:
    """A stretch of a loss curve between two falls, or before the first or after the last.

    **Arguments:**

    - `start`: When the fall before it is 90 % done, or the curve's first time.
    - `end`: When the fall after it is 10 % done, or the curve's last time.
    - `at`: Where the rate of fall is smallest.
    - `level`: The loss there.
    - `flatness`: The rate there, over the geometric mean of the neighbouring falls' largest rates.
    """

    start: float
    end: float
    at: float
    level: float
    flatness: float

    @property
    def kind(self) -> str:
        """ "clean" for a flatness below 0.05, "shoulder" below 0.2, else "weak"."""
        return "clean" if self.flatness < CLEAN else "shoulder" if self.flatness < SHOULDER else "weak"


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
    - `kind`: "drop", "slope" (it falls from the very start) or "unfinished" (the curve ends in it).
    """

    start: float
    end: float
    at: float
    before: float
    after: float
    rate: float
    kind: str


@dataclass(frozen=True)
class Stages:
    """The plateaus and drops of a loss curve; `find_stages` makes one. It prints as a table.

    **Arguments:**

    - `all_falls`: All falls in the order of time, slopes and unfinished falls included; `drops` has
      the drops alone.
    - `plateaus`: All plateaus in the order of time.
    - `smoothing`: The width of the Gaussian that the curve was smoothed with, in points; 0 for
      none.
    - `note`: What else there is to say, such as where the curve stops being finite.
    """

    all_falls: tuple[Drop, ...]
    plateaus: tuple[Plateau, ...]
    smoothing: float = 0.0
    note: str = ""

    @property
    def drops(self) -> tuple[Drop, ...]:
        """Falls from one plateau to another: neither slopes nor unfinished falls."""
        return tuple(d for d in self.all_falls if d.kind == "drop")

    @property
    def n_drops(self) -> int:
        """The number of drops."""
        return len(self.drops)

    def rows(self) -> list[dict[str, Any]]:
        """One dict per stage, in the order of time."""
        flat = [
            {"stage": "plateau", "start": p.start, "end": p.end, "at": p.at, "level": p.level, "flatness": p.flatness,
             "quality": p.kind} for p in self.plateaus
        ]  # fmt: skip
        falls = [
            {"stage": d.kind, "start": d.start, "end": d.end, "at": d.at, "level": d.after, "fall": d.before - d.after}
            for d in self.all_falls
        ]
        return sorted(flat + falls, key=lambda row: (row["at"], row["stage"]))

    def to_pandas(self) -> "pd.DataFrame":
        """One row per stage, as a pandas data frame."""
        import pandas as pd

        columns = ["stage", "start", "end", "at", "level", "fall", "flatness", "quality"]
        return pd.DataFrame(self.rows(), columns=columns)

    def __str__(self):
        def cell(row, key):
            value = row.get(key, "")
            return value if isinstance(value, str) else f"{value:.5g}"

        head = ("stage", "start", "end", "at", "level", "fall", "flatness", "quality")
        table = [head, *(tuple(cell(row, key) for key in head) for row in self.rows())]
        widths = [max(map(len, column)) for column in zip(*table, strict=True)]
        lines = ["  ".join(f"{c:<{w}}" for c, w in zip(row, widths, strict=True)).rstrip() for row in table]
        smoothed = f"smoothed over {self.smoothing:.3g} points" if self.smoothing else "not smoothed"
        count = f"{self.n_drops} drop{'s' * (self.n_drops != 1)}"
        return "\n".join([*lines, "; ".join(filter(None, (count, smoothed, self.note)))])

    def draw(self, ax: "Axes") -> None:
        """Draw over a curve: plateaus are shaded, their levels dotted, falls marked by a line."""
        for i, p in enumerate(self.plateaus):
            ax.axvspan(p.start, p.end, color="#56B4E9", alpha=0.18, lw=0, label=None if i else "plateau")
            ax.plot([p.start, p.end], [p.level] * 2, color="#000000", ls=":", lw=1)
        for kind, style in (("drop", "-"), ("slope", "--"), ("unfinished", ":")):
            for i, d in enumerate(d for d in self.all_falls if d.kind == kind):
                ax.axvline(d.at, color="#D55E00", ls=style, lw=1, label=None if i else kind)
