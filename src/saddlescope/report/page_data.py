"""What a page says of one result, read from its folder: for pages, `show` and viewers.

It comes from the files of the folder, and from what the package stores of the paper. These facts
of results.nc and verdicts.json are known here, all of them optional:

    key, title, where     which experiment, and where in which paper
    caption, notes        the first paragraph and the rest of the experiment's docstring
    scale, planned_runs   "quick", "full" or another word, and how many runs that scale has
    trains                false where nothing is trained
    command, date         what made the results, and when
    processor, git_commit, versions, cpu_seconds, wall_seconds
    untested              how many claims these runs do not test
"""

from dataclasses import dataclass
from pathlib import Path

import xarray as xr

from saddlescope.claims import Verdict
from saddlescope.report.attachments import Attachments, find_attachments
from saddlescope.report.facts import count_of, decoded, text_of
from saddlescope.report.origin import Origin, origin_of
from saddlescope.report.paper import Paper, Sentence, read_paper
from saddlescope.report.runs_summary import RunsSummary, summarise
from saddlescope.storage import result_folder as store


@dataclass(frozen=True)
class PageClaim:
    """A claim as a page shows it.

    **Arguments:**

    - `verdict`: the claim, its verdict and the evidence.
    - `sentences`: the paper's sentences that it is about.
    """

    verdict: Verdict
    sentences: tuple[Sentence, ...]


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


def read_page_data(folder) -> PageData:
    """What a result folder holds. A damaged file is refused by name."""
    _, groups = store.read_groups(folder)
    verdicts, about = _verdicts(Path(folder))
    about = about | decoded(groups[""].attrs)  # of the runs, not of a later judgement
    paper = read_paper(text_of(about, "key"))
    texts = {name: text_of(about, name) for name in ("key", "title", "where", "caption", "notes")}
    return PageData(
        **texts,
        paper=paper,
        runs=summarise(groups.get("measured", xr.Dataset()), about),
        claims=tuple(PageClaim(v, paper.sentences_of(v.where) if paper else ()) for v in verdicts),
        untested=count_of(about, "untested") or 0,
        origin=origin_of(about),
        attachments=find_attachments(folder),
    )


def _verdicts(folder: Path) -> tuple[tuple[Verdict, ...], dict]:
    """Verdicts and facts of a result that has been judged."""
    file = folder / store.VERDICTS
    return store.load_verdicts(file) if file.is_file() else ((), {})
