"""Claims: a sentence, where it stands, and a check from results to a verdict.

A claim that fails is a finding: it stays, with its numbers. A run that is not finite counts against every claim
about it, and `judge` states how many there were beside each verdict.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from saddlescope.results import Results


@dataclass(frozen=True)
class CheckResult:
    """What a check found: whether the claim holds, and the numbers in words. Where it does not: whether it holds in
    part, or the runs cannot tell."""

    holds: bool
    evidence: str
    partly: bool = False
    unclear: bool = False


@dataclass(frozen=True)
class Claim:
    """`only` restricts the claim to the runs with these values of the axes; `note` says why it fails, once known."""

    sentence: str
    where: str
    check: Callable[[Results], CheckResult | None]
    only: Mapping[str, Any] = field(default_factory=dict)
    note: str = ""


@dataclass(frozen=True)
class Verdict:
    sentence: str
    where: str
    holds: bool
    evidence: str
    runs: int
    not_finite: int
    note: str = ""
    partly: bool = False
    unclear: bool = False

    @property
    def word(self) -> str:
        if self.holds:
            return "holds"
        return "partly" if self.partly else "cannot tell" if self.unclear else "does not hold"

    @property
    def lost(self) -> str:
        return f"{self.not_finite} of {self.runs} not finite"

    @property
    def why(self) -> str:
        """The note, where the claim fails or holds in part."""
        return "" if self.holds else self.note

    def __str__(self):
        word, why = self.word if self.holds else self.word.upper(), f" Why: {self.why}" if self.why else ""
        return f"{word}: {self.sentence} [{self.where}] {self.evidence}; {self.lost}.{why}"


def tally(verdicts) -> str:
    """`5 of 9 claims hold, 2 partly`."""
    partly = sum(v.word == "partly" for v in verdicts)
    return f"{sum(v.holds for v in verdicts)} of {len(verdicts)} claims hold" + (f", {partly} partly" if partly else "")


def judge(claims, results: Results) -> tuple[Verdict, ...]:
    """The verdict on each claim, with the number of runs it rests on and how many of them were not finite.

    A claim about runs that are not among the results is left out: it was not tested. So is one whose check finds
    that these runs cannot tell, and returns None.
    """
    verdicts = []
    for claim in claims:
        part = results.select(**claim.only)
        runs = part.measured.sizes["run"]
        if runs == 0:
            continue
        if (finding := claim.check(part)) is None:
            continue
        lost = int((~part.measured.finite).sum())
        about = (claim.sentence, claim.where, bool(finding.holds), finding.evidence, runs, lost, claim.note)
        verdicts.append(Verdict(*about, bool(finding.partly), bool(finding.unclear)))
    return tuple(verdicts)
