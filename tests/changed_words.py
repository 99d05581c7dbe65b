"""Which verdicts have another word than in the record before, and why.

docs/words_before.csv holds the words of the record before; docs/word_reasons.toml, written by hand, the reasons: one
for all claims of an experiment (`why`), or one for a claim (`claims`); and what became of sentences that are worded
otherwise now (`now`) or are gone (`gone`).
"""

import csv
import tomllib
from pathlib import Path
from typing import NamedTuple

from saddlescope.numerics import VERSION
from saddlescope.report.record import recorded
from saddlescope.workflows.find import experiment_keys

DOCS = Path(__file__).parents[1] / "docs"
REASONS = tomllib.loads((DOCS / "word_reasons.toml").read_text(encoding="utf-8"))
GONE = "–"


class Change(NamedTuple):
    key: str
    sentence: str
    was: str
    now: str
    why: str


def words_before():
    with open(DOCS / "words_before.csv", encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def said(word, counts):
    return f"{word} ({counts})" if counts else word


def changes() -> list[Change]:
    """One for every sentence whose word is another one, or which is gone; of experiments that were recorded again."""
    found = []
    for row in words_before():
        key, sentence, was = row["experiment"], row["sentence"], row["word"]
        record = recorded(key, "full") if key in experiment_keys() else None
        if record and record[1]["versions"]["numerics"] != VERSION:
            continue
        reasons, verdicts = REASONS.get(key, {}), {v.sentence: v for v in record[0]} if record else {}
        worded = reasons.get("now", {}).get(sentence, sentence)
        if worded not in verdicts:
            why = reasons.get("gone", {}).get(sentence, "")
            found.append(Change(key, sentence, said(was, row["counts"]), GONE, why))
        elif (v := verdicts[worded]).word != was:
            counts = str(v.counts[0]) if v.counts else ""
            why = reasons.get("claims", {}).get(worded, reasons.get("why", ""))
            found.append(Change(key, worded, said(was, row["counts"]), said(v.word, counts), why))
    return found


def changed_table() -> str:
    """The changes as Markdown."""
    head = ("experiment", "claim", "was", "is", "why")
    rows = [(f"`{c.key}`", *(cell.replace("|", "\\|") for cell in c[1:])) for c in changes()]
    return "\n".join(f"| {' | '.join(row)} |" for row in (head, ("---",) * len(head), *rows))


def words_counted() -> str:
    """How many claims have each word, before and now, in the experiments that were recorded again."""
    keys = [k for k in experiment_keys() if (r := recorded(k, "full")) and r[1]["versions"]["numerics"] == VERSION]
    words = ("holds", "partly", "does not hold", "cannot tell", "by construction")
    before = [row["word"] for row in words_before() if row["experiment"] in keys]
    now = [v.word for key in keys for v in recorded(key, "full")[0]]
    rows = (("when", "claims", *words), ("---",) * 7, *(
        (name, len(found), *map(found.count, words)) for name, found in (("before", before), ("now", now))
    ))  # fmt: skip
    return "\n".join(f"| {' | '.join(map(str, row))} |" for row in rows)
