"""The figure of one run of any setting: its loss with the stages, and what was observed as single numbers."""

import matplotlib.pyplot as plt
import numpy as np

from saddlescope.figures.panels import first_theory, thinned, time_label
from saddlescope.figures.style import BLUE, GREEN, ORANGE

MOST = 3  # panels of observables beside the loss


def draw_one_run(results, title=""):
    """The loss with its stages, cuts and predicted levels; beside it observables that are one number at a time."""
    run = next(iter(results.runs()))
    numbers = [str(n) for n, v in run.data_vars.items() if v.dims == ("saved",) and v.dtype.kind in "if"][:MOST]
    figure, axes = plt.subplots(1, 1 + len(numbers), figsize=(6.5 + 3 * len(numbers), 3.8), squeeze=False)
    figure.suptitle(title, fontsize=10)
    draw_loss(axes[0, 0], run)
    for ax, name in zip(axes[0, 1:], numbers, strict=True):
        ax.plot(run.times, run[name].values, ".-", color=GREEN, lw=1, ms=3)
        ax.set(xlabel=time_label(run.measured), ylabel=name.replace("_", " "))
    return figure


def draw_loss(ax, run):
    """Logarithmic where the loss stays positive. The stages of a run that diverged are those before it did."""
    loss = run["loss"].values
    at, shown = thinned(loss)
    ax.plot(at, shown, ".-" if len(loss) < 10 else "-", color=BLUE, lw=1, label="loss")
    finite = loss[np.isfinite(loss)]
    if finite.size and finite.min() > 0:
        ax.set_yscale("log")
    for k, cut in enumerate(run.cuts):
        ax.axvline(cut, color=ORANGE, lw=0.6, ls="--", zorder=0, label="rate lowered" if k == 0 else None)
    first_theory(ax, run.predicted, levels=True)
    if finite.size == loss.size:
        run.stages.draw(ax)
    ax.set(xlabel=time_label(run.measured), ylabel="loss", title="training loss and its stages")
    ax.legend(fontsize=7, loc="lower left")
