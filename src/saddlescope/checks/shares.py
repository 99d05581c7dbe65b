"""Claims that rest on a count of runs."""

from collections.abc import Callable

import numpy as np

from saddlescope.claims import CheckResult
from saddlescope.results import Results, Run
from saddlescope.statistics import wilson

MOST, SOME = 0.8, 0.2


def reaches_share(good, runs, share):
    """At least this share of the runs, and of one run at least."""
    return good > 0 and good >= share * runs - 1e-9


def share_text(good, n):
    """`20 of 20 runs (95 % interval 84–100 %)`, by Wilson's score."""
    low, high = wilson(good, n)
    return f"{good} of {n} runs (95 % interval {100 * low:.0f}–{100 * high:.0f} %)"


def holds_in_share(good, n, evidence, share=MOST) -> CheckResult:
    """Holds if true of four fifths or more, or of another share; partly if of a fifth or more."""
    return CheckResult(reaches_share(good, n, share), evidence, reaches_share(good, n, SOME))


def in_most_runs(test: Callable[[Run], bool], say: Callable[[Results], str] | None = None):
    """test(run) is true of most runs; `say` adds numbers. A run not finite counts against it."""

    def check(results):
        good = [bool(run.finite and test(run)) for run in results.runs()]
        more = f"; {say(results)}" if say else ""
        return holds_in_share(sum(good), len(good), share_text(sum(good), len(good)) + more)

    return check


def error_within(error: Callable[[Run], float], within: float, what: str, share: float = 1.0):
    """error(run) ≤ within, in at least this share of runs. A run not finite is an infinite error."""

    def check(results):
        errors = np.array([error(run) if run.finite else np.inf for run in results.runs()])
        good = int(np.sum(errors <= within))  # NaN is not
        found = errors[np.isfinite(errors)]
        spread = (
            f"; {what} {_median_and_worst(found)}, allowed {within:g}" if found.size else f"; no {what} could be read"
        )
        lost = len(errors) - found.size
        unread = f"; {lost} could not be compared" if found.size and lost else ""
        return holds_in_share(good, len(errors), f"{share_text(good, len(errors))}{spread}{unread}", share)

    return check


def _median_and_worst(values):
    return f"median {np.median(values):.2g}, worst {np.max(values):.2g}"
