"""Valleys paper, Fig. 6: how quickly the first plateau is left, by learning rate and by batch size,
at fixed rate.

The paper's text says "roughly 1/lr" and "small batches escape much sooner", each from one run per
point. Here four rates by eight batch sizes by three seeds, two thresholds, in epochs and in steps,
with runs that did not escape censored.
"""

import matplotlib.pyplot as plt
import numpy as np

from saddlescope.checks import decided_by
from saddlescope.claims import UNCLEAR, Claim
from saddlescope.experiment import Experiment
from saddlescope.figures import BLACK, BLUE, GREEN, ORANGE, PURPLE, RED, SKY
from saddlescope.papers.valleys import _escape as escape
from saddlescope.papers.valleys._escape import THRESHOLDS, UNITS, at_least, fitted, median, medians, shown
from saddlescope.theory import FlowTime

RATES, BATCHES = (1e-2, 5e-3, 2e-3, 1e-3), (1, 2, 4, 8, 16, 32, 64, 128)
COLOURS = (BLACK, BLUE, SKY, GREEN, ORANGE, RED, PURPLE, "0.6")


def setting(lr, bs, seed, width):
    return escape.escape_run(lr, bs, seed, width=width)


def inverse_in_rate(results):
    good, words = {}, []
    for threshold in THRESHOLDS:
        (a, _), (half, _), late = fitted(results, threshold, "epochs")
        said = results.predicted.lr_exponent_epochs.values
        near = bool(np.all((said - 0.25 <= a) & (a <= said + 0.25)))
        good[f"threshold {threshold}"] = UNCLEAR if np.isnan(a) else near
        words.append(f"threshold {threshold}: exponent {shown(a, half)}, {late} censored")
    return decided_by(good, "; ".join(words))


def sooner(unit):
    """Median time at batches 1–4 below half of that at 32–128, over all rates; by rate beside it.
    Large batches that had not left when their time was over count with that time: in steps it is
    short.
    """

    def check(results):
        good, words = {}, []
        small, large = (results.select(bs=b) for b in ((1, 2, 4), (32, 64, 128)))
        if not (small.measured.sizes["run"] and large.measured.sizes["run"]):
            return None
        for threshold in THRESHOLDS:
            rates = sorted(results.values("lr"), reverse=True)
            early = median(small, threshold, unit) < at_least(large, threshold, unit) / 2
            good[f"threshold {threshold}"] = early
            pairs = ((part.select(lr=r) for part in (small, large)) for r in rates)
            by_rate = ", ".join(medians(pair, threshold, unit) for pair in pairs)
            (_, e), (_, half), _ = fitted(results, threshold, unit)
            words.append(f"threshold {threshold}: medians {medians((small, large), threshold, unit)} {unit} (by rate "
                         f"{by_rate}), exponent of the batch {shown(e, half)}")  # fmt: skip
        return decided_by(good, "; ".join(words))

    return check


def draw(results):
    figure, axes = plt.subplots(2, 3, figsize=(11, 6.2))
    for row, threshold in zip(axes, THRESHOLDS, strict=True):
        for bs, colour in zip(BATCHES, COLOURS, strict=True):
            line(row[0], results.select(bs=bs), "lr", threshold, colour, f"batch {bs}")
        for lr, colour in zip(RATES, COLOURS[1:], strict=False):
            line(row[1], results.select(lr=lr), "bs", threshold, colour, f"lr {lr:g}")
            line(row[2], results.select(lr=lr), "bs", threshold, colour, f"lr {lr:g}", "steps")
        rates = np.array(sorted(RATES))
        said = float(results.predicted.lr_exponent_epochs[0])
        row[0].plot(rates, rates**said, color=BLACK, ls="--", lw=1, label="flow: 1/lr")
        for ax, word, unit in zip(row, ("learning rate", "batch size", "batch size"), (*UNITS[:1] * 2, "steps"),
                                  strict=True):  # fmt: skip
            ax.set(xscale="log", yscale="log", xlabel=word, ylabel=f"{unit} to a loss of {threshold}")
            ticks = results.values("lr" if word == "learning rate" else "bs")
            ax.set_xticks(ticks, [f"{t:g}" for t in ticks], fontsize=7)
            ax.minorticks_off()
    axes[0, 0].plot([], [], "^", mfc="none", mec="0.3", ms=4, label="not yet left")
    for ax in axes[0]:
        ax.legend(fontsize=6, ncols=2)
    return figure


def line(ax, part, axis, threshold, colour, label, unit="epochs"):
    """Every run a dot, hollow where censored; a line through the medians."""
    if not part.measured.sizes["run"]:
        return
    found, late = escape.times(part, threshold, unit)
    at = escape.alive(part).measured[axis].values
    ax.plot(at[~late], found[~late], ".", color=colour, ms=4)
    ax.plot(at[late], found[late], "^", mfc="none", mec=colour, ms=4)
    values = sorted(set(at.tolist()))
    medians = [median(part.select(**{axis: v}), threshold, unit) for v in values]
    ax.plot(values, np.where(np.isfinite(medians), medians, np.nan), color=colour, lw=0.9, label=label)


def tables(results):
    return (escape.exponents_table("exponents", results, "Exponents of the time to leave the first plateau"),)


FLATTER = (
    "to the start of the fall (1.4) near 1/lr for batches of 8 and more, flatter for smaller ones; down to 0.1 steep "
    "for batches 1 and 2, and the flatter the larger the batch"
)
experiment = Experiment(
    title="Time to leave the first plateau, by learning rate and batch size",
    source="Fig. 6, App. C.7",
    setting=setting,
    full=dict(lr=RATES, bs=BATCHES, seed=range(3), width=(1024,)),
    quick=dict(lr=(1e-2, 5e-3), bs=(4, 64), seed=range(1), width=(64,)),
    predict=(FlowTime(),),
    analyse=escape.analyse,
    draw=draw,
    tables=tables,
    claims=(
        Claim("Epochs to escape the first plateau scale as 1/lr.", "V25 · Fig. 6", inverse_in_rate, note=FLATTER),
        Claim("Small batches (1–4) escape much sooner than larger ones, in epochs.", "V26 · Fig. 6", sooner("epochs")),
        Claim("Small batches escape sooner in steps as well.", "ours", sooner("steps"),
              note="a step of a larger batch does more: the fewer steps per epoch, the fewer are needed"),
    ),
)  # fmt: skip
