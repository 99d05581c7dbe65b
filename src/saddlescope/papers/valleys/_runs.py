"""What several experiments read off a run: how it ended, when it left the first plateau, what
happened around its cuts; and the paper's main run.
"""

from dataclasses import replace

import numpy as np

from saddlescope.checks import always
from saddlescope.papers.valleys._outcomes import failure, outcome
from saddlescope.papers.valleys._protocol import Name

WIDE = 1024
CLIPS = {"clipped": 1.0, "free": 0.0}  # the paper's clip of the gradient's norm, and none
SLOW = (
    "at the learning rate 0.01 one step moves the outputs 1/n as far as in the others; "
    "the schedule freezes them on the plateau"
)
ESCAPED = 1.4  # of three cosines: 7 % below the loss of the best constant


def main_run(L, seed, width=WIDE, **more):
    """f3_N768_bs8_L2 or _L3 at rank 10; narrower nets for quick looks."""
    return Name(3, 768, 8, L).setting(rank=10, seed=seed, width=width, **more)


def ending(run) -> dict:
    """How a run ended, in a few numbers and words. A run that diverged has an infinite test error."""
    loss = run.loss.values
    error = float(run.test_error.values[-1]) if run.sizes["saved"] else np.inf
    least = np.min(loss, initial=np.inf, where=np.isfinite(loss))
    return {
        "test_error": error, "outcome": outcome(error), "least_loss": least, "last_loss": loss[-1],
        "epochs": len(loss), "cuts": len(run.cuts),
    }  # fmt: skip


def failed_as(run, target) -> str:
    """The kind of failure, from the last fit; empty where the run did not fail."""
    if ending(run)["outcome"] != "failed":
        return ""
    return failure(run.fit.values[-1] if run.sizes["saved"] else np.full(1, np.nan), target)


def first_below(run, level=ESCAPED) -> float:
    """After how many epochs the loss lies below a level; infinite where it never does."""
    below = np.flatnonzero(run.loss.values < level)
    return float(below[0] + 1) if below.size else np.inf


def around_cuts(run, name, after=10):
    """Values of an observable before each cut and `after` epochs later, as two arrays; cuts too near the end to have an
    'after' are left out."""
    why, values = run.saved_because.values.astype(str), run[name].values
    at = {int(e): i for i, e in enumerate(run.saved_epoch.values)}
    cuts = [int(e) for e, w in zip(run.saved_epoch.values, why, strict=True) if "before cut" in w]
    pairs = [(at[e], at[e + after]) for e in cuts if e + after in at]
    before, later = (np.array(i, int) for i in zip(*pairs, strict=True)) if pairs else (np.zeros(0, int),) * 2
    return values[before], values[later]


def falls_at_cuts(ratios_of):
    """The loss is lower ten epochs after a cut than before it: at every cut, as the paper says, so that `always` is
    asked. `ratios_of(run)` has the ratio of the loss at each cut."""

    def check(results):
        ratios = [ratios_of(m) for m in results.runs()]
        by_cut = [[r[k] for r in ratios if len(r) > k] for k in range(max(map(len, ratios)))]
        if not by_cut:
            return None
        together = np.concatenate(ratios)
        good, n = int(np.sum(together < 1)), len(together)
        medians = ", ".join(f"{np.median(found):.2f}" for found in by_cut)
        return always(good, n, f"lower after {good} of {n} cuts; median ratio by cut {medians}")

    return check


def ratios_at_cuts(run, name):
    """The loss ten epochs after each cut over that before it. Of a run that diverged every cut counts against it."""
    before, after = around_cuts(run, name)
    return after / before if np.isfinite(run.loss.values).all() else np.full(max(1, len(before)), np.inf)


def cannot_refute(check, why):
    """A check whose "no" says nothing of the paper, because ours is not what was run there: cannot tell, and why."""

    def told(results):
        if (found := check(results)) is None or found.holds:
            return found
        return replace(found, evidence=f"{found.evidence}; {why}", partly=False, unclear=True)

    return told


def deepest(run, name):
    """Which cut is followed by the largest fall of an observable, relative to its value before; None without a cut."""
    before, after = around_cuts(run, name)
    return int(np.argmin(after / before)) if len(before) else None
