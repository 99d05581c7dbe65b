"""A loss curve with its stages over it, for `saddlescope stages`."""

from io import BytesIO
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

from saddlescope.figures.style import BLUE, style
from saddlescope.storage.files import write_bytes


def draw_curve(path, stages, loss, time, name, log_time=False):
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
