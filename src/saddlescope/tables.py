"""Tables: a few columns of words and numbers, as text, Markdown, LaTeX and CSV.

`compared` is the kind this project is about: a paper's value, ours with its interval, and whether they agree.
"""

import csv
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from io import StringIO

import numpy as np

from saddlescope.results import Results, Run
from saddlescope.stages import Stages
from saddlescope.stages.text_table import aligned

Cell = str | int | float | None
AGREES = ("published", "ours", "95 % for one seed", "verdict")
SPECIAL = {"\\": r"\textbackslash{}", "&": r"\&", "%": r"\%", "_": r"\_", "#": r"\#", "$": r"\$", "–": "--",
           "×": r"$\times$", "≥": r"$\geq$", "≤": r"$\leq$", "−": "$-$", "±": r"$\pm$",
           "λ": r"$\lambda$", "μ": r"$\mu$", "σ": r"$\sigma$", "ℓ": r"$\ell$", "½": r"$\frac12$", "→": r"$\to$",
           "Σ": r"$\Sigma$", "²": "$^2$", "·": r"$\cdot$", "‖": r"$\|$", "ᵀ": r"$^\top$", "ε": r"$\varepsilon$",
           "κ": r"$\kappa$", "φ": r"$\phi$", "γ": r"$\gamma$", "θ": r"$\theta$", "∞": r"$\infty$", "³": "$^3$",
           **{digit: f"$_{k}$" for k, digit in enumerate("₀₁₂₃₄₅₆₇₈₉")}}  # fmt: skip


@dataclass(frozen=True)
class Table:
    """`name` is a word for its files."""

    name: str
    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[Cell]]

    def cells(self) -> list[list[str]]:
        return [[shown(cell) for cell in row] for row in self.rows]

    def text(self) -> str:
        lines = aligned([list(self.columns), *self.cells()])
        return "\n".join([self.title, lines[0], "-" * len(lines[0]), *lines[1:]]) + "\n"

    def markdown(self) -> str:
        rows = [list(self.columns), ["---"] * len(self.columns), *self.cells()]
        escaped = [[cell.replace("|", "\\|") for cell in row] for row in rows]
        return "\n".join([f"**{self.title}**", "", *(f"| {' | '.join(row)} |" for row in escaped)]) + "\n"

    def latex(self) -> str:
        """A `tabular` for the booktabs package, inside a table with its caption."""
        rows = [" & ".join(tex(cell) for cell in row) + r" \\" for row in (self.columns, *self.cells())]
        head = [r"\begin{table}", rf"\caption{{{tex(self.title)}}}", rf"\begin{{tabular}}{{{'l' * len(self.columns)}}}"]
        tail = [r"\bottomrule", r"\end{tabular}", r"\end{table}"]
        return "\n".join([*head, r"\toprule", rows[0], r"\midrule", *rows[1:], *tail]) + "\n"

    def csv(self) -> str:
        """Numbers in full, so that a program can read them back."""
        out = StringIO()
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow(self.columns)
        writer.writerows([["" if cell is None else cell for cell in row] for row in self.rows])
        return out.getvalue()


WAYS = {"txt": Table.text, "md": Table.markdown, "tex": Table.latex, "csv": Table.csv}


def shown(cell: Cell) -> str:
    if cell is None:
        return "–"
    if isinstance(cell, float):
        return "–" if np.isnan(cell) else f"{cell:.0f}" if 1e3 <= abs(cell) < 1e6 else f"{cell:.3g}"
    return str(cell)


def tex(cell: str) -> str:
    """As LaTeX writes it; a letter that it may not know becomes a question mark rather than an error there."""
    return "".join(SPECIAL.get(letter, letter) for letter in cell).encode("ascii", "replace").decode()


def compared(published: float, ours: float, low: float, high: float) -> tuple[Cell, ...]:
    """The cells under AGREES. Without an interval (one seed) there is no verdict."""
    if np.isnan(low):
        return published, ours, None, None
    word = "holds" if low <= published <= high else "does not hold"
    return published, ours, f"{shown(low)} to {shown(high)}", word


def agreeing(table: Table) -> tuple[int, int]:
    """How many rows hold, of those with a verdict."""
    words = [row[-1] for row in table.rows if row[-1] is not None]
    return sum(word == "holds" for word in words), len(words)


def runs_table(results: Results) -> Table:
    """One row per run: its axes, all that is one number or word, and the stages of its loss curve."""
    measured = results.measured
    every = (str(n) for n in (*measured.coords, *measured.data_vars) if measured[n].dims == ("run",))
    single = [name for name in every if name != "setting"]
    rows = [{n: _plain(run[n].values) for n in single if n in run} | _stages_of(run) for run in results.runs()]
    names = stages_last(dict.fromkeys(single) | {n: None for row in rows for n in row})
    return Table("runs", "One row per run", names, [[row.get(n) for n in names] for row in rows])


def stage_columns(stages: Stages) -> dict[str, Cell]:
    """n_drops; drop_1, drop_2, …: when the loss falls fastest; level_0, level_1, …: the plateaus' losses."""
    at = [d.at for d in stages.drops if d.kind == "drop"]
    found: dict[str, Cell] = {"n_drops": len(at)}
    found |= {f"drop_{k + 1}": float(t) for k, t in enumerate(at)}
    return found | {f"level_{k}": float(p.level) for k, p in enumerate(stages.plateaus)}


def stages_last(names: Iterable[str]) -> list[str]:
    """Columns with drop_1, drop_2, … level_0, level_1, … at the end and in order: a later row may have more of them."""
    names = list(names)
    stages = [n for n in names if re.fullmatch(r"(drop|level)_\d+", n)]
    stages.sort(key=lambda n: (n.partition("_")[0], int(n.partition("_")[2])))
    return [n for n in names if n not in set(stages)] + stages


def _stages_of(run: Run) -> dict[str, Cell]:
    has_curve = "loss" in run and run["loss"].dims[:1] in (("step",), ("epoch",))
    return stage_columns(run.stages) if has_curve else {}


def _plain(value) -> Cell:
    return value.item() if value.ndim == 0 else str(value)
