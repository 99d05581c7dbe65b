"""The style of all figures, and panels that several share. They compute nothing that a claim depends on."""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from typing import Any

import matplotlib
import matplotlib.pyplot as plt
import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.gridspec import SubplotSpec
from matplotlib.ticker import LogLocator, NullLocator
from matplotlib.transforms import ScaledTranslation

from saddlescope.figures.powers import label_plainly
from saddlescope.results import TICKS, Results, Run
from saddlescope.storage.files import write_bytes

# Okabe and Ito's colours, told apart by colour-blind readers.
BLACK, ORANGE, SKY, GREEN = "#000000", "#E69F00", "#56B4E9", "#009E73"
BLUE, RED, PURPLE = "#0072B2", "#D55E00", "#CC79A7"
SWING = 0.02  # of the loss: a range within which a curve counts as smooth
WIDTH = 6.5  # inches of the text of a page: figures are drawn at the size at which they are read
STYLE: dict[Any, Any] = {
    "font.size": 8,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.titlesize": 8,
    "xtick.labelsize": 7,
    "ytick.labelsize": 7,
    "legend.fontsize": 7,
    "legend.title_fontsize": 7,
    "lines.linewidth": 1.2,
    "figure.figsize": (WIDTH, 3.0),
    "legend.framealpha": 0.9,
    "legend.edgecolor": "none",
    "figure.constrained_layout.use": True,
    "axes.prop_cycle": matplotlib.cycler(color=[BLUE, ORANGE, GREEN, RED, SKY, PURPLE]),
    "pdf.fonttype": 42,
    "savefig.dpi": 220,
}


@contextmanager
def style() -> Iterator[None]:
    """Draw in the style of the laboratory: `with style(): …`; the user's own style comes back."""
    with plt.rc_context(STYLE):
        yield


def save_figure(figure: Figure, folder: str | Path, pdf: bool = True) -> None:
    """Write figure.png and, with `pdf`, figure.pdf into a folder, each whole or not at all; close the figure."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    # Not by `savefig`, which lays out and draws everything twice for each of the two.
    label_plainly(figure)
    figure.set_dpi(STYLE["savefig.dpi"])
    png = FigureCanvasAgg(figure)
    if figure.axes and (layout := figure.get_layout_engine()):
        layout.execute(figure)
        figure.set_layout_engine("none")
    write_bytes(Path(folder) / "figure.png", _printed(png.print_png))
    if pdf:
        from matplotlib.backends.backend_pdf import FigureCanvasPdf  # with its fonts as costly as the rest of a figure

        write_bytes(Path(folder) / "figure.pdf", _printed(FigureCanvasPdf(figure).print_pdf, {"CreationDate": None}))
    plt.close(figure)


def _printed(print_to, metadata=None) -> bytes:
    data = BytesIO()
    print_to(data, metadata=metadata)
    return data.getvalue()


# ---- Panels ----


def thinned(curve: np.ndarray, most: int = 2000) -> tuple[np.ndarray, np.ndarray]:
    """Steps and values of about `most` points of a long curve.

    They are dense at its start, as a logarithmic axis needs.
    """
    even, early = np.linspace(0, len(curve) - 1, most), np.geomspace(1, len(curve), most) - 1
    at = np.unique(np.concatenate([even, early]).round().astype(int))
    return at, curve[at]


def loss_panel(ax: Axes, results: Results, title: str = "", levels: bool = True, legend: bool = True) -> None:
    """Draw every run's loss until it is learned, the first bold, with its theory dashed over it.

    Where the first run's loss swings from step to step, its range is shaded and its median is drawn.

    **Arguments:**

    - `ax`: Where the panel is drawn.
    - `results`: The runs.
    - `title`: The title of the panel.
    - `levels`: Whether predicted levels are drawn, dashed.
    - `legend`: Whether the panel has a legend of its own.
    """
    last = 1.0
    for i, run in enumerate(results.runs()):
        loss = run["loss"].values
        last = max(last, _learned(loss))
        colour, width, place = (BLUE, 1.4, 3) if i == 0 else (SKY, 0.4, 2)
        label = {0: "measured, first seed", 1: "other seeds"}.get(i)
        at, low, middle, high = envelope(loss)
        if i == 0 and np.median(high - low) > SWING * np.median(middle):
            ax.fill_between(at, low, high, color=colour, alpha=0.25, lw=0, zorder=1)
        ax.plot(at, middle, color=colour, lw=width, zorder=place, label=label)
        if i == 0:
            first_theory(ax, run.predicted, levels)
    ax.set(xlabel=time_label(results.measured), ylabel="loss", title=title, xlim=(0, 1.25 * last))
    if legend:
        ax.legend(loc="upper right", bbox_to_anchor=(1, 0.93))


def _learned(loss: np.ndarray) -> float:
    """The step from which on a finite curve lies within a hundredth of its first value above its last."""
    above = np.flatnonzero(~(loss - loss[-1] < 0.01 * loss[0]))
    return float(above[-1] + 1) if above.size and np.isfinite(loss[-1]) else float(len(loss) - 1)


def envelope(curve: np.ndarray, most: int = 1500) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Steps, and the least, median and largest value of a curve between them; all alike where it is short."""
    size = max(1, len(curve) // most)
    rows = curve[: len(curve) // size * size].reshape(-1, size)
    return size * (np.arange(len(rows)) + 0.5) - 0.5, rows.min(1), np.median(rows, axis=1), rows.max(1)


def first_theory(ax: Axes, predicted: xr.Dataset, levels: bool) -> None:
    """Draw a predicted loss curve and, where `levels` says so, predicted plateau levels."""
    if "loss" in predicted:
        ax.plot(predicted["loss"].values, color=RED, ls="--", lw=1.0, zorder=4, label="theory, first seed")
    if levels and "plateau_level" in predicted:
        for k, level in enumerate(predicted["plateau_level"].values):
            label = "predicted levels, first seed" if k == 0 else None
            ax.axhline(level, color=BLACK, ls="--", lw=0.7, zorder=4, label=label)


def shared_legend(figure: Figure, place: Axes | None = None, **more: Any) -> None:
    """One legend for all panels, each label once: in a cell of its own, or below the figure."""
    found: dict[str, Any] = {}
    for ax in figure.axes:
        found = dict(zip(*ax.get_legend_handles_labels()[::-1], strict=True)) | found
    if place is not None:
        place.axis("off")
        made = place.legend(found.values(), found.keys(), loc="center", **more)
        made.set_in_layout(False)  # it would widen its column
    elif found:
        figure.legend(found.values(), found.keys(), loc="outside lower center", **{"ncols": 4} | more)


def plain_ticks(*axes: Any) -> None:
    """Label logarithmic axes (`ax.xaxis`, `ax.yaxis`) of a decade or two by 1, 2, 5, 10, 20, … in plain numbers."""
    for axis in axes:
        axis.set_major_locator(LogLocator(10, (1, 2, 5)))
        axis.set_major_formatter(lambda value, _: f"{value:g}")
        axis.set_minor_locator(NullLocator())


def learned_panel(ax: Axes, results: Results, name: str, title: str = "") -> None:
    """Draw how much of each mode or sample the first run has learned.

    Predicted half-strength steps are marked.

    **Arguments:**

    - `ax`: Where the panel is drawn.
    - `results`: The runs.
    - `name`: The observable: `learned_mode` or `learned_sample`.
    - `title`: The title of the panel.
    """
    run = next(iter(results.runs()))
    predicted = run.predicted
    has_prediction = "half_strength_step" in predicted
    for k, (curve, colour) in enumerate(zip(run[name].values.T, (BLUE, ORANGE, GREEN, PURPLE), strict=False)):
        ax.plot(run.times, curve, color=colour, label=f"{name.removeprefix('learned_')} {k + 1}")
        if has_prediction:
            step = predicted["half_strength_step"].values[k]
            ax.plot(step, 0.5, "o", mfc="none", mec=colour, ms=6)
            ax.axvline(step, color=colour, ls="--", lw=0.7)
    ax.set(xlabel=time_label(results.measured), ylabel="share learned", title=title, ylim=(-0.05, 1.1))
    ends = run.times[np.argmax(np.all(run[name].values > 0.99, axis=1))]
    ax.set_xlim(0, 1.25 * ends if ends > 0 else None)
    ax.legend(loc="lower right", title="○ predicted half" if has_prediction else None)


def weights_panels(axes: Sequence[Axes], run: Run) -> None:
    """Draw first-layer weights on the middle plateau and at the end, one dot per unit."""
    times, u = run.times, run["param_u"].values
    plateaus = run.stages.plateaus
    middle, word = (plateaus[1].at, "plateau") if len(plateaus) > 2 else (times[len(times) // 2], "half way")
    reach = 1.15 * np.abs(u[..., :2]).max()
    for ax, when, title in zip(axes, (middle, times[-1]), (word, "end"), strict=True):
        dots = u[np.argmin(np.abs(times - when))]
        ax.axhline(0, color="0.8", lw=0.6, zorder=0)
        ax.axvline(0, color="0.8", lw=0.6, zorder=0)
        ax.plot(dots[:, 0], dots[:, 1], ".", color=BLACK, ms=3)
        ax.set(xlim=(-reach, reach), ylim=(-reach, reach), aspect="equal", xlabel="$u_1$")
        ax.set_title(title, fontsize=7)
        ends = float(f"{0.7 * reach:.1g}")
        ax.set(xticks=(-ends, ends), yticks=(-ends, ends))
        ax.tick_params(labelsize=6)
    axes[0].set_ylabel("$u_2$", labelpad=-2)
    axes[1].set_yticklabels([])


def loss_and_weights(figure: Figure, cell: SubplotSpec, results: Results, title: str) -> None:
    """Draw a panel as in the simplicity paper: the loss, and below it the weights.

    A title such as "B  linear" has the panel's letter before two spaces.
    """
    inner = cell.subgridspec(2, 2, height_ratios=(1.2, 1))
    top = figure.add_subplot(inner[0, :])
    letter, _, words = title.rpartition("  ")
    loss_panel(top, results, words, legend=False)
    top.locator_params(axis="x", nbins=3)
    if letter:
        letters([top], letter[0])
    weights_panels([figure.add_subplot(inner[1, i]) for i in range(2)], next(iter(results.runs())))


def panels(
    number: int,
    columns: int,
    width: float = WIDTH,
    height: float = 2.4,
) -> tuple[Figure, list[SubplotSpec]]:
    """Make a figure with cells for so many panels, and no empty rows.

    **Arguments:**

    - `number`: The number of panels.
    - `columns`: The number of columns.
    - `width`: The width of the figure, in inches.
    - `height`: The height of a row, in inches.
    """
    rows = -(-number // columns)
    figure = plt.figure(figsize=(width, height * rows))
    cells = figure.add_gridspec(rows, columns)
    return figure, [cells[divmod(k, columns)] for k in range(number)]


def letters(axes: Iterable[Axes], names: str = "ABCDEFGHIJKLMNOPQRSTUVWXYZ") -> None:
    """Write a bold letter at the upper left corner of each panel, outside of it."""
    for ax, name in zip(axes, names, strict=False):
        place = ScaledTranslation(-14 / 72, 3 / 72, ax.figure.dpi_scale_trans)
        ax.text(
            0, 1, name, transform=ax.transAxes + place, weight="bold", size=9, va="bottom", ha="right", gid="letter"
        )


def time_label(dataset: xr.Dataset | Run) -> str:
    """The clock of a dataset or run: "step" or "epoch"."""
    return next((t for t in TICKS if t in dataset.dims), "step")
