"""A paper's sentences as its page lists them, and what is made of them from the record: verdicts, counts, figures."""

import re
from dataclasses import dataclass
from pathlib import Path

from saddlescope.report.record import recorded
from saddlescope.workflows.find import experiment_keys as keys
from saddlescope.workflows.find import find_experiment as find

ROOT = Path(__file__).parents[1]
PLAIN = ("holds", "not tested", "not yet run")
SEVERAL = "Of sentences with several checks, these checks have another verdict than *holds*:"
KINDS = ("holds", "partly", "does not hold", "cannot tell", "not tested", "not yet run")


def between(text, name):
    found = re.search(rf"<!-- {name} -->\n(.*?)\n<!-- /{name} -->", text, re.DOTALL)
    assert found, f"there is no <!-- {name} --> block"
    return found[1]


def table(*rows):
    head, *rest = rows
    return "\n".join(f"| {' | '.join(map(str, row))} |" for row in (head, ("---",) * len(head), *rest))


def counted(words):
    """`holds`, or `holds (2 of 3); **cannot tell** (1 of 3)` where there are several checks."""
    shown = {word: word if word in PLAIN else f"**{word}**" for word in words}
    if len(words) == 1:
        return shown[words[0]]
    return "; ".join(f"{mark} ({words.count(word)} of {len(words)})" for word, mark in shown.items())


@dataclass(frozen=True)
class Sentence:
    text: str
    names: list[str]  # experiments that check it
    check: str

    @property
    def tested(self):
        return not self.check.strip().startswith("not tested")


@dataclass(frozen=True)
class Page:
    """docs/<paper>.md, whose sentences are numbered with a letter."""

    paper: str
    letter: str

    @property
    def file(self):
        return ROOT / "docs" / f"{self.paper}.md"

    @property
    def keys(self):
        return [k for k in keys() if k.startswith(f"{self.paper}.")]

    def sentences(self) -> dict[str, Sentence]:
        lines = between(self.file.read_text(), "list").splitlines()
        rows = [re.split(r"(?<!\\)\|", line) for line in lines if line.startswith(f"| {self.letter}")]
        found = lambda cell: re.findall(rf"`{self.paper}\.(\w+)`", cell)  # noqa: E731
        return {row[1].strip(): Sentence(row[2].strip(), found(row[4]), row[4]) for row in rows}

    def numbers(self, where):
        """The sentences that a claim names; "S2–S4" names three."""
        spans = re.findall(rf"{self.letter}(\d+)(?:–{self.letter}(\d+))?", where)
        return {f"{self.letter}{n}" for a, b in spans for n in range(int(a), int(b or a) + 1)}

    def claimed(self, key):
        return {number for c in find(key).claims for number in self.numbers(c.where)}

    def found(self) -> dict[str, list[tuple]]:
        """Number → the recorded verdicts of the claims that name it, each with its experiment."""
        found = {}
        for number, sentence in self.sentences().items():
            keys = [f"{self.paper}.{name}" for name in sentence.names]
            claims = [(v, key) for key in keys for v in (recorded(key, "full") or ((),))[0]]
            found[number] = [(v, key) for v, key in claims if number in self.numbers(v.where)]
        return found

    def words(self) -> dict[str, list[str]]:
        """Number → the word of each of its checks."""
        sentences = self.sentences()
        without = {n: "not yet run" if s.tested else "not tested" for n, s in sentences.items()}
        return {n: [v.word for v, _ in of] or [without[n]] for n, of in self.found().items()}

    def verdicts(self):
        """What became of the paper's sentences, from the record; below, the checks that stand out."""
        found, words = self.found(), self.words()
        rows = [("no.", "the paper's sentence", "verdict", "experiment")]
        for number, sentence in self.sentences().items():
            keys = ", ".join(dict.fromkeys(f"`{key}`" for _, key in found[number]))
            rows.append((number, sentence.text, counted(words[number]), keys))
        return f"{table(*rows)}\n\n{SEVERAL}\n\n{self.exceptions()}"

    def exceptions(self):
        """Of sentences with several checks, those that do not hold."""
        lines = []
        for number, found in self.found().items():
            failing = [(v, key) for v, key in found if v.word != "holds"] if len(found) > 1 else []
            lines += [f"- **{number}**, {v.word}: {v.sentence} (`{key}`)" for v, key in failing]
        return "\n".join(lines)

    def summary(self):
        """How many of the sentences have which verdict."""
        words = list(self.words().values())
        counts = {kind: sum(set(w) == {kind} for w in words) for kind in KINDS}
        counts["of several checks, not all alike"] = len(words) - sum(counts.values())
        return table(("of the paper's sentences", "number"), *counts.items(), ("all", len(words)))

    def gallery(self):
        """Every figure of the paper's experiments."""
        parts = []
        for key in self.keys:
            if (ROOT / "results" / key / "figure.png").exists():
                e = find(key)
                parts.append(f"### {e.title}\n\n`{key}` ({e.source})\n\n![{e.title}](../results/{key}/figure.png)")
        return "\n\n".join(parts)


PAGES = (Page("valleys", "V"), Page("simplicity", "S"), Page("escape", "E"), Page("meanfield", "M"))
