"""What is found out about one plateau, and how it is shown."""

from dataclasses import dataclass

from saddlescope.theory import Kind

COLUMNS = (
    "plateau",
    "steps",
    "level",
    "width",
    "manifold",
    "off it",
    "fixed point at",
    "its level",
    "its kind",
    "next drop",
    "predicted",
)


@dataclass(frozen=True)
class PlateauExplanation:
    """What is found out about one plateau. What could not be found is None.

    **Arguments:**

    - `start`: The step at which the plateau begins.
    - `end`: The step at which it ends.
    - `level`: The measured loss on it.
    - `step`: The step at which the weights that were read had been saved.
    - `width`: The effective width; 0 where all units are silent.
    - `kind`: The relation between units whose manifold is nearest.
    - `residual`: The distance from that manifold, as a share of the weights' norm.
    - `distance`: The same from the nearest embedded fixed point.
    - `fixed_level`: The loss of that fixed point.
    - `saddle`: Its kind: "strict saddle", "degenerate", "minimum", "not smooth"; "none near" or
      "none found" where there is no such point.
    - `drop`: The step of the next drop, as measured.
    - `predicted`: The step of the next drop, as predicted; infinite where none is foreseen.
    """

    start: float
    end: float
    level: float
    step: int | None = None
    width: int | None = None
    kind: Kind | None = None
    residual: float | None = None
    distance: float | None = None
    fixed_level: float | None = None
    saddle: str | None = None
    drop: float | None = None
    predicted: float | None = None

    @property
    def manifold(self) -> str:
        """The nearest manifold, in words."""
        if self.step is None:
            return "no weights saved on it"
        return f"{self.kind.theorem} {self.kind.name}" if self.kind else "all silent"

    def row(self, number: int) -> tuple:
        """The cells of the table's row of that number, under `COLUMNS`."""
        steps = f"{self.start:.0f}–{self.end:.0f}"
        found = self.residual, self.distance, self.fixed_level, self.saddle
        return number, steps, self.level, self.width, self.manifold, *found, self.drop, self.predicted
