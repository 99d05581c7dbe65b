"""The record: verdicts that a release stands by, kept beside each paper's experiments, quick and full."""

import json
from importlib import resources

from saddlescope.claims import Verdict
from saddlescope.experiment import find


def recorded(key: str, scale: str) -> tuple[tuple[Verdict, ...], dict] | None:
    """The recorded verdicts of an experiment at a scale, and what is said about them; None where there are none."""
    paper, _, name = key.partition(".")
    file = resources.files(f"saddlescope.papers.{paper}") / "verdicts" / f"{name}.{scale}.json"
    if not file.is_file():
        return None
    about = json.loads(file.read_text(encoding="utf-8"))
    return tuple(Verdict(**v) for v in about.pop("claims")), about


def differences(key: str, scale: str, verdicts) -> list[str]:
    """What is not as recorded, a sentence each. A claim without a record is expected to hold."""
    found = recorded(key, scale)
    expected = {v.sentence: v.word for v in found[0]} if found else {}
    return [
        f"{v.sentence!r} {v.word}; recorded: {expected.get(v.sentence, 'nothing yet')}"
        for v in verdicts
        if v.word != expected.get(v.sentence, "holds")
    ]


WORDS = ("holds", "partly", "does not hold", "cannot tell")


def tallies(keys) -> str:
    """A row an experiment: how many of its recorded claims hold."""
    rows = [f"| experiment | what it shows | {' | '.join(WORDS)} |", f"|{'---|' * (2 + len(WORDS))}"]
    for key in keys:
        found = recorded(key, "full")
        counts = [sum(v.word == word for v in found[0]) for word in WORDS] if found else ["not yet run"] * len(WORDS)
        rows.append(f"| `{key}` | {find(key).title} | {' | '.join(str(n or '') for n in counts)} |")
    return "\n".join(rows)


def ledger(keys) -> str:
    """Every recorded claim as a Markdown table, with its evidence and the reason where it fails."""
    rows = ["| claim | where | verdict | evidence |", "|---|---|---|---|"]
    for key in keys:
        if (found := recorded(key, "full")) is None:
            rows.append(f"| {find(key).title}: all its claims | `{key}` | not yet run in full | |")
            continue
        for v in found[0]:
            why = f" *Why:* {v.why}" if v.why else ""
            mark = v.word if v.holds else f"**{v.word}**"
            evidence = f"{v.evidence}; {v.lost}.{why}".replace("|", "\\|")
            rows.append(f"| {v.sentence} | `{key}`, {v.where} | {mark} | {evidence} |")
    return "\n".join(rows)
