"""Claims: a sentence, where it stands, and a check from results to a verdict.

A claim that fails is a finding: it stays, with its numbers. A run that is not finite counts against every claim
about it, and `judge` states how many there were beside each verdict.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from saddlescope.results import Results, Run
from saddlescope.statistics import wilson

RunError = Callable[[Run], float]


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


def in_runs(error: RunError, within: float, what: str, share: float = 1.0):
    """error(run) ≤ within, in at least this share of runs. A run not finite is an infinite error."""

    def check(results):
        errors = np.array([error(run) if run.finite else np.inf for run in results.runs()])
        good = int(np.sum(errors <= within))  # NaN is not
        found = errors[np.isfinite(errors)]
        spread = f"; {what} {spread_of(found)}, allowed {within:g}" if found.size else f"; no {what} could be read"
        lost = len(errors) - found.size
        unread = f"; {lost} could not be compared" if found.size and lost else ""
        return rated(good, len(errors), f"{counted(good, len(errors))}{spread}{unread}", share)

    return check


def enough(good, runs, share):
    """At least this share of the runs, and of one run at least."""
    return good > 0 and good >= share * runs - 1e-9


def spread_of(values):
    return f"median {np.median(values):.2g}, worst {np.max(values):.2g}"


MOST, SOME = 0.8, 0.2


def counted(good, n):
    """`20 of 20 runs (95 % interval 84–100 %)`, by Wilson's score."""
    low, high = wilson(good, n)
    return f"{good} of {n} runs (95 % interval {100 * low:.0f}–{100 * high:.0f} %)"


def rated(good, n, evidence, share=MOST) -> CheckResult:
    """Holds if true of four fifths or more, or of another share; partly if of a fifth or more."""
    return CheckResult(enough(good, n, share), evidence, enough(good, n, SOME))


def mostly(test: Callable[[Run], bool], say: Callable[[Results], str] | None = None):
    """test(run) is true of most runs; `say` adds numbers. A run not finite counts against it."""

    def check(results):
        good = [bool(run.finite and test(run)) for run in results.runs()]
        more = f"; {say(results)}" if say else ""
        return rated(sum(good), len(good), counted(sum(good), len(good)) + more)

    return check


# ---- Checks, each from one run's own curves. ----


def drops(number: int, share: float = 1.0):
    """The loss has exactly this many drops."""

    def check(results):
        counts = np.array([m.stages.n_drops if m.finite else -1 for m in results.runs()])
        good = int(np.sum(counts == number))
        others = sorted(set(counts[counts != number].tolist()))
        rest = f"; others have {', '.join('diverged' if c < 0 else str(c) for c in others)}" if others else ""
        return rated(good, len(counts), f"{number} drops in {counted(good, len(counts))}{rest}", share)

    return check


def plateau_levels(within: float, share: float = 1.0):
    """Each plateau between two drops lies at its predicted level, relative error."""

    def error(run):
        found = np.array([p.level for p in run.stages.plateaus])
        level = run.predicted["plateau_level"].values
        if len(found) != len(level) or len(level) < 3:
            return np.inf
        return float(np.max(np.abs(found[1:-1] / level[1:-1] - 1)))

    return in_runs(error, within, "relative error of the level", share)


def drop_steps(within: float, share: float = 1.0):
    """The loss falls fastest at the predicted steps, relative error."""

    def error(run):
        found = np.array([d.at for d in run.stages.drops])
        step = run.predicted["drop_step"].values
        return float(np.max(np.abs(found / step - 1))) if len(found) == len(step) else np.inf

    return in_runs(error, within, "relative error of the drop steps", share)


def half_strength(observable, within: float, share: float = 1.0):
    """Each part of the task is half learned at the predicted step, relative error."""

    def error(run):
        times = run.times
        found = np.array([half_way(times, curve) for curve in run[observable.name].values.T])
        step = run.predicted["half_strength_step"].values
        return float(np.max(np.abs(found / step - 1))) if found.shape == step.shape else np.inf

    return in_runs(error, within, "relative error of the half-strength steps", share)


def half_way(times, curve):
    """When a rising curve passes ½: a line between two saved points in log-odds, in which a logistic rise is one."""
    after = int(np.argmax(curve >= 0.5))
    if after == 0 or not (0 < curve[after - 1] < 0.5 <= curve[after] < 1):
        return np.inf
    odds = np.log(curve[after - 1 : after + 1] / (1 - curve[after - 1 : after + 1]))
    return float(np.interp(0.0, odds, times[after - 1 : after + 1]))


def curve(name: str, within: float, share: float = 1.0):
    """The measured curve is the predicted one, largest gap over the curve's start."""

    def error(run):
        a, b = run[name].values, run.predicted[name].values
        return float(np.max(np.abs(a - b)) / abs(a[0])) if a.shape == b.shape and a.size else np.inf

    return in_runs(error, within, "largest gap over the start", share)


def widths(observable, *expected: tuple[int, ...], share: float = 1.0):
    """The effective width on each plateau after the first, the end included; one of those that are expected."""

    def check(results):
        rows = [tuple(width_on_plateaus(m, observable)) if m.finite else () for m in results.runs()]
        good = sum(row in expected for row in rows)
        others = sorted({row for row in rows if row not in expected})
        rest = f"; others {', '.join(map(str, others))}" if others else ""
        then = " or ".join(" then ".join(map(str, e)) for e in expected)
        return rated(good, len(rows), f"width {then} in {counted(good, len(rows))}{rest}", share)

    return check


def width_on_plateaus(run, observable):
    times, values = run.times, run[observable.name].values
    plateaus = run.stages.plateaus[1:]
    ends = [p.at for p in plateaus[:-1]] + [times[-1]] * bool(plateaus)
    return [int(values[np.argmin(np.abs(times - t))]) for t in ends]
