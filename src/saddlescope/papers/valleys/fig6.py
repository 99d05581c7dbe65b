"""Valleys paper, Fig. 6: how quickly the first plateau is left, by learning rate and by batch size,
at fixed rate.

The paper's text says "roughly 1/lr" and "small batches escape much sooner", each from one run per
point. Here four rates by eight batch sizes, two thresholds, in epochs and in steps, with runs that
did not escape censored. One initial draw shifts the times of all its cells together, so that draws
are counted, not cells: an exponent is fitted to each draw.

The caption of Fig. 8 gives two "scaling exponents", near 1 and 0.75, and says not of what. They are
looked for here: in the rate at the largest batch, and in the batch at the smallest rate above 10.
Three exponents are in question there, ½, ¾ = (1 + ½)/2 and 1, so that each must lie within ⅛ of its own.
"""

from collections.abc import Iterable

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.lines import Line2D
from matplotlib.ticker import FuncFormatter, LogLocator, NullLocator

from saddlescope.claims import Claim
from saddlescope.experiment import Experiment
from saddlescope.figures import BLACK, BLUE, GREEN, ORANGE, RED, WIDTH, letters
from saddlescope.papers.valleys import _escape as escape
from saddlescope.papers.valleys._draws import decided_by_draws
from saddlescope.papers.valleys._escape import THRESHOLDS, by_draw, fitted, median
from saddlescope.theory import FlowTime

RATES, BATCHES = (1e-2, 5e-3, 2e-3, 1e-3), (1, 2, 4, 8, 16, 32, 64, 128)
SMALL, LARGE = (1, 2, 4), (8, 16, 32, 64, 128)
HALF_APART = 0.125  # of the three exponents in question, ½, ¾ and 1, neighbours are ¼ apart
LONGER = 1.2  # a fifth longer: a time that is nearly the least is not told from it
RATE_COLOURS = dict(zip(RATES, (BLUE, ORANGE, GREEN, RED), strict=True))


def setting(lr, bs, seed, width):
    return escape.escape_run(lr, bs, seed, width=width)


def inverse_in_rate(results):
    """Of each draw: the exponent in the rate, of all batches, within ¼ of the flow's; at each threshold."""
    said, readings, words = float(results.predicted.lr_exponent_epochs[0]), {}, []
    for threshold in THRESHOLDS:
        found = np.array([fitted(part, threshold, "epochs")[0][0] for part in by_draw(results)])
        near = np.where(np.isfinite(found), np.abs(found - said) <= 0.25, np.nan)
        readings[f"a loss of {threshold}"] = near
        words.append(f"to a loss of {threshold}: {escape.spread(found)}")
    return decided_by_draws(readings, f"exponent of lr over draws, {'; '.join(words)}")


def sooner(unit):
    """Of each draw: the time at batches 1–4 (median) is below half of that at a larger batch, in the mean over rates of
    the ratio's logarithm. Decided for each larger batch and threshold. A larger batch that had not left when its time
    was over counts with that time."""

    def check(results):
        if not set(results.values("bs")) & set(SMALL):
            return None
        readings, words = {}, []
        for threshold in THRESHOLDS:
            for bs in sorted(set(results.values("bs")) & set(LARGE)):
                ratios = np.array([_ratio(part, threshold, unit, bs) for part in by_draw(results)])
                readings[f"batch {bs} at {threshold}"] = ratios < 0.5
                words.append(f"{bs} at {threshold}: {np.median(ratios):.2g}")
        text = f"{unit} at batches 1–4 over those at a larger batch, median draw, {', '.join(words)}"
        return decided_by_draws(readings, text) if readings else None

    return check


def _ratio(draw, threshold, unit, bs):
    rates = [draw.select(lr=lr) for lr in draw.values("lr")]
    pairs = [(escape.at_least(part.select(bs=b), threshold, unit) for b in (SMALL, bs)) for part in rates]
    return float(np.exp(np.mean([np.log(small / large) for small, large in pairs])))


def least_between(results):
    """Of each draw: the least time to a loss of 1.4 is at neither end of the batches, whose times are 1.2 times as long
    or longer. Decided for each rate."""
    if set(results.values("bs")) != set(BATCHES):
        return None
    readings, least = {}, []
    for lr in results.values("lr"):
        rows = [_by_batch(part.select(lr=lr)) for part in by_draw(results)]
        readings[f"lr {lr:g}"] = [min(row[0], row[-1]) >= LONGER * row.min() for row in rows]
        least += [BATCHES[int(np.argmin(row))] for row in rows]
    most, times = np.unique(least, return_counts=True)
    text = ", ".join(f"{b} ({k} times)" for b, k in zip(most, times, strict=True))
    return decided_by_draws(readings, f"{len(least)} draws and rates; least at batch {text}")


def _by_batch(part):
    """The times to a loss of 1.4 in the order of the batches; a run that diverged never gets there."""
    m = part.measured.sortby("bs")
    return np.where(m.finite.values, m["escape_1.4"].values, np.inf)


def captions_exponents(results):
    """Of each draw, with the time to a loss of 1.4: it falls with the rate at batch 128 by a power of 1, and rises with
    the batch above 10 at lr 1e-3 by a power of ¾, both within ⅛."""
    cases = {"in the rate at batch 128": ("lr", dict(bs=128), -1.0), "in the batch at lr 1e-3": ("bs", dict(lr=1e-3,
             bs=tuple(b for b in BATCHES if b > 10)), 0.75)}  # fmt: skip
    if {*RATES} != set(results.values("lr")) or {*BATCHES} != set(results.values("bs")):
        return None
    readings, words = {}, []
    for word, (axis, where, wanted) in cases.items():
        found = np.array([fitted(p.select(**where), "1.4", "epochs", (axis,))[0][0] for p in by_draw(results)])
        readings[word] = np.abs(found - wanted) <= HALF_APART
        words.append(f"{word} {escape.spread(found)}")
    return decided_by_draws(readings, f"exponents over draws, {'; '.join(words)}")


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
    full=dict(lr=RATES, bs=BATCHES, seed=range(11), width=(1024,)),
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
