"""Our own question: how does the time to leave the first plateau scale, and how much of it is the
clipping?

Exponents in rate and batch, in epochs and in steps, at both thresholds, with the gradient clipped
to norm 1 as in the paper and without clipping. If noise drove the escape, time in steps
would fall with smaller batches; if it follows the gradient flow, it is a constant of lr × steps,
whatever the batch: exponents -1 and 0 in steps, -1 and 1 in epochs.
"""

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.ticker import FuncFormatter, LogLocator, NullLocator

from saddlescope.checks import groups_by, holds_in_share
from saddlescope.claims import Claim
from saddlescope.experiment import Experiment
from saddlescope.figures import BLUE, ORANGE, WIDTH, letters
from saddlescope.papers.valleys import _escape as escape
from saddlescope.papers.valleys._draws import decided_by_draws
from saddlescope.papers.valleys._escape import THRESHOLDS, UNITS, fitted
from saddlescope.papers.valleys._runs import CLIPS
from saddlescope.theory import FlowTime

RATES, BATCHES = (1e-2, 5e-3, 2.5e-3), (1, 4, 16, 64)
NEAR = 0.15  # of an exponent; a batch of 64 instead of 1 then takes less than twice the steps
LONGER = 1.2  # a fifth: a clip that never bites changes nothing
WORDS = {"clipped": "clipped to norm 1", "free": "not clipped"}


def setting(clip, lr, bs, seed, width):
    return escape.escape_run(lr, bs, seed, CLIPS[clip], width)


def flow_time(clip):
    """Of each draw, in steps: the exponents in rate and batch are those of the flow, both within 0.15. A draw of which
    too few runs survive for a fit is left out."""

    def check(results):
        part, readings, words = results.select(clip=clip), {}, []
        if not part.measured.sizes["run"]:
            return None
        lr, bs = (float(part.predicted[f"{axis}_exponent_steps"][0]) for axis in ("lr", "bs"))
        for threshold in THRESHOLDS:
            found = np.array([fitted(draw, threshold, "steps")[0] for draw in escape.by_draw(part)])
            known, near = np.isfinite(found).all(axis=1), np.all(np.abs(found - (lr, bs)) <= NEAR, axis=1)
            readings[f"a loss of {threshold}"] = np.where(known, near, np.nan)
            words.append(f"to {threshold}: lr {escape.spread(found[:, 0])}, batch {escape.spread(found[:, 1])}")
        return decided_by_draws(readings, f"exponents over draws, {'; '.join(words)}")

    return check


def clipping_slows(results):
    """Of each draw, over the rates and batches at which both survive: the time, clipped, is above 1.2 times that of the
    run not clipped, in the mean of the ratio's logarithm. A run that has not left counts with the time it had; a draw
    without such a pair is left out."""
    readings, words = {}, []
    for threshold in THRESHOLDS:
        ratios = np.array([_ratio(draw, threshold) for draw in escape.by_draw(results)])
        readings[f"a loss of {threshold}"] = np.where(np.isfinite(ratios), ratios > LONGER, np.nan)
        words.append(f"to {threshold}: " + ", ".join("–" if np.isnan(r) else f"{r:.2f}" for r in ratios))
    return decided_by_draws(readings, f"ratio of the epochs of each draw, {'; '.join(words)}")


def _ratio(draw, threshold):
    clipped, free = (_by_point(draw.select(clip=clip), threshold) for clip in CLIPS)
    logs = [np.log(clipped[point] / free[point]) for point in clipped if point in free]
    return float(np.exp(np.mean(logs))) if logs else np.nan


def _by_point(results, threshold):
    found, _ = escape.times(results, threshold)
    m = escape.alive(results).measured
    return dict(zip(zip(m.lr.values, m.bs.values, strict=True), found, strict=True))


def small_batches_diverge(results):
    part = results.select(clip="free", bs=(1, 4))
    lost, n = int((~part.measured.finite.values).sum()), part.measured.sizes["run"]
    others = results.select(clip="free", bs=(16, 64))
    more = f"; {int((~others.measured.finite.values).sum())} of {others.measured.sizes['run']} at batches 16 and 64"
    groups = groups_by(part, "bs", ~part.measured.finite.values)
    text = f"{lost} of {n} runs diverge at batches 1 and 4{more}"
    return holds_in_share(lost, n, text, groups=groups) if n else None


def draw(results):
    figure, axes = plt.subplots(2, 2, figsize=(WIDTH, 4.4), sharex=True)
    grid = [(threshold, unit) for threshold in THRESHOLDS for unit in UNITS]
    for ax, (threshold, unit) in zip(axes.flat, grid, strict=True):
        for clip, colour, shift in (("clipped", BLUE, 0.94), ("free", ORANGE, 1.06)):
            part = results.select(clip=clip)
            if not part.measured.sizes["run"]:
                continue
            found, late = escape.times(part, threshold, unit)
            points = escape.alive(part).measured
            bs, time = points.bs.values * shift, found * points.lr.values
            ax.loglog(bs[~late], time[~late], ".", color=colour, ms=4, label=WORDS[clip])
            ax.loglog(bs[late], time[late], "^", mfc="none", mec=colour, ms=4, label=f"{WORDS[clip]}, not yet left")
        ax.set_ylabel(f"learning rate × {unit}\nto a loss of {threshold}")
        ax.set_xticks(results.values("bs"), map(str, results.values("bs")))
        ax.xaxis.set_minor_locator(NullLocator())
        ax.yaxis.set_minor_locator(LogLocator(subs=(2, 5)))
        for axis in (ax.yaxis.set_major_formatter, ax.yaxis.set_minor_formatter):
            axis(FuncFormatter(lambda value, _: f"{value:g}"))
    for ax in axes[-1]:
        ax.set_xlabel("batch size")
    letters(axes.flat)
    figure.legend(*axes[0, 0].get_legend_handles_labels(), loc="outside lower center", ncols=4)
    return figure


def tables(results):
    return tuple(
        escape.exponents_table(f"exponents_{clip}", results.select(clip=clip), f"Exponents of the escape time, {word}")
        for clip, word in WORDS.items()
        if results.select(clip=clip).measured.sizes["run"]
    )


experiment = Experiment(
    title="Time to leave the first plateau, with and without gradient clipping",
    source="our own question, beside Fig. 6",
    setting=setting,
    full=dict(clip=CLIPS, lr=RATES, bs=BATCHES, seed=range(11), width=(1024,)),
    quick=dict(clip=CLIPS, lr=(1e-2, 5e-3), bs=(4, 16), seed=range(1), width=(64,)),
    predict=(FlowTime(),),
    analyse=escape.analyse,
    draw=draw,
    drawn="One mark per run that did not diverge; marks of the two kinds are moved apart sideways.",
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
            note="of no draw enough runs survive for both exponents",
        ),
        Claim("Not clipped, runs of small batches (1, 4) diverge.", "ours", small_batches_diverge),
        Claim("Where both survive, clipping makes the plateau longer.", "ours", clipping_slows),
    ),
)
