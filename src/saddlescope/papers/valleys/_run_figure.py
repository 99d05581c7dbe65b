"""The figure of one run on a curve: loss with cuts and stages, fit, channel partials, frequencies."""

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.ticker import NullLocator

from saddlescope.figures import BLACK, BLUE, GREEN, ORANGE, RED, WIDTH, letters
from saddlescope.observables import learned_since

# Four panels of one size with room for any labels: to compute the layout takes as long as to draw it.
MARGINS = dict(left=0.095, right=0.985, bottom=0.09, top=0.88, wspace=0.27, hspace=0.42)
HALVES = (-1, -0.5, 0, 0.5, 1)
DECADES = 100.0  # a loss that spans more is marked at powers of ten alone


def draw_run(run, task, title):
    figure, axes = plt.subplots(2, 2, figsize=(WIDTH, 4.6), layout="none", gridspec_kw=MARGINS)
    figure.suptitle(title, size=9)
    loss_panel(axes[0, 0], run)
    if str(run.status.values).startswith("diverged"):
        for ax in axes.flat[1:]:
            ax.set_axis_off()
            ax.text(0.5, 0.5, f"{run.status.values}: nothing to show at the end", ha="center", transform=ax.transAxes)
        return figure
    fit_panel(axes[0, 1], run, task)
    partials_panel(axes[1, 0], run)
    frequency_panel(axes[1, 1], run, task)
    letters(axes.flat)
    return figure


def loss_panel(ax, run):
    loss = run["loss"].values
    ax.semilogy(loss, ".-" if len(loss) < 10 else "-", color=BLUE, lw=1, label="epoch loss")
    for k, cut in enumerate(run.cuts):
        ax.axvline(cut, color=ORANGE, lw=0.6, ls="--", zorder=0, label="rate halved" if k == 0 else None)
    if np.isfinite(loss).all():
        run.stages.draw(ax)
    low, high = ax.get_ylim()
    if high > DECADES * low:
        ax.yaxis.set_minor_locator(NullLocator())  # the marks between powers of ten cost more than the curve
    ax.set(xlabel="epoch", ylabel="loss", title="training loss and its stages")
    ax.legend(loc="lower left")


def fit_panel(ax, run, task):
    fit = run["fit"].values[-1]
    x = np.linspace(-1, 1, len(fit))
    ax.plot(x, task.target(x[:, None])[:, 0], color=ORANGE, lw=2.5, label="target")
    ax.plot(x, fit, color=BLUE, lw=1, label="fit at the end")
    ax.set(xlabel="x", ylabel="y", xticks=HALVES, title=f"fit, test error {float(run.test_error.values[-1]):.2e}")
    low, high = ax.get_ylim()
    ax.set_ylim(low, high + 0.15 * (high - low))  # room for the legend
    ax.legend(loc="upper center", ncols=2)


def partials_panel(ax, run):
    """The last block of channels before the output."""
    blocks = sorted(int(str(n).removeprefix("partial_")) for n in run.data_vars if str(n).startswith("partial_"))
    channels = run[f"partial_{blocks[-2]}"].values[-1]
    x = np.linspace(-1, 1, len(channels))
    colours = plt.colormaps["viridis"](np.linspace(0, 0.9, channels.shape[1]))
    for column, colour in zip(channels.T, colours, strict=True):
        ax.plot(x, column, lw=0.8, color=colour)
    ax.set(xlabel="x", ylabel="channel output", xticks=HALVES, title=f"channels of block {blocks[-2] + 1}, at the end")


def frequency_panel(ax, run, task):
    times, error = run.saved_epoch.values, np.abs(run["residual_amplitude"].values)
    targets = np.array(task.amplitudes or (1.0,) * len(task.frequencies))
    since = learned_since(times, error, targets)
    colours = (BLUE, ORANGE, GREEN, RED, BLACK)
    for k, frequency in enumerate(task.frequencies):
        when = "not learned" if np.isnan(since[k]) else f"learned by {since[k]:.0f}"
        ax.plot(times, error[:, k], ".-", ms=3, lw=0.8, color=colours[k % 5], label=f"{frequency:g}: {when}")
    ax.set(
        xlabel="epoch", ylabel="size of the residual amplitude", xscale="symlog", title="what is left of each frequency"
    )
    ax.axhline(0.5, color="0.7", lw=0.6, ls=":")
    ax.legend(title="frequency")
