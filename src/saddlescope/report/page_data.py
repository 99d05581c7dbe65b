"""What a page says of one result, read from its folder: for pages, `show` and viewers.

It comes from the files of the folder, and from what the package stores of the paper. These facts
of results.nc and verdicts.json are known here, all of them optional:

    key, title, where     which experiment, and where in which paper
    caption, notes        the first paragraph and the rest of the experiment's docstring
    scale, grid           "quick", "full", or what part of them it is; which of the two it starts from
    trains                false where nothing is trained
    command, date         what made the results, and when
    processor, git_commit, versions, cpu_seconds, wall_seconds
    untested              how many claims these runs do not test
"""

import re
import struct
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from saddlescope.claims import Verdict
from saddlescope.report.facts import Origin, RunsSummary, count_in, decoded, origin_of, summarise, text_in
from saddlescope.report.paper import Paper, Sentence, read_paper
from saddlescope.report.record import full_record_words
from saddlescope.storage import result_folder as store
from saddlescope.storage.netcdf import Raw
from saddlescope.tables import Table

PNG, CSS_PIXELS_PER_METRE = b"\x89PNG\r\n\x1a\n", 96 / 0.0254


@dataclass(frozen=True)
class PageClaim:
    """A claim as a page shows it.

    **Arguments:**

    - `verdict`: the claim, its verdict and the evidence.
    - `sentences`: the paper's sentences that it is about.
    - `full_record`: beside a quick verdict, the word of the full record; empty where there is none.
    """

    verdict: Verdict
    sentences: tuple[Sentence, ...]
    full_record: str = ""


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


@dataclass(frozen=True)
class PageData:
    """One result as pages and listings show it.

    **Arguments:**

    - `key`: the experiment's key.
    - `title`: what it shows.
    - `where`: where it stands in the paper.
    - `paper`: the paper; None for an experiment that belongs to no stored paper.
    - `caption`: what is plotted.
    - `notes`: what else the experiment says of itself.
    - `runs`: how many runs, over which axes and seeds.
    - `claims`: the claims that these runs test.
    - `untested`: how many claims they do not test.
    - `origin`: command, date, commit, processor, versions and cost.
    - `attachments`: figure, movie, tables and files.
    """

    key: str
    title: str
    where: str
    paper: Paper | None
    caption: str
    notes: str
    runs: RunsSummary
    claims: tuple[PageClaim, ...]
    untested: int
    origin: Origin
    attachments: Attachments


def read_page_data(folder, groups: Mapping[str, Raw] | None = None) -> PageData:
    """What a result folder holds. A damaged file is refused by name.

    `groups` is what results.nc holds, where it has just been written and need not be read.
    """
    groups = groups or store.read_groups(folder)[1]
    verdicts, about = _verdicts(Path(folder))
    about = about | decoded(groups[""].facts)  # of the runs, not of a later judgement
    paper = read_paper(text_in(about, "key"))
    is_quick = "quick" in (text_in(about, "grid"), text_in(about, "scale"))
    words = full_record_words(text_in(about, "key")) if is_quick else {}
    texts = {name: text_in(about, name) for name in ("key", "title", "where", "caption", "notes")}
    return PageData(
        **texts,
        paper=paper,
        runs=summarise(groups.get("measured", Raw({}, {}, {})), about),
        claims=tuple(_claim(v, paper, words) for v in verdicts),
        untested=count_in(about, "untested") or 0,
        origin=origin_of(about),
        attachments=_attachments(Path(folder)),
    )


def _claim(verdict: Verdict, paper: Paper | None, full_record: dict[str, str]) -> PageClaim:
    sentences = paper.sentences_of(verdict.where) if paper else ()
    return PageClaim(verdict, sentences, full_record.get(verdict.sentence, ""))


def _verdicts(folder: Path) -> tuple[tuple[Verdict, ...], dict]:
    """Verdicts and facts of a result that has been judged."""
    file = folder / store.VERDICTS
    return store.load_verdicts(file) if file.is_file() else ((), {})


# ---- What lies beside the numbers ----


def _attachments(folder: Path) -> Attachments:
    """What is there, by name."""
    others = (store.RESULTS, store.VERDICTS, "runs.csv", "figure.pdf")
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
