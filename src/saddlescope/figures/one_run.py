"""The figure of one run of any setting: its loss with the stages, and what was observed as single numbers."""

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.ticker import MaxNLocator

from saddlescope.figures.panels import BLACK, BLUE, GREEN, ORANGE, PURPLE, thinned, time_label

MOST = 3  # panels of observables beside the loss
DECADES = 1e4  # a loss that falls further is drawn on a linear scale, on which its stages are seen


def draw_one_run(results, title=""):
    """The loss with its stages, cuts and predicted levels; beside it observables that are one number at a time."""
    run = next(iter(results.runs()))
    numbers = [str(n) for n, v in run.data_vars.items() if v.dims == ("saved",) and v.dtype.kind in "if"][:MOST]
    widths = (2, *(1 for _ in numbers))
    size = 6 + 3 * len(numbers), 3.6
    figure, axes = plt.subplots(1, len(widths), figsize=size, width_ratios=widths, squeeze=False)
    figure.suptitle(title, fontsize=10)
    _draw_loss(axes[0, 0], run)
    for ax, name in zip(axes[0, 1:], numbers, strict=True):
        ax.plot(run.times, run[name].values, ".-", color=GREEN, lw=1, ms=3)
        ax.set(xlabel=time_label(run.measured), ylabel=name.replace("_", " "))
        ax.yaxis.set_major_locator(MaxNLocator("auto", integer=run[name].dtype.kind == "i"))
    return figure


def _draw_loss(ax, run):
    """The loss of one run with its stages; a run that diverged has none."""
    loss = run["loss"].values
    at, shown = thinned(loss)
    ax.plot(at, shown, ".-" if len(loss) < 10 else "-", color=BLUE, lw=1, label="loss")
    finite = loss[np.isfinite(loss)]
    if finite.size and 0 < finite.max() < DECADES * finite.min():
        ax.set_yscale("log")
    for k, cut in enumerate(run.cuts):
        ax.axvline(cut, color=ORANGE, lw=0.6, ls="--", zorder=0, label="rate lowered" if k == 0 else None)
    _draw_theory(ax, run.predicted)
    if finite.size == loss.size:
        run.stages.draw(ax)
    ax.set(xlabel=time_label(run.measured), ylabel="loss", title="training loss and its stages")
    ax.legend(fontsize=7, loc="best")


def _draw_theory(ax, predicted):
    if "loss" in predicted:
        ax.plot(predicted["loss"].values, color=PURPLE, ls="--", lw=1.2, label="theory")
    for k, level in enumerate(predicted["plateau_level"].values if "plateau_level" in predicted else ()):
        ax.axhline(level, color=BLACK, ls="--", lw=0.8, label=None if k else "predicted level")
