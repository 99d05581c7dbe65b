"""What there is to run: title, place in the paper and cost of experiments, from records and from source files.

Nothing here imports an experiment or JAX.
"""

from dataclasses import dataclass, field
from importlib import resources
from pathlib import Path

from saddlescope.report.record import recorded
from saddlescope.report.source_file import SourceFile, read_source

SCALES = ("quick", "full")


@dataclass(frozen=True)
class Entry:
    """One experiment of a listing.

    **Arguments:**

    - `key`: what `run` takes.
    - `title`: what it shows.
    - `source`: its place in the paper.
    - `file`: the Python file that defines it.
    - `seconds`: CPU seconds of the recorded runs, by scale; empty where none is recorded.
    """

    key: str
    title: str
    source: str
    file: str
    seconds: dict[str, float] = field(default_factory=dict)

    def matches(self, text: str) -> bool:
        """Whether the key, the title or the place contains the text, in any case."""
        return text.casefold() in f"{self.key}\n{self.title}\n{self.source}".casefold()


def entry_of_key(key: str) -> Entry:
    """Of an experiment of a paper: from its record, else from its file."""
    records = {scale: found[1] for scale in SCALES if (found := recorded(key, scale))}
    seconds = {scale: float(r["cpu_seconds"]) for scale, r in records.items()}
    if records:
        about = records.get("full") or records["quick"]
        source = about.get("where", "")
        return Entry(key, about["title"], source, _file_of_key(key), seconds)
    return entry_of_file(_file_of_key(key), key)


def entries_of_folder(folder) -> list[Entry]:
    """The experiments of the user's own in a folder: files with a line `experiment = Experiment(...)`."""
    files = sorted(Path(folder).glob("*.py"))
    return [entry_of_file(path, str(path)) for path in files if read_source(path) is not None]


def entry_of_file(path, key: str) -> Entry:
    """Of one experiment of the user's own, by what the user calls it."""
    said = read_source(path) or SourceFile()
    return Entry(key, said.title or key, said.source, str(path))


def _file_of_key(key: str) -> str:
    paper, _, name = key.partition(".")
    return str(resources.files("saddlescope.papers") / paper / f"{name}.py")
