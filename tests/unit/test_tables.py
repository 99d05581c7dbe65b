"""Tables in four forms."""

import csv
import io
import shutil
import subprocess

import numpy as np
import pytest
import xarray as xr

from saddlescope.results import Results
from saddlescope.tables import WAYS, Table, agreeing, compared, runs_table

ROWS = [("a|b", 1.23456e-5, None), ("c", 2, 3.0)]
TABLE = Table(
    "errors", "Errors at 50 % & more", ("run_1", "published", "ours"), [("a|b", 1.23456e-5, None), ("c", 2, 3.0)]
)


def test_text_is_aligned():
    lines = TABLE.text().splitlines()
    assert lines[0] == "Errors at 50 % & more"
    assert lines[1].index("ours") == lines[4].index("3")
    assert "1.23e-05" in lines[3]
    assert lines[3].endswith("–")


def test_markdown_escapes_bars_and_has_one_width():
    rows = [line for line in TABLE.markdown().splitlines() if line.startswith("|")]
    assert len(rows) == 4
    assert "a\\|b" in rows[2]
    assert len({row.replace("\\|", "").count("|") for row in rows}) == 1


def test_csv_reads_back_in_full():
    rows = list(csv.DictReader(io.StringIO(TABLE.csv())))
    assert float(rows[0]["published"]) == 1.23456e-5
    assert rows[0]["ours"] == ""
    assert rows[0]["run_1"] == "a|b"


def test_latex_escapes_what_latex_would_take_for_its_own(tmp_path):
    text = TABLE.latex()
    assert r"50 \% \& more" in text
    assert r"run\_1" in text
    assert text.count(r"\\") == 3
    if shutil.which("pdflatex"):
        page = r"\documentclass{article}\usepackage{booktabs}\begin{document}" + text + r"\end{document}"
        (tmp_path / "t.tex").write_text(page)
        words = ["pdflatex", "-halt-on-error", "t.tex"]
        assert subprocess.run(words, cwd=tmp_path, capture_output=True).returncode == 0


@pytest.mark.parametrize("way", WAYS.values())
def test_every_form_ends_with_a_line(way):
    assert way(TABLE).endswith("\n")


def test_a_published_value_is_compared_with_the_interval():
    assert compared(3, 2.5, 2, 4)[-1] == "holds"
    assert compared(5, 2.5, 2, 4)[-1] == "does not hold"
    assert compared(5, 2.5, np.nan, np.nan)[2:] == (None, None)
    table = Table("t", "t", ("published", "ours", "interval", "verdict"), [compared(v, 1, 0, 2) for v in (1, 3, 2)])
    assert agreeing(table) == (2, 3)


def test_a_row_a_run_holds_axes_and_single_numbers():
    measured = xr.Dataset(
        {"error": ("run", [0.1, 0.2]), "curve": (("run", "step"), np.zeros((2, 3))), "setting": ("run", ["{}", "{}"])},
        {"seed": ("run", [0, 1])},
    )
    table = runs_table(Results(measured, xr.Dataset(coords={"seed": ("run", [0, 1])})))
    assert list(table.columns) == ["seed", "error"]
    assert [list(row) for row in table.rows] == [[0, 0.1], [1, 0.2]]


def test_latex_gets_letters_it_knows():
    """Greek is written out; a letter we have no LaTeX for becomes a question mark, not an error in the paper."""
    made = Table("t", "λ and ℓ", ("μ", "漢"), [("½", "a|b")]).latex()
    assert made.isascii()
    assert r"$\lambda$ and $\ell$" in made
    assert r"$\mu$ & ?" in made
