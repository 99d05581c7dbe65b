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
from matplotlib.transforms import ScaledTranslation

from saddlescope.figures.powers import label_plainly
from saddlescope.results import TICKS, Results, Run
from saddlescope.storage.files import write_bytes

# Okabe and Ito's colours, told apart by colour-blind readers.
BLACK, ORANGE, SKY, GREEN = "#000000", "#E69F00", "#56B4E9", "#009E73"
BLUE, RED, PURPLE = "#0072B2", "#D55E00", "#CC79A7"
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


def loss_panel(ax: Axes, results: Results, title: str = "", levels: bool = True) -> None:
    """Draw every run's loss, the first bold, with its theory dashed over it.

    **Arguments:**

    - `ax`: Where the panel is drawn.
    - `results`: The runs.
    - `title`: The title of the panel.
    - `levels`: Whether predicted levels are drawn, dashed.
    """
    for i, run in enumerate(results.runs()):
        loss = run["loss"].values
        ax.plot(loss, color=BLUE if i == 0 else SKY, lw=1.8 if i == 0 else 0.5, zorder=3 if i == 0 else 2,
                label={0: "measured, first seed", 1: "other seeds"}.get(i))  # fmt: skip
        if i == 0:
            first_theory(ax, run.predicted, levels)
    ax.set(xlabel=time_label(results.measured), ylabel="loss", title=title)
    ax.legend(loc="upper right", bbox_to_anchor=(1, 0.93), fontsize=7)


def first_theory(ax: Axes, predicted: xr.Dataset, levels: bool) -> None:
    """Draw a predicted loss curve and, where `levels` says so, predicted plateau levels."""
    if "loss" in predicted:
        ax.plot(predicted["loss"].values, color=RED, ls="--", lw=1.2, zorder=4, label="theory, first seed")
    if levels and "plateau_level" in predicted:
        for k, level in enumerate(predicted["plateau_level"].values):
            ax.axhline(level, color=BLACK, ls="--", lw=0.8, zorder=4, label="predicted level" if k == 0 else None)


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
            ax.plot(step, 0.5, "o", mfc="none", mec=colour, ms=8)
            ax.axvline(step, color=colour, ls="--", lw=0.8)
    ax.set(xlabel=time_label(results.measured), ylabel="share learned", title=title, ylim=(-0.05, 1.1))
    ax.legend(loc="lower right", fontsize=7, title="○ predicted ½" if has_prediction else None, title_fontsize=7)


def weights_panels(axes: Sequence[Axes], run: Run) -> None:
    """Draw first-layer weights on the middle plateau and at the end, one dot per unit."""
    times, u = run.times, run["param_u"].values
    plateaus = run.stages.plateaus
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


def loss_and_weights(figure: Figure, cell: SubplotSpec, results: Results, title: str) -> None:
    """Draw a panel as in the simplicity paper: the loss, and below it the weights."""
    inner = cell.subgridspec(2, 2, height_ratios=(1.2, 1))
    top = figure.add_subplot(inner[0, :])
    top.locator_params(axis="x", nbins=5)
    loss_panel(top, results, title)
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
