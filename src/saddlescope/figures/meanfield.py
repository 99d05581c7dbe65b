"""The flow of the mean-field limit, or of a finite net, and how far nets are from the limit."""

from io import BytesIO
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import xarray as xr
from matplotlib.figure import Figure

from saddlescope.figures.panels import BLACK, BLUE, ORANGE, SKY, WIDTH, letters, style
from saddlescope.storage.files import write_bytes

MOST_CURVES = 6  # points or channels that are drawn one by one


def draw_flow(
    data: xr.Dataset,
    title: str,
    between: xr.Dataset | None = None,
    path: str | Path | None = None,
    nets: tuple[xr.Dataset, ...] = (),
    distances: xr.Dataset | None = None,
) -> Figure | None:
    """Draw loss, outputs and channels; with nets, their losses and their distance to the limit.

    Returns the figure, or None where it was written into a file.

    **Arguments:**

    - `data`: the dataset of a flow.
    - `title`: what it is the flow of.
    - `between`: channels and outputs on a grid of one input, from `Flow.channels_at`; None for more inputs.
    - `path`: a .png, .pdf or .svg file to write.
    - `nets`: datasets of finite nets' flows.
    - `distances`: from `Limit.distance`.
    """
    panels = [lambda ax: _loss(ax, data, nets), lambda ax: _outputs(ax, data, between)]
    if data.sizes["block"]:
        panels.append(lambda ax: _channels(ax, data, between))
    if distances is not None:
        panels.append(lambda ax: _distances(ax, distances))
    with style():
        columns = 2 if len(panels) == 4 else len(panels)
        rows = len(panels) // columns
        figure, axes = plt.subplots(rows, columns, figsize=(WIDTH, 0.3 + 2.3 * rows), squeeze=False)
        for ax, panel in zip(axes.flat, panels, strict=True):
            ax.set_title(panel(ax))
        letters(axes.flat)
        figure.suptitle(title)
        return figure if path is None else _write(figure, Path(path))


def _write(figure, path):
    drawn = BytesIO()
    figure.savefig(drawn, format=path.suffix[1:].lower())
    plt.close(figure)
    write_bytes(path, drawn.getvalue())


def _loss(ax, data, nets):
    for k, net in enumerate(nets):
        ax.plot(
            net.time,
            net.loss,
            color=SKY,
            lw=0.7,
            label=f"{len(nets)} nets, n = {net.attrs['width']}" if not k else None,
        )
    ax.plot(data.time, data.loss, color=BLUE, label="limit" if nets else None)
    if (data.loss > 0).all():
        ax.set_yscale("log")
    ax.set(xlabel="time", ylabel="loss")
    if nets:
        ax.legend()
    return "loss"


def _outputs(ax, data, between):
    """Over the input at the start, half way and the end; with several inputs, outputs against targets at the end."""
    y, output = data.y.values[:, 0], data.output.values[:, :, 0]
    if between is None:
        ends = [min(y.min(), output[-1].min()), max(y.max(), output[-1].max())]
        ax.plot(ends, ends, color="0.7", lw=0.8, label="fitted")
        ax.plot(y, output[-1], ".", color=BLUE, label="end")
        ax.set(xlabel="target", ylabel="output")
    else:
        ax.plot(data.x.values[:, 0], y, "o", color=BLACK, ms=4 if len(y) < 40 else 1.5, label="targets")
        _at_three_times(ax, between.x.values[:, 0], between.output.values[:, :, 0], data.time.values)
        ax.set(xlabel="input x", ylabel="output")
    ax.legend()
    return "first output" if data.sizes["output"] > 1 else "output"


def _at_three_times(ax, x, curves, times):
    half = len(times) // 2
    for at, colour, dashes in ((0, SKY, ":"), (half, BLUE, "--"), (len(times) - 1, BLUE, "-")):
        ax.plot(x, curves[at], color=colour, ls=dashes, label=f"t = {times[at]:.3g}")


def _channels(ax, data, between):
    """Of the first block: over the input at the end; with several inputs, over time at the first point."""
    channels = (data if between is None else between).channels.values[:, 0]
    shown = min(channels.shape[-1], MOST_CURVES)
    for k in range(shown):
        across = (data.time, channels[:, 0, k]) if between is None else (between.x[:, 0], channels[-1, :, k])
        # Dashes of another phase: channels of one law lie on each other.
        ax.plot(*across, label=f"channel {k + 1}", ls=(k * 4, (4, 4 * (shown - 1))) if shown > 1 else "-")
    ax.axhline(0, color="0.8", lw=0.6, zorder=0)
    ax.set(xlabel="time" if between is None else "input x", ylabel="f of block 1")
    ax.legend()
    return "channels at the first point" if between is None else "channels at the end"


def _distances(ax, distances):
    widths = distances.width.values
    for name, colour, words in (("sup", ORANGE, "largest"), ("rms", BLUE, "root mean square")):
        values = distances[name].values
        slope = distances.attrs[f"slope_{name}"]
        ax.plot(np.repeat(widths, values.shape[1]), values.ravel(), ".", color=colour, ms=3, alpha=0.6)
        label = words if np.isnan(slope) else f"{words}, slope {slope:.2f}"
        ax.plot(widths, np.sqrt((values**2).mean(axis=1)), "-", color=colour, label=label)
    ax.set(xscale="log", yscale="log", xlabel="width n", ylabel="distance of weights")
    ax.set_xticks(widths, [f"{n:,}" for n in widths], minor=False)
    ax.set_xticks([], minor=True)
    ax.legend()
    return f"nets to limit, {distances.sizes['seed']} per width"
