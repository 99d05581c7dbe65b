"""Tables: a few columns of words and numbers, as text, Markdown, LaTeX and CSV.

`compared` is the kind this project is about: a paper's value, ours with its interval, and whether they agree.
"""

import csv
from collections.abc import Sequence
from dataclasses import dataclass
from io import StringIO

import numpy as np

from saddlescope.results import Results

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
        rows = [list(self.columns), *self.cells()]
        widths = [max(len(row[k]) for row in rows) for k in range(len(self.columns))]
        lines = ["  ".join(cell.ljust(w) for cell, w in zip(row, widths, strict=True)).rstrip() for row in rows]
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
    """A row a run: its axes, and all that is one number or word."""
    measured = results.measured
    names = [str(n) for n in (*measured.coords, *measured.data_vars) if measured[n].dims == ("run",) and n != "setting"]
    columns = [measured[n].values for n in names]
    rows = [[v.item() if isinstance(v, np.generic) else v for v in row] for row in zip(*columns, strict=True)]
    return Table("runs", "One row a run", names, rows)
