"""The figure of a training run: loss, spectra on the plateau and at the end, and top singular values over time."""

import matplotlib.pyplot as plt
import numpy as np

from saddlescope.figures import BLUE, ORANGE, SKY
from saddlescope.papers.escape._plateaus import first_rest, spectra
from saddlescope.papers.escape._training import DATASETS

COLUMNS = 12  # of the grid: three panels above, three or four per row below


def spectra_figure(forms, log=False):
    """Fig. 1, 3 to 6: the loss of all runs; spectra of the first run by layer; its top ten values over training.

    **Arguments:**

    - `forms`: the experiment's forms by name, for the name of the data.
    - `log`: whether singular values over training have a logarithmic axis, as in Fig. 5 and 6.
    """

    def draw(results):
        runs = list(results.runs())
        depth = spectra(runs[0]).shape[1]
        in_row = 3 if depth % 3 == 0 else 4
        rows = 1 + -(-depth // in_row)
        figure = plt.figure(figsize=(9, 2.6 * rows))
        grid = figure.add_gridspec(rows, COLUMNS)
        _upper_row(figure, grid, runs, DATASETS[forms[runs[0]["form"].item()].dataset])
        for layer in range(depth):
            row, place = divmod(layer, in_row)
            ax = figure.add_subplot(grid[1 + row, _columns(place, in_row)])
            _layer_panel(ax, runs[0], layer, log)
            ax.set_ylabel("singular values" if place == 0 else "")
        return figure

    return draw


def _columns(place, in_row):
    width = COLUMNS // in_row
    return slice(place * width, (place + 1) * width)


def _upper_row(figure, grid, runs, data):
    rest = first_rest(runs[0])
    _loss_panel(figure.add_subplot(grid[0, _columns(0, 3)]), runs, rest, data)
    instants = {"plateau": None if rest is None else rest.at, "end": len(runs[0].times) - 1}
    for k, (title, at) in enumerate(instants.items(), 1):
        _spectrum_panel(figure.add_subplot(grid[0, _columns(k, 3)]), runs[0], at, title)


def _loss_panel(ax, runs, rest, data):
    for i, run in enumerate(runs):
        ax.plot(run["loss"].values, color=BLUE if i == 0 else SKY, lw=1.6 if i == 0 else 0.6)
    if rest is not None:
        for at in (runs[0].times[rest.at], runs[0].times[-1]):
            ax.axvline(at, color=ORANGE, lw=0.8, ls="--")
    ax.set(xlabel="epoch", ylabel="loss", title=f"loss on {data}")


def _spectrum_panel(ax, run, at, title):
    if at is None:
        ax.set(xlabel="layer", title=title)
        ax.text(0.5, 0.5, "not reached", ha="center", transform=ax.transAxes)
        return
    values = spectra(run)[at]
    for layer, row in enumerate(values, 1):
        ax.plot(np.full(len(row), layer), row, "_", color=BLUE, ms=12)
    ax.set(xlabel="layer", ylabel="top singular values", title=f"{title}, epoch {run.times[at]:.0f}")
    ax.set_xticks(range(1, len(values) + 1))


def _layer_panel(ax, run, layer, log):
    ax.plot(run.times, spectra(run)[:, layer], lw=0.9)
    ax.set(xlabel="epoch", title=f"$W_{layer + 1}$")
    if log:
        ax.set_yscale("log")
