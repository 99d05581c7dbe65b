"""Claims about the plateau after the first escape: which runs count, and what is said of them."""

import numpy as np

from saddlescope.checks import groups_by, holds_in_share
from saddlescope.claims import CheckResult, Count
from saddlescope.errors import number_of
from saddlescope.papers.escape._plateaus import spaced
from saddlescope.papers.escape._readings import on_rests, ratios_on
from saddlescope.statistics import wilson


def of_these(good, n, these="these") -> str:
    """`3 of these 4 (95 % interval 30–95 %)`."""
    low, high = (100 * end for end in wilson(good, n))
    return f"{good} of {these} {n} (95 % interval {low:.0f}–{high:.0f} %)"


def where_rested(test, say=None, left=False, by=None, premise=None):
    """test(run) in most runs that came to rest, and that left it again if `left`; the other runs cannot tell.

    **Arguments:**

    - `test`, `say`: test(run) of one run; say(results) adds numbers.
    - `left`: whether only runs count that have left the plateau again.
    - `by`: an axis for each of whose values the claim is decided as well.
    - `premise`: words, and a test that a run must meet to count.
    """
    word = "come to rest after the first escape" + (" and left it again" if left else "")

    def check(results):
        rested = results.where([_fits(run, left) for run in results.runs()])
        n, total = rested.measured.sizes["run"], number_of(results.measured.sizes["run"], "run")
        if not n:
            return CheckResult(False, f"none of {total} has {word}", unclear=True)
        return _judged(rested, f"{n} of {total} {'has' if n == 1 else 'have'} {word}", test, say, by, premise)

    return check


def _fits(run, left):
    """Whether a run can tell; one that is not finite counts against the claim."""
    return bool(not run.finite or (run["rested"] and (run["left"] or not left)))


def _judged(results, text, test, say, by, premise):
    if premise is not None:
        words, met = premise
        results = results.where([bool(not run.finite or met(run)) for run in results.runs()])
        n = results.measured.sizes["run"]
        text += f"; {words} in {n} of these"
        if not n:
            return CheckResult(False, text, unclear=True)
    good = np.array([bool(run.finite and test(run)) for run in results.runs()])
    text += f"; the claim holds in {of_these(good.sum(), good.size)}" + (f"; {say(results)}" if say else "")
    return holds_in_share(good.sum(), good.size, text, groups=groups_by(results, by, good) if by else None)


def if_open_agree(good, n, still_open, text) -> CheckResult:
    """A claim in most runs, of which some were not seen to their end: it is decided only where the word is the same
    without these and with all of them counted as good."""
    found = holds_in_share(good, n, text)
    if not still_open or Count(good + still_open, n + still_open).word == Count(good, n).word:
        return found
    return CheckResult(False, text, unclear=True, counts=found.counts)


def say_ratios(results):
    """Median s₂/s₁ by layer on the first rest."""
    rows = [ratios_on(run) for run in on_rests(results)]
    text = spaced(np.median(rows, axis=0)) if rows else "none"
    return f"median s₂/s₁ by layer on the plateau: {text}"
