"""The escape directions of a data set, for `saddlescope escape`."""

from io import BytesIO

import matplotlib.pyplot as plt
import numpy as np

from saddlescope.figures.panels import BLUE, ORANGE, style

SHOWN = 10  # singular values of a layer


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
    ax.bar(range(len(found.speeds)), found.shares, color=BLUE)
    ax.set(xlabel="speed", ylabel="share of restarts", xticks=range(len(found.speeds)), ylim=(0, 1))
    ax.set_xticklabels([f"{s:.4g}" for s in found.speeds], rotation=30)
    ax.set_title(f"{found.dead:.0%} dead" if found.directions else "no first-order escape")


def _singular_values(ax, found):
    for layer, matrix in enumerate(found.best.weights if found.best else (), 1):
        values = np.linalg.svd(matrix, compute_uv=False)[:SHOWN]
        ax.plot([layer] * len(values), values, "o", color=ORANGE, mfc="none", ms=5)
    ax.set(xlabel="layer", ylabel="singular values", ylim=(-0.05, 1.1), xticks=range(1, found.depth + 1))
    ax.set_title("fastest direction")
