"""Figures: panels shared by experiments, and how a figure is written. They compute nothing that a claim depends on."""

from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

from saddlescope.claims import saved_times, stages_of
from saddlescope.results import TICKS
from saddlescope.store import write_bytes

# Okabe and Ito's colours, told apart by colour-blind readers.
BLACK, ORANGE, SKY, GREEN, BLUE, RED, PURPLE = (
    "#000000", "#E69F00", "#56B4E9", "#009E73", "#0072B2", "#D55E00", "#CC79A7",
)  # fmt: skip
STYLE: dict[Any, Any] = {
    "font.size": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.titlesize": 10,
    "legend.framealpha": 0.9,
    "legend.edgecolor": "none",
    "figure.constrained_layout.use": True,
    "axes.prop_cycle": matplotlib.cycler(color=[BLUE, ORANGE, GREEN, RED, SKY, PURPLE]),
    "pdf.fonttype": 42,
    "savefig.dpi": 160,
}


@contextmanager
def style():
    with plt.rc_context(STYLE):
        yield


def save_figure(figure, folder):
    """figure.png and figure.pdf, each whole or not at all."""
    for kind, metadata in (("png", {}), ("pdf", {"CreationDate": None})):
        data = BytesIO()
        figure.savefig(data, format=kind, metadata=metadata)
        figure.set_layout_engine("none")  # laid out once
        write_bytes(Path(folder) / f"figure.{kind}", data.getvalue())
    plt.close(figure)


def thinned(curve, most=2000):
    """Steps and values of about so many points of a long curve, dense at its start as a logarithmic axis needs."""
    even, early = np.linspace(0, len(curve) - 1, most), np.geomspace(1, len(curve), most) - 1
    at = np.unique(np.concatenate([even, early]).round().astype(int))
    return at, curve[at]


def loss_panel(ax, results, title="", levels=True):
    """Every run's loss, thin; the first run bold with the theory dashed over it; predicted levels dashed."""
    for i, (measured, predicted) in enumerate(results.runs()):
        loss = measured["loss"].values
        ax.plot(loss, color=BLUE if i == 0 else SKY, lw=1.8 if i == 0 else 0.5, zorder=3 if i == 0 else 2,
                label={0: "measured, first seed", 1: "other seeds"}.get(i))  # fmt: skip
        if i == 0:
            first_theory(ax, predicted, levels)
    ax.set(xlabel=time_label(results.measured), ylabel="loss", title=title)
    ax.legend(loc="upper right", bbox_to_anchor=(1, 0.93), fontsize=7)


def first_theory(ax, predicted, levels):
    if "loss" in predicted:
        ax.plot(predicted["loss"].values, color=RED, ls="--", lw=1.2, zorder=4, label="theory, first seed")
    if levels and "plateau_level" in predicted:
        for k, level in enumerate(predicted["plateau_level"].values):
            ax.axhline(level, color=BLACK, ls="--", lw=0.8, zorder=4, label="predicted level" if k == 0 else None)


def learned_panel(ax, results, name, title=""):
    """How much of each mode or sample the first run has learned, with the predicted half-strength steps marked."""
    measured, predicted = next(iter(results.runs()))
    foretold = "half_strength_step" in predicted
    for k, (curve, colour) in enumerate(zip(measured[name].values.T, (BLUE, ORANGE, GREEN, PURPLE), strict=False)):
        ax.plot(saved_times(measured), curve, color=colour, label=f"{name.removeprefix('learned_')} {k + 1}")
        if foretold:
            step = predicted["half_strength_step"].values[k]
            ax.plot(step, 0.5, "o", mfc="none", mec=colour, ms=8)
            ax.axvline(step, color=colour, ls="--", lw=0.8)
    ax.set(xlabel=time_label(results.measured), ylabel="share learned", title=title, ylim=(-0.05, 1.1))
    ax.legend(loc="lower right", fontsize=7, title="○ predicted ½" if foretold else None, title_fontsize=7)


def weights_panels(axes, run):
    """First-layer weights on the middle plateau and at the end, one dot a unit, as in the paper."""
    times, u = saved_times(run), run["param_u"].values
    plateaus = stages_of(run).plateaus
    middle, word = (plateaus[1].at, "middle plateau") if len(plateaus) > 2 else (times[len(times) // 2], "half way")
    reach = 1.1 * np.abs(u).max()
    for ax, when, title in zip(axes, (middle, times[-1]), (word, "end"), strict=True):
        dots = u[np.argmin(np.abs(times - when))]
        ax.plot(dots[:, 0], dots[:, 1], ".", color=BLACK, ms=4)
        ax.axhline(0, color="0.8", lw=0.6, zorder=0)
        ax.axvline(0, color="0.8", lw=0.6, zorder=0)
        ax.set(xlim=(-reach, reach), ylim=(-reach, reach), aspect="equal", xlabel="$u_1$")
        ax.set_title(f"weights, {title}", fontsize=8)
        ends = float(f"{0.7 * reach:.1g}")
        ax.set(xticks=(-ends, ends), yticks=(-ends, ends))
        ax.tick_params(labelsize=7)
    axes[0].set_ylabel("$u_2$")


def loss_and_weights(figure, cell, results, title):
    """A panel as in the simplicity paper: the loss, and below it the weights on the plateau and at the end."""
    inner = cell.subgridspec(2, 2, height_ratios=(1.2, 1))
    top = figure.add_subplot(inner[0, :])
    top.locator_params(axis="x", nbins=5)
    loss_panel(top, results, title)
    weights_panels([figure.add_subplot(inner[1, i]) for i in range(2)], next(iter(results.runs()))[0])


def weights_movie(results, axis, names, frames=60):
    """Loss up to now and first-layer weights, panel by panel, over the course of training; first seed."""
    from matplotlib.animation import FuncAnimation

    shown = [(names[v], next(iter(results.select(**{axis: v}).runs()))[0]) for v in names
             if results.select(**{axis: v}).measured.sizes["run"]]  # fmt: skip
    figure, axes = plt.subplots(2, len(shown), figsize=(2.4 * len(shown), 4.6), squeeze=False)
    artists = [movie_panel(axes[0, k], axes[1, k], name, run) for k, (name, run) in enumerate(shown)]

    def frame(i):
        for at in artists:
            at(i / (frames - 1))
        return [line for ax in axes.flat for line in ax.lines]

    return FuncAnimation(figure, frame, frames=frames, interval=100, blit=False)


def movie_panel(top, below, name, run):
    """Draws the first frame of a panel; gives the function that moves it to a share of the film: half of the film goes
    by time, half by the fall of the loss, so that drops are seen."""
    loss, times, u = run["loss"].values, saved_times(run), run["param_u"].values[:, :, :2]
    reach = 1.1 * np.abs(u).max()
    top.plot(loss, color="0.85", lw=1)
    (curve,), (now,) = top.plot([], [], color=BLUE, lw=1.5), top.plot([], [], "o", color=RED, ms=4)
    (dots,) = below.plot([], [], ".", color=BLACK, ms=4)
    top.set(title=name, xlabel=time_label(run), ylabel="loss")
    below.set(xlim=(-reach, reach), ylim=(-reach, reach), aspect="equal", xlabel="$u_1$", ylabel="$u_2$")
    below.tick_params(labelsize=7)
    below.locator_params(nbins=2)

    lowest = np.minimum.accumulate(loss)
    clock = np.linspace(0, 1, len(loss)) + (loss[0] - lowest) / max(loss[0] - lowest[-1], 1e-300)

    def move(share):
        step = int(np.searchsorted(clock, share * clock[-1]))
        curve.set_data(np.arange(step + 1), loss[: step + 1])
        now.set_data([step], [loss[step]])
        dots.set_data(*u[np.argmin(np.abs(times - step))].T)

    return move


def panels(number, columns, width=13.0, height=4.2):
    """A figure with cells for so many panels, and no empty rows."""
    rows = -(-number // columns)
    figure = plt.figure(figsize=(width, height * rows))
    cells = figure.add_gridspec(rows, columns)
    return figure, [cells[divmod(k, columns)] for k in range(number)]


def save_movie(animation, folder):
    """movie.mp4 where an encoder is installed, else movie.gif; its path."""
    from matplotlib import animation as writers

    mp4 = writers.FFMpegWriter.isAvailable()
    path = Path(folder) / ("movie.mp4" if mp4 else "movie.gif")
    animation.save(path, writer=(writers.FFMpegWriter if mp4 else writers.PillowWriter)(fps=10), dpi=80)
    plt.close(animation._fig)
    return path


def time_label(dataset):
    return next((t for t in TICKS if t in dataset.dims), "step")
