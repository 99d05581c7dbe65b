"""A loss curve with its stages over it, for `saddlescope stages`."""

from io import BytesIO
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

from saddlescope.figures.panels import BLACK, BLUE, style
from saddlescope.stages import Curve, Stages
from saddlescope.storage.files import write_bytes

SIZE = (6.5, 3.6)  # inches; the width of a page of text
DECADE = 10.0  # a positive curve that spans more is drawn on a logarithmic scale
DOT = {"ms": 6, "markeredgecolor": BLACK, "markeredgewidth": 0.8, "zorder": 3}
FEW = 30  # points that are marked one by one


def draw_curve(
    path: str | Path,
    stages: Stages,
    loss: np.ndarray,
    time: np.ndarray | None,
    name: str,
    log_time: bool = False,
    time_name: str = "time",
    turned: str = "",
) -> None:
    """Write a figure of a loss curve with its stages over it; the suffix is the file's kind.

    **Arguments:**

    - `path`: Where the figure is written, such as stages.pdf.
    - `stages`: The stages of the curve.
    - `loss`: The curve.
    - `time`: The time of each point; None means 0, 1, 2, …
    - `name`: What the curve is called.
    - `log_time`: Whether the axis of time is logarithmic.
    - `time_name`: What the time is called.
    - `turned`: What the stages are of where the curve rises, such as "1 - accuracy".
    """
    time = np.arange(len(loss)) if time is None else time
    with style():
        figure, ax = plt.subplots(figsize=SIZE)
        ax.plot(time, loss, _line(loss), color=BLUE, lw=1, ms=4)
        stages.draw(ax)
        ax.set(xlabel=_plain(time_name), ylabel=_plain(name))
        _scale(ax, [loss], log_time, bool(turned))
        _legend(figure, ax, f"stages of {_plain(turned)}" if turned else None)
        _save(figure, path)


def draw_curves(
    path: str | Path,
    curves: list[tuple[str, Curve, Stages]],
    log_time: bool = False,
    up: bool = False,
) -> None:
    """Write a figure of several curves; a dot marks each drop.

    **Arguments:**

    - `path`: Where the figure is written, such as both.pdf.
    - `curves`: A label, the curve and its stages, for each.
    - `log_time`: Whether the axis of time is logarithmic.
    - `up`: Whether the curves rise, as accuracies; their axis is then linear.
    """
    with style():
        figure, ax = plt.subplots(figsize=SIZE)
        for label, curve, stages in curves:
            line = {"lw": 1, "ms": 4, "label": _plain(label)}
            drawn = ax.plot(curve.time, curve.loss, _line(curve.loss), **line)
            at = [d.at for d in stages.drops]
            dots = {**DOT, "color": drawn[0].get_color()}
            ax.plot(at, np.interp(at, curve.time, curve.loss), "o", **dots)
        ax.plot([], [], "o", **DOT, color="white", label="drop")
        times, names = ({getattr(c, key) for _, c, _ in curves} for key in ("time_name", "name"))
        xlabel, ylabel = (" or ".join(sorted(given)) for given in (times, names))
        ax.set(xlabel=_plain(xlabel), ylabel=_plain(ylabel))
        _scale(ax, [curve.loss for _, curve, _ in curves], log_time, up)
        _legend(figure, ax)
        _save(figure, path)


def _line(loss):
    return ".-" if len(loss) < FEW else "-"


def _scale(ax, losses, log_time, up):
    """Logarithmic where a positive loss spans more than a decade, or log time was asked for."""
    values = np.concatenate([loss[np.isfinite(loss)] for loss in map(np.asarray, losses)])
    wide = values.size and values.min() > 0 and values.max() > DECADE * values.min()
    if wide and not up:
        ax.set_yscale("log")
    ax.set_xscale("log" if log_time else "linear")
    ax.margins(x=0.01)


def _legend(figure, ax, title=None):
    """Above the axes, where no curve is. A curve without stages has none."""
    handles, labels = ax.get_legend_handles_labels()
    if handles:
        columns = 6 if max(map(len, labels)) < 16 else 2 if max(map(len, labels)) < 50 else 1
        place = {"loc": "outside upper center", "ncols": columns}
        figure.legend(handles, labels, **place, title=title, fontsize=7, title_fontsize=7)


def _plain(name):
    """A name as it is written: to matplotlib, dollars are mathematics."""
    return name.replace("$", r"\$")


def _save(figure, path):
    data = BytesIO()
    figure.savefig(data, format=Path(path).suffix[1:])
    plt.close(figure)
    write_bytes(path, data.getvalue())
