"""A paper's sentences as its page lists them, and what is made of them from the record: verdicts, counts, figures."""

import re
from dataclasses import dataclass
from pathlib import Path

from saddlescope.report.record import recorded
from saddlescope.workflows.find import experiment_keys as keys
from saddlescope.workflows.find import find_experiment as find

ROOT = Path(__file__).parents[1]
KINDS = ("holds", "partly", "does not hold", "cannot tell", "not tested", "not yet run")


def between(text, name):
    found = re.search(rf"<!-- {name} -->\n(.*?)\n<!-- /{name} -->", text, re.DOTALL)
    assert found, f"there is no <!-- {name} --> block"
    return found[1]


def table(*rows):
    head, *rest = rows
    return "\n".join(f"| {' | '.join(map(str, row))} |" for row in (head, ("---",) * len(head), *rest))


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
        rows = [line.split("|") for line in lines if line.startswith(f"| {self.letter}")]
        found = lambda cell: re.findall(rf"`{self.paper}\.(\w+)`", cell)  # noqa: E731
        return {row[1].strip(): Sentence(row[2].strip(), found(row[4]), row[4]) for row in rows}

    def numbers(self, where):
        """The sentences that a claim names; "S2–S4" names three."""
        spans = re.findall(rf"{self.letter}(\d+)(?:–{self.letter}(\d+))?", where)
        return {f"{self.letter}{n}" for a, b in spans for n in range(int(a), int(b or a) + 1)}

    def claimed(self, key):
        return {number for c in find(key).claims for number in self.numbers(c.where)}

    def verdicts(self):
        """What became of the paper's sentences, from the record."""
        rows = [("no.", "the paper's sentence", "verdict", "experiment")]
        for number, sentence in self.sentences().items():
            claims = [(v, n) for n in sentence.names for v in (recorded(f"{self.paper}.{n}", "full") or ((),))[0]]
            found = [(v, name) for v, name in claims if number in self.numbers(v.where)]
            several = len({v.sentence for v, _ in found}) > 1
            marks = [
                (f"**{v.word}**" if v.word != "holds" else v.word, f" ({v.sentence[:-1]})" * several) for v, _ in found
            ]
            mark = "; ".join(word + which for word, which in marks)
            mark = mark or ("not yet run" if sentence.tested else "not tested")
            experiments = ", ".join(dict.fromkeys(f"`{self.paper}.{n}`" for _, n in found))
            rows.append((number, sentence.text, mark, experiments))
        return table(*rows)

    def summary(self):
        """How many of the sentences have which verdict."""
        cells = [
            re.sub(r" \([^;]*\)(?=;|$)", "", row.split("|")[3].strip()) for row in self.verdicts().splitlines()[2:]
        ]
        words = [cell.replace("**", "") for cell in cells]
        counts = {kind: sum(set(w.split("; ")) == {kind} for w in words) for kind in KINDS}
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


PAGES = (Page("valleys", "V"), Page("simplicity", "S"))
