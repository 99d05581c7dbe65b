"""The record: verdicts that a release stands by, kept beside each paper's experiments, quick and full."""

from saddlescope.claims import Verdict
from saddlescope.report.catalogue import read_record


def recorded(key: str, scale: str) -> tuple[tuple[Verdict, ...], dict] | None:
    """The recorded verdicts of an experiment at a scale, and what is said about them; None where there are none."""
    if (about := read_record(key, scale)) is None:
        return None
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
