"""A loss curve with its stages over it, for `saddlescope stages`."""

from io import BytesIO
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

from saddlescope.figures.panels import BLUE, style
from saddlescope.stages import Curve, Stages
from saddlescope.storage.files import write_bytes


def draw_curve(
    path: str | Path,
    stages: Stages,
    loss: np.ndarray,
    time: np.ndarray | None,
    name: str,
    log_time: bool = False,
    time_name: str = "time",
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
    """
    time = np.arange(len(loss)) if time is None else time
    with style():
        figure, ax = plt.subplots(figsize=(7, 3.6))
        ax.plot(time, loss, color=BLUE, lw=1)
        stages.draw(ax)
        ax.set(xlabel=time_name, ylabel=name, xscale="log" if log_time else "linear")
        ax.legend(fontsize=7, loc="upper right")
        _save(figure, path)


def draw_curves(
    path: str | Path,
    curves: list[tuple[str, Curve, Stages]],
    log_time: bool = False,
) -> None:
    """Write a figure of several curves; a dot marks each drop.

    **Arguments:**

    - `path`: Where the figure is written, such as both.pdf.
    - `curves`: A label, the curve and its stages, for each.
    - `log_time`: Whether the axis of time is logarithmic.
    """
    with style():
        figure, ax = plt.subplots(figsize=(7, 3.6))
        for label, curve, stages in curves:
            (line,) = ax.plot(curve.time, curve.loss, lw=1, label=label)
            at = [d.at for d in stages.drops]
            ax.plot(at, np.interp(at, curve.time, curve.loss), "o", ms=4, color=line.get_color())
        times, names = ({getattr(c, key) for _, c, _ in curves} for key in ("time_name", "name"))
        xlabel, ylabel = (" or ".join(sorted(given)) for given in (times, names))
        ax.set(xlabel=xlabel, ylabel=ylabel, xscale="log" if log_time else "linear")
        ax.legend(fontsize=7, loc="upper right")
        _save(figure, path)


def _save(figure, path):
    data = BytesIO()
    figure.savefig(data, format=Path(path).suffix[1:])
    plt.close(figure)
    write_bytes(path, data.getvalue())
