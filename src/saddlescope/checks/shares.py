"""Claims that rest on a count of runs: all are decided by one rule, that of `Count`."""

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from saddlescope.checks.settings import named_words
from saddlescope.claims import ALWAYS, HOLDS, MOST, PARTLY, UNCLEAR, CheckResult, Count, word_of
from saddlescope.errors import number_of
from saddlescope.results import Results, Run
from saddlescope.statistics import wilson

Check = Callable[[Results], CheckResult]
Groups = Mapping[str, tuple[int, int]]  # a setting's value → good runs, all runs


def share_text(good: int, n: int) -> str:
    """`20 of 20 runs (95 % interval 84–100 %)`, by Wilson's score."""
    if not n:
        return "0 of 0 runs"
    low, high = wilson(good, n)
    return f"{good:,} of {number_of(n, 'run')} (95 % interval {100 * low:.0f}–{100 * high:.0f} %)"


def holds_in_share(
    good: int,
    n: int,
    evidence: str,
    share: float = MOST,
    groups: Groups | None = None,
) -> CheckResult:
    """A claim that asks for a share of the runs, decided by their number.

    With `groups` it is decided for each value of a setting as well. True of some values and false
    of others it holds *partly*, and the evidence names them.
    """
    total, groups = Count(good, n, share), groups if groups and len(groups) > 1 else {}
    parts = tuple(Count(g, m, share, str(name)) for name, (g, m) in groups.items())
    word = word_of((total, *parts))
    named = f"; {_named(parts)}" if parts and word != HOLDS else ""
    flags = word == HOLDS, f"{evidence}{named}", word == PARTLY, word == UNCLEAR
    return CheckResult(*flags, counts=(total, *parts))


def _named(parts):
    """`holds for a (5 of 5); does not hold for b (0 of 5)`."""
    return named_words({f"{part.group} ({part})": part.word for part in parts})


def always(good: int, n: int, evidence: str, groups: Groups | None = None) -> CheckResult:
    """A theorem: true of every case, or refuted by one."""
    return holds_in_share(good, n, evidence, ALWAYS, groups)


def all_below(name: str, within: float, what: str) -> Check:
    """A theorem about one number per run: it is at most `within` in every case.

    **Arguments:**

    - `name`: the measured number.
    - `within`: what is allowed.
    - `what`: what the number is, in words.
    """

    def check(results):
        found = results.measured[name].values
        good = int(np.sum(found <= within))
        text = f"{share_text(good, len(found))}; largest {what} {found.max():.2g}, allowed {within:g}"
        return always(good, len(found), text)

    return check


def in_most_runs(
    test: Callable[[Run], bool],
    say: Callable[[Results], str] | None = None,
    by: str | None = None,
    share: float = MOST,
) -> Check:
    """test(run) is true of most runs; `say` adds numbers. A run not finite counts against it.

    Decided for each value of the axis `by` as well, if one is given.
    """

    def check(results):
        good = np.array([bool(run.finite and test(run)) for run in results.runs()])
        more = f"; {say(results)}" if say else ""
        text = share_text(int(good.sum()), good.size) + more
        groups = groups_by(results, by, good) if by else None
        return holds_in_share(good.sum(), good.size, text, share, groups)

    return check


def groups_by(results: Results, axis: str, good: Sequence[bool] | np.ndarray) -> Groups:
    """Good runs and all runs, for each value of an axis: `relu`, or `L = 5`."""
    good, values = np.asarray(good, bool), results.measured[axis].values
    names = {v: v if isinstance(v, str) else f"{axis} = {v:g}" for v in results.values(axis)}
    return {name: (good[values == v].sum(), np.sum(values == v)) for v, name in names.items()}


def error_within(error: Callable[[Run], float], within: float, what: str, share: float = MOST) -> Check:
    """error(run) ≤ within, in this share of the runs. A run not finite is an infinite error."""

    def check(results):
        errors = np.array([error(run) if run.finite else np.inf for run in results.runs()])
        good, found = int(np.sum(errors <= within)), errors[np.isfinite(errors)]  # NaN is not
        text = f"{share_text(good, len(errors))}; {_spread(found, what, within)}"
        if found.size and found.size < len(errors):
            text += f"; {len(errors) - found.size} could not be compared"
        return holds_in_share(good, len(errors), text, share)

    return check


def _spread(errors, what, within):
    if not errors.size:
        return f"no {what} could be read"
    return f"{what} median {np.median(errors):.2g}, worst {np.max(errors):.2g}, allowed {within:g}"
