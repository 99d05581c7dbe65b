"""The escape directions of a data set, for `saddlescope escape`."""

from io import BytesIO

import matplotlib.pyplot as plt
import numpy as np

from saddlescope.figures.panels import BLUE, ORANGE, style

SHOWN, SPACE = 10, 0.07  # singular values of a layer, and the gap between two of them


def figure_of_directions(found, kind: str) -> bytes:
    """Speeds with their shares, and the singular values of the fastest direction by layer.

    **Arguments:**

    - `found`: What `escape_directions` returned.
    - `kind`: png, pdf or svg.
    """
    with style():
        figure, (left, right) = plt.subplots(1, 2, figsize=(8.4, 3.4))
        _speeds(left, found)
        _singular_values(right, found)
        data = BytesIO()
        figure.savefig(data, format=kind)
        plt.close(figure)
    return data.getvalue()


def _speeds(ax, found):
    bars = ax.bar(range(len(found.speeds)), found.shares, width=0.6, color=BLUE)
    ax.bar_label(bars, [f"{share:.0%}" for share in found.shares], padding=2)
    ax.set(xlabel="speed", ylabel="share of restarts", xticks=range(len(found.speeds)), ylim=(0, 1.08))
    ax.set_xlim(-0.6, max(len(found.speeds), 3) - 0.4)
    ax.set_xticklabels([f"{s:.4g}" for s in found.speeds])
    ax.set_title(f"where restarts end; {found.dead:.0%} are dead" if found.directions else found.note)


def _singular_values(ax, found):
    for layer, matrix in enumerate(found.best.weights if found.best else (), 1):
        values = np.linalg.svd(matrix, compute_uv=False)[:SHOWN]
        # Side by side: equal values would hide each other.
        at = layer + SPACE * (np.arange(len(values)) - (len(values) - 1) / 2)
        ax.plot(at, values, "o", color=ORANGE, ms=5)
    ax.set(xlabel="layer", ylabel="singular values", ylim=(-0.05, 1.1), xticks=range(1, found.depth + 1))
    ax.set_xlim(0.5, found.depth + 0.5)
    ax.set_title("fastest direction")
