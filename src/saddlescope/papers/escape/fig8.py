"""Escape paper, Fig. 8: all runs of projected descent on Example 1, at all widths.

The same runs as in Fig. 2, with their way: the speed −L0 along every run. One run of this experiment is a batch of
restarts at one width.

Steps of lr 0.1 cross the kinks, so that a run at the rank-one direction has a speed below √2 − 1, which rises to it as
lr falls. All such runs lie on one curve, and runs at width 2, where nothing is faster, give it. Where a run lies on
this curve it is at the rank-one direction.
"""

from functools import cache

import matplotlib.pyplot as plt
import numpy as np

from saddlescope.checks import holds_in_share, share_text
from saddlescope.claims import CheckResult, Claim
from saddlescope.experiment import Experiment
from saddlescope.figures import BLUE, ORANGE, letters
from saddlescope.papers.escape._example1 import RANK_ONE, RANK_TWO, SHORT, runs_of, steps, successes

RESTARTS = 100
PLATEAU = 0.05  # of the run, three instants: how long a trace stays on the rank-one curve to count as having been there
SLOW = 2  # a width at which nothing is faster than √2 − 1


def measure(width, seed):
    ends = runs_of(width, seed, RESTARTS)
    path = np.column_stack([ends.traces, ends.speeds])
    return {
        "speed": (("restart",), ends.speeds),
        "fall": (("restart",), np.max(-np.diff(path, axis=1), axis=1)),
        "waits": (("restart",), np.mean(np.abs(ends.traces - rank_one_curve()) <= SHORT, axis=1)),
        "trace": (("restart", "instant"), ends.traces),
    }


@cache
def rank_one_curve():
    """The speed along a run at the rank-one direction: the median over runs at width 2 that end at √2 − 1."""
    ends = runs_of(SLOW, 0, RESTARTS)
    return np.median(ends.traces[at_rank_one(ends.speeds)], axis=0)


def at_rank_one(speeds):
    return np.abs(np.asarray(speeds) - RANK_ONE) <= SHORT


def by_width(results, chosen, good):
    """{width: good restarts, all restarts}, of those chosen; both have one row per run."""
    widths = results.measured.width.values
    found = {w: (good & chosen)[widths == w].sum() for w in results.values("width")}
    return {f"width {w}": (n, chosen[widths == w].sum()) for w, n in found.items() if chosen[widths == w].any()}


def rises(results):
    """From no saved instant to the next does the speed fall by more than 1e-3: the rule's own step may overshoot."""
    fall = results.measured.fall.values
    found = {w: fall[results.measured.width.values == w].ravel() <= SHORT for w in results.values("width")}
    groups = {f"width {w}": (int(good.sum()), good.size) for w, good in found.items()}
    good, n = int(np.sum(fall <= SHORT)), fall.size
    return holds_in_share(good, n, f"{share_text(good, n)}; largest fall {fall.max():.1e}", groups=groups)


def both_colours(results):
    """A run above √2 − 1 ends near 1/2: there is a gap between the two groups."""
    speeds = results.measured.speed.values
    above, near = successes(speeds), np.abs(speeds - RANK_TWO) <= SHORT
    n, good = int(above.sum()), int(np.sum(above & near))
    if not n:
        return None
    text = f"{share_text(good, n)} above √2 − 1 end within {SHORT:g} of 1/2; slowest {speeds[above].min():.4f}"
    return holds_in_share(good, n, text, groups=by_width(results, above, near))


def passes_rank_one(results):
    """Successful runs are hardly ever on the rank-one curve. A control: runs that end at √2 − 1 are on it for most of
    the way; where they are not, a wait would not be seen."""
    speeds, waits = results.measured.speed.values, results.measured.waits.values
    fast, slow = successes(speeds), at_rank_one(speeds)
    n, good = int(fast.sum()), int(np.sum(fast & (waits < PLATEAU)))
    if not n:
        return None
    control = float(np.median(waits[slow])) if slow.any() else 0.0
    text = f"{share_text(good, n)} are on the rank-one curve for less than {PLATEAU:.0%} of the way, at most "
    text += f"{waits[fast].max():.0%}; control: runs that end at √2 − 1 for {control:.0%} (median)"
    if control < 0.5:
        return CheckResult(False, f"{text}, so that a wait would not be seen", unclear=True)
    return holds_in_share(good, n, text, groups=by_width(results, fast, waits < PLATEAU))


def draw(results):
    widths = results.values("width")
    columns = min(4, len(widths))
    rows = -(-len(widths) // columns)
    figure, axes = plt.subplots(rows, columns, figsize=(6.5, 0.3 + 1.6 * rows), sharex=True, sharey=True, squeeze=False)
    for ax in axes.flat[len(widths) :]:
        ax.set_visible(False)
    for ax, width in zip(axes.flat, widths, strict=False):
        for run in results.select(width=width).runs():
            for trace, speed in zip(run.trace.values, run.speed.values, strict=True):
                ax.plot(steps(), trace, color=BLUE if successes(speed) else ORANGE, lw=0.3)
        ax.axhline(RANK_ONE, color="0.5", ls="--", lw=0.6)
        ax.set(title=f"width {width}", ylim=(-0.1, 0.55), xlabel="step", ylabel="speed $-L_0$", xticks=(0, 1500, 3000))
        ax.label_outer()
    letters(axes.flat[: len(widths)])
    return figure


experiment = Experiment(
    title="All runs of projected descent on Example 1, at all widths",
    source="Fig. 8",
    measure=measure,
    full=dict(width=(1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64), seed=range(2)),
    quick=dict(width=(2, 4, 8), seed=range(2)),
    draw=draw,
    drawn="The speed along every run of projected descent, one panel per width. Blue runs end above √2 − 1 (dashed), "
    "orange ones do not.",
    claims=(
        Claim("Runs above √2 − 1 end at 1/2.", "E98, ours · Fig. 8", both_colours),
        Claim(
            "The objective rises along a run, from instant to instant.",
            "ours",
            rises,
            note="Steps of 0.1 cross kinks back and forth, so that the speed goes up and down, most in wide nets. "
            "Before, only the end was compared with the largest speed of the run, and it is the largest in all.",
        ),
        Claim("Successful runs pass the rank-one speed without waiting there.", "ours", passes_rank_one),
    ),
)
