"""The figure of a training run: loss, spectra on the plateau and at the end, and top singular values over time."""

import matplotlib.pyplot as plt

from saddlescope.figures import BLUE, ORANGE, SKY, WIDTH, letters
from saddlescope.papers.escape._readings import rested
from saddlescope.papers.escape._training import DATASETS

COLUMNS = 12  # of the grid: three panels above, three or four per row below
DRAWN = (
    "(A) Loss of all runs; the bold one is shown in the other panels, and dashed lines mark the instants of B and C. "
    "(B, C) Its ten largest singular values by layer. (Other panels) The same over training: the first is blue, the "
    "second orange, the others grey."
)


def spectra_figure(forms, log=False, when="rest"):
    """Fig. 1, 3 to 6: the loss of all runs; spectra of one run by layer; its top ten values over training.

    **Arguments:**

    - `forms`: the experiment's forms by name, for the name of the data.
    - `log`: whether singular values over training have a logarithmic axis, as in Fig. 5 and 6.
    - `when`: the instant of panel B: `rest`, on the plateau, or `escape`.
    """

    def draw(results):
        runs = list(results.runs())
        shown = max(runs, key=_tells)  # the first of those that tell most
        depth = shown["spectra"].shape[1]
        in_row = 3 if depth % 3 == 0 else 4
        rows = 1 + -(-depth // in_row)
        figure = plt.figure(figsize=(WIDTH, 1.75 * rows))
        grid = figure.add_gridspec(rows, COLUMNS)
        _upper_row(figure, grid, runs, shown, DATASETS[forms[shown["form"].item()].dataset], when)
        for layer in range(depth):
            row, place = divmod(layer, in_row)
            ax = figure.add_subplot(grid[1 + row, _columns(place, in_row)])
            _layer_panel(ax, shown, layer, log)
            ax.set_ylabel("singular values" if place == 0 else "")
        letters(figure.axes)
        return figure

    return draw


def _tells(run):
    return rested(run) + bool(rested(run) and run["left"])


def _columns(place, in_row):
    width = COLUMNS // in_row
    return slice(place * width, (place + 1) * width)


def _upper_row(figure, grid, runs, shown, data, when):
    times = shown["times"].values
    at = {"rest": float(shown["rest_time"]) if rested(shown) else None, "escape": float(shown["wait"])}[when]
    loss = figure.add_subplot(grid[0, _columns(0, 3)])
    for run in runs:
        bold = run is shown
        loss.plot(run["loss"].values, color=BLUE if bold else SKY, lw=1.4 if bold else 0.5, zorder=3 if bold else 2)
    for time in (at, times[-1]):
        if time is not None:
            loss.axvline(time, color=ORANGE, lw=0.8, ls="--")
    loss.set(xlabel="epoch", ylabel="loss", title=f"loss on {data}")
    names = {"rest": ("plateau", "rest_values"), "escape": ("escape", "escape_values")}
    for k, (title, name, time) in enumerate(((*names[when], at), ("end", "end_values", times[-1])), 1):
        _spectrum_panel(figure.add_subplot(grid[0, _columns(k, 3)]), shown, name, title, time)


def _spectrum_panel(ax, run, name, title, time):
    ax.set(xlabel="layer")
    if time is None:
        ax.set_title(title)
        ax.text(0.5, 0.5, "no run came to rest", ha="center", transform=ax.transAxes)
        return
    values = run[name].values
    for layer, row in enumerate(values, 1):
        for k, value in enumerate(row):
            ax.plot(layer, value, "_", color=_colour(k), ms=10)
    ax.set_title(f"{title}, epoch {time:.0f}")
    ax.set_xticks(range(1, len(values) + 1))


def _colour(k):
    return (BLUE, ORANGE)[k] if k < 2 else "0.6"


def _layer_panel(ax, run, layer, log):
    for k, curve in enumerate(run["spectra"].values[:, layer].T):
        ax.plot(run["times"].values, curve, lw=1.2 if k < 2 else 0.6, color=_colour(k), zorder=3 - min(k, 2))
    ax.set(xlabel="epoch", title=f"$W_{layer + 1}$")
    if log:
        ax.set_yscale("log")
