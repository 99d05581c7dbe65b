"""A paper as the package stores it: its title, authors and place, and its sentences by number.

papers/<paper>/paper.json is written by hand, sentences.json by tools/sentences.py from the list in
the docs. Both are read as files: nothing of `papers` is imported.
"""

import json
import re
from dataclasses import dataclass, field
from functools import cache
from importlib import resources


@dataclass(frozen=True)
class Sentence:
    """A sentence of a paper, in short and in our words.

    **Arguments:**

    - `number`: the letter of the paper and a number, as in "S24".
    - `text`: what the paper says.
    - `where`: the places in the paper that say so.
    """

    number: str
    text: str
    where: str


@dataclass(frozen=True)
class Paper:
    """What a page says about a paper.

    **Arguments:**

    - `name`: the first part of the keys of its experiments, as in "simplicity".
    - `title`: its title.
    - `authors`: their names, in the paper's order.
    - `place`: where it was published or submitted; empty if its text does not say.
    - `link`: its address; empty if no text gives one.
    - `sentences`: number → sentence; empty until the docs list them.
    """

    name: str
    title: str
    authors: tuple[str, ...]
    place: str = ""
    link: str = ""
    sentences: dict[str, Sentence] = field(default_factory=dict)

    @property
    def about(self) -> str:
        """The authors and the place in one line."""
        *first, last = self.authors
        by = f"{', '.join(first)} and {last}" if first else last
        return " · ".join(filter(None, (by, self.place)))

    def sentences_of(self, where: str) -> tuple[Sentence, ...]:
        """The sentences that a claim's place names."""
        return tuple(self.sentences[n] for n in numbers_in(where) if n in self.sentences)


def numbers_in(where: str) -> list[str]:
    """The numbers of sentences in a claim's place, in order; "S2–S4 · Fig. 1" names three."""
    spans = re.findall(r"\b([A-Z])(\d{1,4})\b(?:–\1(\d{1,4})\b)?", where.partition("·")[0])
    return [f"{letter}{n}" for letter, a, b in spans for n in range(int(a), int(b or a) + 1)]


@cache
def read_paper(key: str) -> Paper | None:
    """The paper of an experiment's key; None for an experiment that belongs to no stored paper."""
    name = key.partition(".")[0]
    if not name.isidentifier():  # it becomes a path
        return None
    folder = resources.files("saddlescope") / "papers" / name
    about = _read(folder / "paper.json")
    if about is None:
        return None
    listed = (_read(folder / "sentences.json") or {}).items()
    return Paper(
        name,
        about["title"],
        tuple(about["authors"]),
        about["place"],
        about["link"],
        {number: Sentence(number, **said) for number, said in listed},
    )


def _read(file) -> dict | None:
    return json.loads(file.read_text(encoding="utf-8")) if file.is_file() else None
