"""Claims: a sentence, where it stands, and a check from results to a verdict.

A claim that fails is a finding: it stays, with its numbers. A run that is not finite counts against
every claim about it, and `judge` states how many there were beside each verdict.

One rule decides every claim that rests on a count of runs: `Count.word`.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import ceil, floor
from typing import TYPE_CHECKING, Any

from saddlescope.errors import require
from saddlescope.statistics import same_share, wilson, wilson_clear_of_half

if TYPE_CHECKING:
    from saddlescope.results import Results

HOLDS, PARTLY, FAILS, UNCLEAR = "holds", "partly", "does not hold", "cannot tell"
BUILT = "by construction"  # no run could say otherwise: shown, but no verdict
WORDS = (HOLDS, PARTLY, FAILS, UNCLEAR, BUILT)
MOST, ALWAYS = 0.8, 1.0


@dataclass(frozen=True)
class Count:
    """In how many runs a claim came true, and in what share of them it asks to.

    The rule has three words:

    - *holds*: the share is at least the one asked, and its interval (Wilson, 95 %) lies at one half
      or above;
    - *does not hold*: the interval lies at one half or below, or the share is below one half in
      enough runs;
    - *cannot tell*: all else. One run decides nothing.

    Enough are as many runs as would have shown the share asked, had it been there. From
    (1.96 / (2 asked - 1))² runs on the interval of a share as asked lies above one half: these are
    11 runs for four fifths. A theorem asks for `ALWAYS`: among enough runs (4) one exception
    refutes it.

    **Arguments:**

    - `good`: how many came true.
    - `n`: of how many. A run that is not finite is one of them.
    - `asked`: the least share that the claim asks for, above one half.
    - `group`: the value of a setting that these runs have in common, where a claim is decided for
      each of several.
    """

    good: int
    n: int
    asked: float = MOST
    group: str = ""

    def __post_init__(self):
        object.__setattr__(self, "good", int(self.good))  # numpy's integers are not JSON
        object.__setattr__(self, "n", int(self.n))
        require(0 <= self.good <= self.n, f"{self.good} of {self.n} is not a share of runs.")
        require(
            0.5 < self.asked <= 1,
            f"A claim asks for more than half of the runs, not {self.asked:g}.",
        )

    @property
    def word(self) -> str:
        if self.n < 2:
            return UNCLEAR
        low, high = wilson(self.good, self.n)
        enough = self.n >= wilson_clear_of_half(self.asked)
        if self.reached and low >= 0.5:
            return HOLDS
        refuted = self.asked == ALWAYS and not self.reached
        return FAILS if high <= 0.5 or (enough and (2 * self.good < self.n or refuted)) else UNCLEAR

    @property
    def reached(self) -> bool:
        return self.good >= self.asked * self.n - 1e-9

    def scaled(self, factor: float) -> "Count":
        """The count for `factor` times as many runs at the same share, rounded away from undecided."""
        n, rounded = ceil(round(self.n * factor, 9)), ceil if self.reached else floor
        return replace(self, good=rounded(round(self.good * n / self.n, 9)) if self.n else 0, n=n)

    def differs_from(self, other: "Count") -> bool:
        """Beyond chance: Fisher's exact test at 1 %."""
        return not same_share(self.good, self.n, other.good, other.n)

    def __str__(self):
        return f"{self.good} of {self.n}"


def word_by_setting(words: Iterable[str]) -> str:
    """Holds or fails if it does so everywhere, partly if it does both; cannot tell otherwise."""
    found = set(words)
    if {HOLDS, FAILS} <= found:
        return PARTLY
    return found.pop() if len(found) == 1 else UNCLEAR


def word_of(counts: Sequence[Count]) -> str:
    """The word for the count of all runs and, behind it, those of each value of a setting.

    Settings decide where they all agree or contradict each other; else all runs together do. These
    cannot do so while most runs of one setting say the contrary.
    """
    total, *parts = counts
    word = word_by_setting(part.word for part in parts)
    if word != UNCLEAR:
        return word
    contrary = any(2 * part.good < part.n for part in parts)
    return UNCLEAR if total.word == HOLDS and contrary else total.word


def seeds_to_decide(counts: Sequence[Count], seeds: int) -> int | None:
    """The least number of seeds that would decide at these shares; None if 1000 would not."""
    for n in range(seeds, 1001):
        if word_of([count.scaled(n / seeds) for count in counts]) != UNCLEAR:
            return n
    return None


@dataclass(frozen=True)
class CheckResult:
    """What a check found, with the numbers in words.

    **Arguments:**

    - `holds`: whether the claim is true.
    - `evidence`: the numbers, in words.
    - `partly`: whether it is true of some settings and false of others, which the evidence names.
    - `unclear`: whether these runs cannot tell.
    - `counts`: what it was counted from: one `Count`, and one for each setting that was decided
      for itself. Empty where no runs were counted.
    - `exact`: whether it rests on no run: a property of a formula, a number of parameters.
    """

    holds: bool
    evidence: str
    partly: bool = False
    unclear: bool = False
    counts: tuple[Count, ...] = ()
    exact: bool = False


@dataclass(frozen=True)
class Claim:
    """A sentence of a paper, or our own, that results can contradict.

    **Arguments:**

    - `sentence`: what is claimed.
    - `where`: the place in the paper, or "ours".
    - `check`: from results to a `CheckResult`; None where the runs asked for are not among them.
    - `only`: restricts the claim to the runs with these values of the axes.
    - `note`: why it fails, once known.
    - `built`: whether it is true by construction: no run, however wrong, could make it fail. It is
      shown, but counted among no verdicts.
    """

    sentence: str
    where: str
    check: "Callable[[Results], CheckResult | None]"
    only: Mapping[str, Any] = field(default_factory=dict)
    note: str = ""
    built: bool = False


@dataclass(frozen=True)
class Verdict:
    """A claim as the runs have decided it.

    **Arguments:**

    - `sentence`, `where`, `note`, `built`: those of the claim.
    - `holds`, `evidence`, `partly`, `unclear`, `counts`: what its check found.
    - `runs`: how many runs it rests on.
    - `not_finite`: how many of them diverged.
    - `seeds`: how many seeds the runs have; 0 where they have none.
    """

    sentence: str
    where: str
    holds: bool
    evidence: str
    runs: int
    not_finite: int
    note: str = ""
    partly: bool = False
    unclear: bool = False
    counts: tuple[Count, ...] = ()
    seeds: int = 0
    built: bool = False

    @classmethod
    def from_json(cls, stored: Mapping[str, Any]) -> "Verdict":
        counts = tuple(Count(**count) for count in stored.get("counts", ()))
        return cls(**{**stored, "counts": counts})

    @property
    def word(self) -> str:
        flags = {BUILT: self.holds and self.built, HOLDS: self.holds, PARTLY: self.partly, UNCLEAR: self.unclear}
        return next((word for word, true in flags.items() if true), FAILS)

    @property
    def lost(self) -> str:
        return f"{self.not_finite} of {self.runs} not finite"

    @property
    def why(self) -> str:
        """The note, where the claim fails or holds in part."""
        return "" if self.holds else self.note

    @property
    def missing(self) -> str:
        """What would decide, where the runs cannot tell."""
        if not self.unclear or not self.counts:
            return ""
        total = self.counts[0]
        if not total.n or word_of(self.counts) != UNCLEAR:  # it is not their number that is missing
            return ""
        n = seeds_to_decide(self.counts, self.seeds or total.n)
        if n is None:
            asked = f"below the {total.asked:.0%} asked"
            return f"in half or more, but {asked}: more seeds would not help"
        return f"at this share {n} {'seeds' if self.seeds else 'runs'} would decide"

    @property
    def numbers(self) -> str:
        """All that is said about the runs: the evidence, what was lost, what is missing."""
        return "; ".join(filter(None, (self.evidence, self.lost, self.missing)))

    def __str__(self):
        word, why = (
            self.word if self.holds else self.word.upper(),
            f" Why: {self.why}" if self.why else "",
        )
        return f"{word}: {self.sentence} [{self.where}] {self.numbers}.{why}"


def tally(verdicts) -> str:
    """`5 of 9 claims hold, 2 partly, 1 undecided`; what is built is not counted."""
    found = {word: sum(v.word == word for v in verdicts) for word in WORDS}
    partly = f", {found[PARTLY]} partly" if found[PARTLY] else ""
    unclear = f", {found[UNCLEAR]} undecided" if found[UNCLEAR] else ""
    counted = len(verdicts) - found[BUILT]
    claims = "1 claim holds" if counted == 1 else f"{counted} claims hold"
    return f"{found[HOLDS]} of {claims}{partly}{unclear}"


def judge(claims: Iterable[Claim], results: "Results") -> tuple[Verdict, ...]:
    """The verdict on each claim, with the number of runs it rests on and how many were not finite.

    A claim about runs that are not among the results is left out: it was not tested. So is one
    whose check returns None. One run decides nothing, however many points of it are counted.
    Neither does one seed where nothing is counted.
    """
    verdicts = []
    for claim in claims:
        part = results.select(**claim.only)
        if part.measured.sizes["run"] and (found := claim.check(part)) is not None:
            verdicts.append(_verdict(claim, part, found))
    return tuple(verdicts)


def _verdict(claim, part, found) -> Verdict:
    runs, lost = part.measured.sizes["run"], int((~part.measured.finite).sum())
    seeds = len(part.values("seed")) if "seed" in part.measured.coords else 0
    single = not found.exact and (runs < 2 or (seeds == 1 and not found.counts))
    words = (False, False, True) if single else (found.holds, found.partly, found.unclear)
    holds, partly, unclear = map(bool, words)
    alone = f"; one {'run' if runs < 2 else 'seed'} decides nothing" if single else ""
    return Verdict(
        claim.sentence,
        claim.where,
        holds,
        f"{found.evidence}{alone}",
        runs,
        lost,
        claim.note,
        partly,
        unclear,
        found.counts,
        seeds,
        claim.built,
    )
