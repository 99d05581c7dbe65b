"""What there is to run: title, place in the paper, cost and verdicts of experiments.

Those of papers come from papers/recorded.json, which sums up all records: `list` then reads one file, and imports
neither an experiment nor numpy. Those of the user's own come from their source files.
"""

import json
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from saddlescope.report.source_file import SourceFile, read_source

PAPERS = Path(__file__).parents[1] / "papers"


@dataclass(frozen=True)
class Entry:
    """One experiment of a listing.

    **Arguments:**

    - `key`: what `run` takes.
    - `title`: what it shows.
    - `source`: its place in the paper.
    - `file`: the Python file that defines it.
    - `seconds`: CPU seconds of the recorded runs, by scale; empty where none is recorded.
    - `verdicts`: the recorded verdicts in one line; empty where none are recorded.
    """

    key: str
    title: str
    source: str
    file: str
    seconds: dict[str, float] = field(default_factory=dict)
    verdicts: str = ""

    def matches(self, text: str) -> bool:
        """Whether the key, the title or the place contains the text, in any case."""
        return text.casefold() in f"{self.key}\n{self.title}\n{self.source}".casefold()


def entry_of_key(key: str) -> Entry:
    """Of an experiment of a paper: from its record, else from its file."""
    file = str(PAPERS.joinpath(*key.split(".")).with_suffix(".py"))
    said = _recorded().get(key)
    return Entry(key, file=file, **said) if said else entry_of_file(file, key)


@cache
def _recorded() -> dict[str, dict]:
    return json.loads((PAPERS / "recorded.json").read_text("utf-8"))


def entries_of_folder(folder) -> list[Entry]:
    """The experiments of the user's own in a folder: files with a line `experiment = Experiment(...)`."""
    files = sorted(Path(folder).glob("*.py"))
    return [entry_of_file(path, str(path)) for path in files if read_source(path) is not None]


def entry_of_file(path, key: str) -> Entry:
    """Of one experiment of the user's own, by what the user calls it."""
    said = read_source(path) or SourceFile()
    return Entry(key, said.title or key, said.source, str(path))
