"""Our own question: how does the time to leave the first plateau scale, and how much of it is the
clipping?

Exponents in rate and batch, in epochs and in steps, at both thresholds, with the gradient clipped
to norm 1 as in the paper and without clipping; five seeds. If noise drove the escape, time in steps
would fall with smaller batches; if it follows the gradient flow, it is a constant of lr × steps,
whatever the batch: exponents -1 and 0 in steps, -1 and 1 in epochs.
"""

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.ticker import LogFormatter, NullLocator

from saddlescope.checks import decided_by, holds_in_share
from saddlescope.claims import UNCLEAR, Claim
from saddlescope.experiment import Experiment
from saddlescope.figures import BLUE, ORANGE
from saddlescope.papers.valleys import _escape as escape
from saddlescope.papers.valleys._escape import THRESHOLDS, UNITS, fitted, shown
from saddlescope.papers.valleys._runs import CLIPS
from saddlescope.theory import FlowTime

RATES, BATCHES = (1e-2, 5e-3, 2.5e-3), (1, 4, 16, 64)


def setting(clip, lr, bs, seed, width):
    return escape.escape_run(lr, bs, seed, CLIPS[clip], width)


def flow_time(clip):
    """In steps: the exponents in rate and batch are those of the flow, both within 0.15."""

    def check(results):
        part = results.select(clip=clip)
        good, words = {}, []
        lr, bs = (part.predicted[f"{axis}_exponent_steps"].values for axis in ("lr", "bs"))
        for threshold in THRESHOLDS:
            (a, b), (da, db), late = fitted(part, threshold, "steps")
            near = np.all(abs(a - lr) <= 0.15) and np.all(abs(b - bs) <= 0.15)
            good[f"threshold {threshold}"] = UNCLEAR if np.isnan([a, b]).any() else bool(near)
            words.append(f"threshold {threshold}: lr {shown(a, da)}, batch {shown(b, db)}, {late} censored")
        return decided_by(good, "; ".join(words))

    return check


def clipping_slows(results):
    """Wherever three runs or more survive in both: the median time, clipped, above 1.2 times that
    of runs not clipped.
    """
    good, words = [], []
    for lr, bs in ((lr, bs) for lr in results.values("lr") for bs in results.values("bs")):
        both = [escape.alive(results.select(clip=clip, bs=bs, lr=lr)) for clip in CLIPS]
        if min(part.measured.sizes["run"] for part in both) < 3:
            continue
        for threshold in THRESHOLDS:
            clipped, free = (escape.median(part, threshold) for part in both)
            good.append(clipped > 1.2 * free)
            words.append(f"lr {lr:g}, batch {bs}, {threshold}: {clipped:.0f} and {free:.0f}")
    return holds_in_share(sum(good), len(good), f"median epochs, clipped and not, {'; '.join(words)}") if good else None


def small_batches_diverge(results):
    part = results.select(clip="free", bs=(1, 4))
    lost, n = int((~part.measured.finite.values).sum()), part.measured.sizes["run"]
    others = results.select(clip="free", bs=(16, 64))
    more = f"; {int((~others.measured.finite.values).sum())} of {others.measured.sizes['run']} at batches 16 and 64"
    return holds_in_share(lost, n, f"{lost} of {n} runs diverge at batches 1 and 4{more}") if n else None


def draw(results):
    figure, axes = plt.subplots(1, 4, figsize=(12, 3.2))
    grid = [(threshold, unit) for threshold in THRESHOLDS for unit in UNITS]
    for ax, (threshold, unit) in zip(axes, grid, strict=True):
        for clip, colour, shift in (("clipped", BLUE, 0.94), ("free", ORANGE, 1.06)):
            part = results.select(clip=clip)
            if not part.measured.sizes["run"]:
                continue
            found, late = escape.times(part, threshold, unit)
            points = escape.alive(part).measured
            bs, time = points.bs.values * shift, found * points.lr.values
            ax.loglog(bs[~late], time[~late], ".", color=colour, label=clip)
            ax.loglog(bs[late], time[late], "^", mfc="none", mec=colour, label=f"{clip}, censored")
        ax.set(xlabel="batch size", ylabel=f"lr × {unit} to a loss of {threshold}")
        ax.set_xticks(results.values("bs"), map(str, results.values("bs")))
        ax.xaxis.set_minor_locator(NullLocator())
        ax.yaxis.set_minor_formatter(LogFormatter(labelOnlyBase=False, minor_thresholds=(2, 0.5)))
    axes[0].legend(fontsize=7)
    return figure


def tables(results):
    words = {"clipped": "clipped to norm 1", "free": "not clipped"}
    return tuple(
        escape.exponents_table(f"exponents_{clip}", results.select(clip=clip), f"Exponents of the escape time, {word}")
        for clip, word in words.items()
        if results.select(clip=clip).measured.sizes["run"]
    )


experiment = Experiment(
    title="Time to leave the first plateau, with and without gradient clipping",
    source="our own question, beside Fig. 6",
    setting=setting,
    full=dict(clip=CLIPS, lr=RATES, bs=BATCHES, seed=range(5), width=(1024,)),
    quick=dict(clip=CLIPS, lr=(1e-2, 5e-3), bs=(4, 16), seed=range(1), width=(64,)),
    predict=(FlowTime(),),
    analyse=escape.analyse,
    draw=draw,
    tables=tables,
    claims=(
        Claim(
            "Clipped, the escape takes a fixed lr × steps, whatever the batch.",
            "ours",
            flow_time("clipped"),
            note="a step of a small batch is clipped below its gradient: the smaller the batch, the more steps",
        ),
        Claim(
            "Not clipped, the escape takes a fixed lr × steps, whatever the batch.",
            "ours",
            flow_time("free"),
            note="nearer to it than clipped, of the runs that survive; the batch's exponent rests on one rate, the "
            "rate's on batch 64",
        ),
        Claim("Not clipped, runs of small batches (1, 4) diverge.", "ours", small_batches_diverge),
        Claim("Where both survive, clipping makes the plateau longer.", "ours", clipping_slows),
    ),
)
