"""The record: verdicts that a release stands by, kept beside each paper's experiments.

A run elsewhere may give another word by chance: float32 runs differ from processor to processor.
So counts are compared, not words: `differences` says which differ, and which do so beyond chance.
"""

import json
from dataclasses import dataclass
from importlib import resources

from saddlescope.claims import HOLDS, UNCLEAR, Verdict, tally
from saddlescope.errors import number_of

SCALES = ("quick", "full")


def recorded(key: str, scale: str) -> tuple[tuple[Verdict, ...], dict] | None:
    """The recorded verdicts of an experiment at a scale, and what is said about them; or None."""
    paper, _, name = key.partition(".")
    if not (paper.isidentifier() and name.isidentifier()):  # they become a path
        return None
    file = resources.files("saddlescope") / "papers" / paper / "verdicts" / f"{name}.{scale}.json"
    if not file.is_file():
        return None
    about = json.loads(file.read_text("utf-8"))
    return tuple(map(Verdict.from_json, about.pop("claims"))), about


def summed_up(keys) -> str:
    """What a listing says of each recorded experiment, as papers/recorded.json keeps it: one line each."""
    found = {key: said for key in keys if (said := _summary(key))}
    lines = (f"{json.dumps(key)}: {json.dumps(said, ensure_ascii=False)}" for key, said in found.items())
    return "{\n" + ",\n".join(lines) + "\n}\n"


def _summary(key) -> dict | None:
    records = {scale: found for scale in SCALES if (found := recorded(key, scale))}
    if not records:
        return None
    _, about = records.get("full") or records["quick"]
    seconds = {scale: float(said["cpu_seconds"]) for scale, (_, said) in records.items()}
    verdicts = in_one_line(*records["full"], "recorded") if "full" in records else ""
    return {"title": about["title"], "source": about.get("where", ""), "seconds": seconds, "verdicts": verdicts}


def in_one_line(verdicts, about, whose) -> str:
    """`5 of 9 claims hold (yours, quick, 8 runs)`."""
    return f"{tally(verdicts)} ({whose}, {about['scale']}, {number_of(int(about.get('runs') or 0), 'run')})"


@dataclass(frozen=True)
class Difference:
    """A verdict that is not the recorded one.

    **Arguments:**

    - `ours`: the verdict of these runs.
    - `recorded`: that of the record; None where it has none.
    - `beyond_chance`: whether other random numbers alone would hardly explain it.
    """

    ours: Verdict
    recorded: Verdict | None
    beyond_chance: bool

    def __str__(self):
        chance = "beyond chance" if self.beyond_chance else "within chance"
        ours, known = _said(self.ours), _said(self.recorded)
        return f"{self.ours.sentence!r} {ours}; recorded: {known} ({chance})"


def _said(verdict):
    if verdict is None:
        return "nothing yet"
    return f"{verdict.word}, {verdict.counts[0]}" if verdict.counts else verdict.word


def differences(key: str, scale: str, verdicts) -> list[Difference]:
    """What is not as recorded. A claim without a record should hold, or not be decided."""
    found = recorded(key, scale)
    expected = {v.sentence: v for v in found[0]} if found else {}
    pairs = ((v, expected.get(v.sentence)) for v in verdicts)
    return [d for ours, known in pairs if (d := difference(ours, known))]


def difference(ours: Verdict, known: Verdict | None) -> Difference | None:
    """How a verdict differs from the recorded one; None where it does not.

    Counts are compared by Fisher's exact test at 1 %, setting by setting where the record has them.
    Without counts another word is beyond chance, unless either is that the runs cannot tell.
    """
    if known is None:
        new = Difference(ours, None, ours.word != UNCLEAR)
        return None if ours.word == HOLDS else new
    pairs = _paired(ours.counts, known.counts)
    if pairs:
        beyond = any(a.differs_from(b) for a, b in pairs)
    else:
        beyond = ours.word != known.word and UNCLEAR not in (ours.word, known.word)
    return Difference(ours, known, beyond) if beyond or ours.word != known.word else None


def full_record_words(key: str) -> dict[str, str]:
    """The sentence of each claim → its word in the full record, to be shown beside a quick verdict."""
    found = recorded(key, "full")
    return {v.sentence: v.word for v in found[0]} if found else {}


def _paired(ours, known):
    """The counts of the same settings, and those of all runs."""
    theirs = {count.group: count for count in known}
    return [(count, theirs[count.group]) for count in ours if count.group in theirs]
