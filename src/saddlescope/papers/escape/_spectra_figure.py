"""The figure of a training run: loss, spectra on the plateau and at the end, and top singular values over time."""

import matplotlib.pyplot as plt
import numpy as np

from saddlescope.figures import BLUE, ORANGE, SKY
from saddlescope.papers.escape._plateaus import first_rest, spectra


def spectra_figure(results, log=False):
    """Fig. 1, 3 to 6: the loss of all runs; spectra of the first run by layer; its top ten values over training."""
    runs = list(results.runs())
    depth = spectra(runs[0]).shape[1]
    columns = max(3, -(-depth // 2))
    figure = plt.figure(figsize=(3.2 * columns, 8))
    grid = figure.add_gridspec(3, columns)
    rest = first_rest(runs[0])
    _loss_panel(figure.add_subplot(grid[0, : columns - 2]), runs, rest)
    instants = {"on the plateau": None if rest is None else rest.at, "end of training": -1}
    for k, (title, at) in enumerate(instants.items()):
        _spectrum_panel(figure.add_subplot(grid[0, columns - 2 + k]), runs[0], at, title)
    for layer in range(depth):
        ax = figure.add_subplot(grid[1 + layer // columns, layer % columns])
        _layer_panel(ax, runs[0], layer, log)
    return figure


def _loss_panel(ax, runs, rest):
    for i, run in enumerate(runs):
        ax.plot(run["loss"].values, color=BLUE if i == 0 else SKY, lw=1.6 if i == 0 else 0.6)
    if rest is not None:
        for at in (runs[0].times[rest.at], runs[0].times[-1]):
            ax.axvline(at, color=ORANGE, lw=0.8, ls="--")
    ax.set(xlabel="epoch", ylabel="loss", title="training loss")


def _spectrum_panel(ax, run, at, title):
    ax.set(xlabel="layer", ylabel="top singular values", title=title)
    if at is None:
        ax.text(0.5, 0.5, "not reached", ha="center", transform=ax.transAxes)
        return
    values = spectra(run)[at]
    for layer, row in enumerate(values, 1):
        ax.plot(np.full(len(row), layer), row, "_", color=BLUE, ms=12)


def _layer_panel(ax, run, layer, log):
    ax.plot(run.times, spectra(run)[:, layer], lw=0.9)
    ax.set(xlabel="epoch", ylabel="singular values", title=f"$W_{layer + 1}$")
    if log:
        ax.set_yscale("log")


def log_spectra_figure(results):
    """The same with singular values over training on a logarithmic axis, as in Fig. 5 and 6."""
    return spectra_figure(results, log=True)
