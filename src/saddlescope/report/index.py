"""The pages that lead to results: an index by paper, and the sentences of each paper."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from saddlescope.claims import Verdict
from saddlescope.errors import InvalidInput
from saddlescope.report.facts import count_in, scale_line, text_in
from saddlescope.report.html import MARKS, Html, fill, framed, joined, link, tally_line
from saddlescope.report.paper import Paper, numbers_in, read_paper
from saddlescope.storage import result_folder as store

ENTRY = """<tr><td>$page<br><small>$where</small></td><td>$title<br><small>$runs</small></td>
<td class="tally" title="$tally">$marks</td></tr>"""
RESULTS = '<table class="list results">$rows</table>'
SENTENCE = """<tr id="$number"><td class="number"><b>$number</b></td>
<td>$text<br><small>$where</small></td><td>$checks</td></tr>"""
PAPER = """<nav>$back</nav><h1>$title</h1><p>$about</p>
<p>What the paper says, in short and in our words, and what these results make of it.</p>
$legend<table class="list">$rows</table>"""


@dataclass(frozen=True)
class IndexEntry:
    """A result as the index lists it.

    **Arguments:**

    - `folder`: the name of its folder.
    - `key`, `title`, `where`: the experiment, and where it stands in the paper.
    - `runs`: scale, number of runs and date in one line.
    - `verdicts`: its verdicts.
    - `untested`: how many claims its runs do not test.
    """

    folder: str
    key: str
    title: str
    where: str
    runs: str
    verdicts: tuple[Verdict, ...]
    untested: int = 0


def read_index(out) -> list[IndexEntry]:
    """All finished results of a folder. A damaged one must not spoil the page of the others."""
    entries = []
    for file in sorted(Path(out).glob(f"*/{store.VERDICTS}")):
        try:
            if store.is_sealed(file.parent):
                entries.append(_entry(file.parent.name, *store.load_verdicts(file)))
        except InvalidInput:
            continue  # `list` and `show` name it
    return entries


def index_pages(entries: Sequence[IndexEntry]) -> dict[str, str]:
    """File name → page: index.html, and one page for each paper with its sentences."""
    papers = _papers(entries)
    pages = {"index.html": index_page(entries)}
    for paper in filter(None, papers.values()):
        if paper.sentences:
            pages[f"{paper.name}.html"] = _paper_page(paper, entries)
    return pages


def index_page(entries: Sequence[IndexEntry]) -> str:
    """All results by paper, with what became of their claims."""
    parts = [Html("<h1>Saddlescope results</h1>"), _legend()]
    for name, paper in _papers(entries).items():
        rows = [_row(e) for e in entries if _paper_name(e) == name]
        parts += [_heading(paper), fill(RESULTS, rows=joined(rows))]
    return framed("Saddlescope results", joined(parts))


def _paper_page(paper: Paper, entries: Iterable[IndexEntry]) -> str:
    """The paper's sentences, each with the verdicts on it among these results."""
    checks = {number: [] for number in paper.sentences}
    for entry in entries:
        for verdict in entry.verdicts if _paper_name(entry) == paper.name else ():
            for number in numbers_in(verdict.where):
                checks.get(number, []).append(_check(verdict, entry))
    untested = Html('<span class="not-tested">not tested by these results</span>')
    rows = []
    for number, said in paper.sentences.items():
        found = joined(dict.fromkeys(checks[number])) or untested
        rows.append(fill(SENTENCE, number=number, text=said.text, where=said.where, checks=found))
    back = link("← all results", "index.html")
    about = {"title": paper.title, "about": paper.about, "legend": _legend()}
    body = fill(PAPER, back=back, rows=joined(rows), **about)
    return framed(paper.title, body)


def _entry(folder: str, verdicts, about) -> IndexEntry:
    scale = scale_line(text_in(about, "scale"), count_in(about, "runs") or 0)
    runs = " · ".join(filter(None, (scale, text_in(about, "date"))))
    key, title, where = (text_in(about, name) for name in ("key", "title", "where"))
    untested = count_in(about, "untested") or 0
    return IndexEntry(folder, key or folder, title, where, runs, verdicts, untested)


def _papers(entries: Iterable[IndexEntry]) -> dict[str, Paper | None]:
    """The papers in the order of their results; under an empty name what belongs to none."""
    return {_paper_name(e): read_paper(e.key) for e in entries}


def _paper_name(entry: IndexEntry) -> str:
    paper = read_paper(entry.key)
    return paper.name if paper else ""


def _heading(paper: Paper | None) -> Html:
    if paper is None:
        return Html("<h2>Other experiments</h2>")
    lead = link("its sentences, one by one", f"{paper.name}.html") if paper.sentences else Html()
    return fill("<h2>$title</h2><p>$about<br>$lead</p>", title=paper.title, about=paper.about, lead=lead)


def _row(entry: IndexEntry) -> Html:
    words = [v.word for v in entry.verdicts]
    counts = {word: n for word in MARKS if (n := words.count(word))}
    marks = [_mark(word, f"{MARKS[word]} {n}") for word, n in counts.items()]
    marks += [_mark("not tested", f"{entry.untested} not tested")] if entry.untested else []
    return fill(
        ENTRY,
        page=link(entry.folder, entry.folder, "index.html"),
        where=entry.where,
        title=entry.title,
        runs=entry.runs,
        tally=tally_line(words),
        marks=joined(marks),
    )


def _mark(word: str, text: str) -> Html:
    return fill('<span class="mark $kind">$text</span>', kind=word.replace(" ", "-"), text=text)


def _check(verdict: Verdict, entry: IndexEntry) -> Html:
    mark = _mark(verdict.word, f"{MARKS[verdict.word]} {verdict.word}")
    page = link(entry.folder, entry.folder, "index.html")
    return fill('<div class="check">$mark $page</div>', mark=mark, page=page)


def _legend() -> Html:
    marks = [_mark(word, f"{mark} {word}") for word, mark in MARKS.items()]
    return fill('<p class="soft">$marks</p>', marks=joined(marks))
