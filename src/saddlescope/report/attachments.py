"""What lies beside the numbers of a result: figure, movie, tables, files to take away."""

import re
import struct
from dataclasses import dataclass
from pathlib import Path

from saddlescope.storage.result_folder import RESULTS, VERDICTS
from saddlescope.tables import Table

PNG, CSS_PIXELS_PER_METRE = b"\x89PNG\r\n\x1a\n", 96 / 0.0254


@dataclass(frozen=True)
class Attachments:
    """Files of a result folder that a page shows or links.

    **Arguments:**

    - `figure`: width and height of figure.png on a screen, in CSS pixels; None without one.
    - `movie`: name of the movie's file; empty without one.
    - `tables`: the tables of the experiment, every cell as text.
    - `files`: names of the other files.
    """

    figure: tuple[int, int] | None
    movie: str
    tables: tuple[Table, ...]
    files: tuple[str, ...]


def find_attachments(folder) -> Attachments:
    """What is there, by name."""
    folder = Path(folder)
    others = (RESULTS, VERDICTS, "runs.csv", "figure.pdf")
    return Attachments(
        figure=_size_on_screen(folder / "figure.png"),
        movie=next((file.name for file in sorted(folder.glob("movie.*"))), ""),
        tables=tuple(map(_read_table, sorted(folder.glob("table_*.md")))),
        files=tuple(name for name in others if (folder / name).is_file()),
    )


def _size_on_screen(file: Path) -> tuple[int, int] | None:
    """The size that the figure has on paper: 160 dots per inch are more than one per CSS pixel."""
    head = file.read_bytes()[:400] if file.is_file() else b""
    if not head.startswith(PNG) or len(head) < 24:
        return None
    width, height = struct.unpack(">II", head[16:24])
    density, scale = re.search(rb"pHYs(.{4}).{4}\x01", head, re.DOTALL), 1.0
    if density and (dots := struct.unpack(">I", density[1])[0]):
        scale = CSS_PIXELS_PER_METRE / dots
    return round(width * scale), round(height * scale)


def _read_table(file: Path) -> Table:
    """A table as its Markdown file has it: a title, then rows between bars."""
    lines = file.read_text(encoding="utf-8").splitlines()
    rows = [_cells(line) for line in lines if line.startswith("|")]
    title = lines[0].strip("*") if lines else ""
    name = file.stem.removeprefix("table_")
    return Table(name, title, rows[0] if rows else [], rows[2:])


def _cells(line: str) -> list[str]:
    return [cell.strip().replace("\\|", "|") for cell in re.split(r"(?<!\\)\|", line)[1:-1]]
