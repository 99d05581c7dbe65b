"""What a segmentation is: plateaus and drops that print as a table, convert to pandas and draw themselves."""

from dataclasses import dataclass

CLEAN, SHOULDER = 0.05, 0.2  # flatness


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
        return len(self.drops)

    def rows(self):
        """One dict a stage, in the order of time."""
        flat = [
            {"stage": "plateau", "start": p.start, "end": p.end, "at": p.at, "level": p.level, "flatness": p.flatness,
             "quality": p.kind} for p in self.plateaus
        ]  # fmt: skip
        falls = [
            {"stage": d.kind, "start": d.start, "end": d.end, "at": d.at, "level": d.after, "fall": d.before - d.after}
            for d in self.all_falls
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

        head = ("stage", "start", "end", "at", "level", "fall", "flatness", "quality")
        table = [head, *(tuple(cell(row, key) for key in head) for row in self.rows())]
        widths = [max(map(len, column)) for column in zip(*table, strict=True)]
        lines = ["  ".join(f"{c:<{w}}" for c, w in zip(row, widths, strict=True)).rstrip() for row in table]
        smoothed = f"smoothed over {self.smoothing:.3g} points" if self.smoothing else "not smoothed"
        count = f"{self.n_drops} drop{'s' * (self.n_drops != 1)}"
        return "\n".join([*lines, "; ".join(filter(None, (count, smoothed, self.note)))])

    def draw(self, ax):
        """Over a curve already drawn: plateaus shaded, their levels dotted, drops marked by a line."""
        for i, p in enumerate(self.plateaus):
            ax.axvspan(p.start, p.end, color="#56B4E9", alpha=0.18, lw=0, label=None if i else "plateau")
            ax.plot([p.start, p.end], [p.level] * 2, color="#000000", ls=":", lw=1)
        for kind, style in (("drop", "-"), ("slope", "--"), ("unfinished", ":")):
            for i, d in enumerate(d for d in self.all_falls if d.kind == kind):
                ax.axvline(d.at, color="#D55E00", ls=style, lw=1, label=None if i else kind)
