"""Movies: loss and weights over the course of training."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import matplotlib.pyplot as plt
import numpy as np

from saddlescope.figures.panels import BLACK, BLUE, RED, time_label
from saddlescope.results import Results

if TYPE_CHECKING:
    from matplotlib.animation import FuncAnimation


def weights_movie(
    results: Results,
    axis: str,
    names: Mapping[Any, str],
    frames: int = 60,
) -> "FuncAnimation":
    """Animate the loss and the first-layer weights over training: one panel per value, first seed.

    **Arguments:**

    - `results`: Runs with saved weights.
    - `axis`: The axis whose values have a panel each.
    - `names`: The title of each value's panel, in order.
    - `frames`: The number of frames.
    """
    from matplotlib.animation import FuncAnimation

    found = [(title, results.select(**{axis: value})) for value, title in names.items()]
    shown = [(title, next(some.runs())) for title, some in found if some.measured.sizes["run"]]
    figure, axes = plt.subplots(2, len(shown), figsize=(2.4 * len(shown), 4.6), squeeze=False)
    artists = [_movie_panel(axes[0, k], axes[1, k], name, run) for k, (name, run) in enumerate(shown)]

    def frame(i):
        for at in artists:
            at(i / (frames - 1))
        return [line for ax in axes.flat for line in ax.lines]

    return FuncAnimation(figure, frame, frames=frames, interval=100, blit=False)


def _movie_panel(top, below, name, run):
    """Draw the first frame of a panel; gives the function that moves it to a share of the film.

    Half of the film goes by time, half by the fall of the loss, so that drops are seen.
    """
    loss, times, u = run["loss"].values, run.times, run["param_u"].values[:, :, :2]
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


def save_movie(animation: "FuncAnimation", folder: str | Path) -> Path:
    """Write movie.mp4 where an encoder is installed, else movie.gif; gives its path."""
    from matplotlib import animation as writers

    mp4 = writers.FFMpegWriter.isAvailable()
    path = Path(folder) / ("movie.mp4" if mp4 else "movie.gif")
    animation.save(path, writer=(writers.FFMpegWriter if mp4 else writers.PillowWriter)(fps=10), dpi=80)
    plt.close(animation._fig)
    return path
