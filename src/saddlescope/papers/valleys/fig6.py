"""Valleys paper, Fig. 6: how quickly the first plateau is left, by learning rate and by batch size,
at fixed rate.

The paper's text says "roughly 1/lr" and "small batches escape much sooner", each from one run per
point. Here four rates by eight batch sizes, two thresholds, in epochs and in steps, with runs that
did not escape censored. One initial draw shifts the times of all its cells together, so that draws
are counted, not cells: an exponent is fitted to each draw.

The caption of Fig. 8 gives two "scaling exponents", near 1 and 0.75, and says not of what. They are
looked for here: in the rate at the largest batch, and in the batch at the smallest rate above 10.
Three exponents are in question there, ½, ¾ = (1 + ½)/2 and 1, so that the nearest of them is asked.
"""

from collections.abc import Iterable

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.lines import Line2D
from matplotlib.ticker import FuncFormatter, LogLocator, NullLocator

from saddlescope.checks import holds_in_share
from saddlescope.claims import Claim
from saddlescope.experiment import Experiment
from saddlescope.figures import BLACK, BLUE, GREEN, ORANGE, RED, WIDTH, letters
from saddlescope.papers.valleys import _escape as escape
from saddlescope.papers.valleys._escape import THRESHOLDS, by_draw, fitted, median
from saddlescope.theory import FlowTime

RATES, BATCHES = (1e-2, 5e-3, 2e-3, 1e-3), (1, 2, 4, 8, 16, 32, 64, 128)
SMALL, LARGE = (1, 2, 4), (8, 16, 32, 64, 128)
CANDIDATES = (0.5, 0.75, 1.0)  # (1 + ½)/2 is the caption's own reading of 0.75
RATE_COLOURS = dict(zip(RATES, (BLUE, ORANGE, GREEN, RED), strict=True))


def setting(lr, bs, seed, width):
    return escape.escape_run(lr, bs, seed, width=width)


def inverse_in_rate(results):
    """Of each draw: the exponent in the rate, of all batches, within ¼ of the flow's; at each threshold."""
    said, groups, words = float(results.predicted.lr_exponent_epochs[0]), {}, []
    for threshold in THRESHOLDS:
        found = np.array([fitted(part, threshold, "epochs")[0][0] for part in by_draw(results)])
        known = found[np.isfinite(found)]
        groups[f"a loss of {threshold}"] = int(np.sum(np.abs(known - said) <= 0.25)), len(known)
        words.append(f"to a loss of {threshold}: {escape.spread(found)}")
    return _counted(groups, f"exponent of lr over draws, {'; '.join(words)}")


def sooner(unit):
    """Of each draw: the time at batches 1–4 (median) is below half of that at a larger batch, in the mean over rates of
    the ratio's logarithm. Decided for each larger batch and threshold. A larger batch that had not left when its time
    was over counts with that time."""

    def check(results):
        if not set(results.values("bs")) & set(SMALL):
            return None
        groups, words = {}, []
        for threshold in THRESHOLDS:
            for bs in sorted(set(results.values("bs")) & set(LARGE)):
                ratios = np.array([_ratio(part, threshold, unit, bs) for part in by_draw(results)])
                groups[f"batch {bs} at {threshold}"] = int(np.sum(ratios < 0.5)), len(ratios)
                words.append(f"{bs} at {threshold}: {np.median(ratios):.2g}")
        text = f"{unit} at batches 1–4 over those at a larger batch, median draw, {', '.join(words)}"
        return _counted(groups, text) if groups else None

    return check


def _ratio(draw, threshold, unit, bs):
    rates = [draw.select(lr=lr) for lr in draw.values("lr")]
    pairs = [(escape.at_least(part.select(bs=b), threshold, unit) for b in (SMALL, bs)) for part in rates]
    return float(np.exp(np.mean([np.log(small / large) for small, large in pairs])))


def _counted(groups, text):
    good, n = (sum(c) for c in zip(*groups.values(), strict=True))
    return holds_in_share(good, n, text, groups=groups)


def least_between(results):
    """Of each draw and rate: the least time to a loss of 1.4 is at neither end of the batches, whose times are 1.2
    times as long or longer."""
    if set(results.values("bs")) != set(BATCHES):
        return None
    good, least, n = 0, [], 0
    for part in (p.select(lr=lr) for p in by_draw(results) for lr in results.values("lr")):
        found, order = escape.times(part, "1.4")[0], np.argsort(part.measured.bs.values)
        found = found[order]
        good += min(found[0], found[-1]) >= 1.2 * found.min()
        least.append(BATCHES[int(np.argmin(found))])
        n += 1
    most, times = np.unique(least, return_counts=True)
    text = f"{good} of {n} draws and rates; least at batch " + ", ".join(
        f"{b} ({k} times)" for b, k in zip(most, times, strict=True)
    )
    return holds_in_share(good, n, text)


def captions_exponents(results):
    """Of each draw: of ½, ¾ and 1 the nearest to the exponent of the rate at batch 128 is 1, to that of the batch
    above 10 at lr 1e-3 it is ¾; both of the time to a loss of 1.4."""
    cases = {"in the rate at batch 128": ("lr", dict(bs=128), 1.0), "in the batch at lr 1e-3": ("bs", dict(lr=1e-3,
             bs=tuple(b for b in BATCHES if b > 10)), 0.75)}  # fmt: skip
    if {*RATES} != set(results.values("lr")) or {*BATCHES} != set(results.values("bs")):
        return None
    groups, words = {}, []
    for word, (axis, where, wanted) in cases.items():
        found = np.abs([fitted(p.select(**where), "1.4", "epochs", (axis,))[0][0] for p in by_draw(results)])
        nearest = np.array(CANDIDATES)[np.argmin(np.abs(found[:, None] - CANDIDATES), axis=1)]
        groups[word] = int(np.sum(nearest == wanted)), len(found)
        words.append(f"{word} {escape.spread(found)}")
    return _counted(groups, f"sizes of the exponents over draws, {'; '.join(words)}")


# ---- Figure ----


def draw(results):
    figure, axes = plt.subplots(2, 3, figsize=(WIDTH, 4.6))
    shades = dict(zip(BATCHES, plt.colormaps["viridis"](np.linspace(0, 0.92, len(BATCHES))), strict=True))
    for row, threshold in zip(axes, THRESHOLDS, strict=True):
        for bs in results.values("bs"):
            line(row[0], results.select(bs=bs), "lr", threshold, shades[bs])
        for lr in results.values("lr"):
            line(row[1], results.select(lr=lr), "bs", threshold, RATE_COLOURS[lr])
            line(row[2], results.select(lr=lr), "bs", threshold, RATE_COLOURS[lr], "steps")
        rates = np.array(sorted(results.values("lr")))
        row[0].plot(rates, 0.6 * rates ** float(results.predicted.lr_exponent_epochs[0]), color=BLACK, ls="--", lw=1)
        for ax, axis, unit in zip(row, ("lr", "bs", "bs"), ("epochs", "epochs", "steps"), strict=True):
            label(ax, axis, results.values(axis), f"{unit} to a loss of {threshold}")
    letters(axes.flat)
    batches = {f"batch {bs}": Line2D([], [], color=shades[bs]) for bs in sorted(results.values("bs"))}
    rates = {f"learning rate {lr:g}": Line2D([], [], color=RATE_COLOURS[lr]) for lr in results.values("lr")}
    more = {"∝ 1/learning rate": Line2D([], [], color=BLACK, ls="--", lw=1),
            "not yet left": Line2D([], [], color="0.3", marker="^", mfc="none", ls="", ms=4)}  # fmt: skip
    keys = batches | rates | more
    figure.legend(list(keys.values()), list(keys), loc="outside lower center", ncols=5)
    return figure


def label(ax, axis, ticks: Iterable[float], word):
    ax.set(xscale="log", yscale="log", xlabel={"lr": "learning rate", "bs": "batch size"}[axis], ylabel=word)
    ticks = sorted(ticks)
    ax.set_xticks(ticks, [f"{t:g}" for t in ticks])
    ax.xaxis.set_minor_locator(NullLocator())
    ax.yaxis.set_minor_locator(LogLocator(subs=(2, 5)))
    for axis in (ax.yaxis.set_major_formatter, ax.yaxis.set_minor_formatter):
        axis(FuncFormatter(lambda value, _: f"{value:g}" if value < 1e4 else f"{value / 1000:g}k"))


def line(ax, part, axis, threshold, colour, unit="epochs"):
    """Every run a dot, a hollow triangle where censored; a line through the medians."""
    found, late = escape.times(part, threshold, unit)
    at = escape.alive(part).measured[axis].values
    ax.plot(at[~late], found[~late], ".", color=colour, ms=3)
    ax.plot(at[late], found[late], "^", mfc="none", mec=colour, ms=3.5, mew=0.7)
    values = sorted(set(at.tolist()))
    medians = [median(part.select(**{axis: v}), threshold, unit) for v in values]
    ax.plot(values, np.where(np.isfinite(medians), medians, np.nan), color=colour, lw=0.9)


def tables(results):
    return (escape.exponents_table("exponents", results, "Exponents of the time to leave the first plateau"),)


FLATTER = (
    "to the start of the fall (1.4) near 1/lr for batches of 8 and more, flatter for smaller ones; down to 0.1 steep "
    "for batches 1 and 2, and the flatter the larger the batch"
)
U_SHAPE = (
    "the time has its least near batch 4 to 8 and rises on both sides: batches 1 and 2 leave as late as 16 and 32; "
    "only batches of 32 and more take twice as long"
)
experiment = Experiment(
    title="Time to leave the first plateau, by learning rate and batch size",
    source="Fig. 6, App. C.7",
    setting=setting,
    full=dict(lr=RATES, bs=BATCHES, seed=range(8), width=(1024,)),
    quick=dict(lr=(1e-2, 5e-3), bs=(4, 64), seed=range(1), width=(64,)),
    predict=(FlowTime(),),
    analyse=escape.analyse,
    draw=draw,
    drawn="Dots are runs, lines go through the medians over draws; a hollow triangle is a run that had not left the "
    "plateau when its time was over. Upper row: time to the start of the fall (loss 1.4); lower row: to 0.1.",
    tables=tables,
    claims=(
        Claim("Epochs to escape the first plateau scale as 1/lr.", "V25 · Fig. 6", inverse_in_rate, note=FLATTER),
        Claim("Small batches (1–4) escape much sooner than each larger one, in epochs.", "V26 · Fig. 6",
              sooner("epochs"), note=U_SHAPE),
        Claim("The batch that leaves the plateau soonest is neither the smallest nor the largest.", "ours",
              least_between),
        Claim("Small batches escape much sooner than each larger one in steps as well.", "ours", sooner("steps"),
              note="a step of a larger batch does more: the fewer steps per epoch, the fewer are needed"),
        Claim("The scaling exponents of Fig. 8's caption, near 1 and 0.75, are those of Fig. 6: in the rate at batch "
              "128, and in the batch above 10.", "V16 · Fig. 8", captions_exponents),
    ),
)  # fmt: skip
