"""A loss curve with its stages over it, for `saddlescope stages`."""

from io import BytesIO
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

from saddlescope.figures.panels import BLUE, style
from saddlescope.stages import Stages
from saddlescope.storage.files import write_bytes


def draw_curve(
    path: str | Path,
    stages: Stages,
    loss: np.ndarray,
    time: np.ndarray | None,
    name: str,
    log_time: bool = False,
) -> None:
    """Write a figure of a loss curve with its stages over it; the suffix is the file's kind.

    **Arguments:**

    - `path`: Where the figure is written, such as stages.pdf.
    - `stages`: The stages of the curve.
    - `loss`: The curve.
    - `time`: The time of each point; None means 0, 1, 2, …
    - `name`: What the curve is called.
    - `log_time`: Whether the axis of time is logarithmic.
    """
    time = np.arange(len(loss)) if time is None else time
    with style():
        figure, ax = plt.subplots(figsize=(7, 3.6))
        ax.plot(time, loss, color=BLUE, lw=1)
        stages.draw(ax)
        ax.set(xlabel="time", ylabel=name, xscale="log" if log_time else "linear")
        ax.legend(fontsize=7, loc="upper right")
        data = BytesIO()
        figure.savefig(data, format=Path(path).suffix[1:])
        plt.close(figure)
    write_bytes(path, data.getvalue())
