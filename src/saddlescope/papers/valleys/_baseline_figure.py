"""The figure of a baseline sweep: worked runs by factor and by batch beside the paper's, and at
which depths.
"""

import matplotlib.pyplot as plt
import numpy as np

from saddlescope.figures import BLACK, BLUE, GREEN, ORANGE, PURPLE, SKY, WIDTH, letters
from saddlescope.papers.valleys._baseline import BATCHES, FACTORS, column, counts_of, ended, groups, whole

DRAWN = (
    "A, B: bars are means over seeds, lines where one more seed would lie (95 %), diamonds the paper's counts. C: the "
    "per cent of runs that worked; grey: depths above twice the number of cosines, which the sweep does not have. D: "
    "every run, sorted; below the lower dotted line a run has worked, above the upper one it has failed."
)


def draw(by_factor=None, by_batch=None):
    """A drawing function; `by_factor` and `by_batch` are the paper's counts, where it has them."""

    def drawn(results):
        figure, axes = plt.subplots(2, 2, figsize=(WIDTH, 4.8))
        known = whole(results)
        bars(axes[0, 0], results, "factor", FACTORS, by_factor if known else None)
        bars(axes[0, 1], results, "bs", BATCHES, by_batch if known else None)
        depth_map(axes[1, 0], results)
        endings(axes[1, 1], results)
        letters(axes.flat)
        return figure

    return drawn


def bars(ax, results, axis, values, published):
    parts = [(v, part) for (v,), part in groups(results, **{axis: values})]
    at = np.arange(len(parts))
    ours = [counts_of(part, "worked") for _, part in parts]
    ax.bar(at, [mean for mean, *_ in ours], color=SKY, label="ours, mean of seeds")
    for k, (_, low, high) in enumerate(ours):
        ax.plot([k, k], [low, high], color=BLUE, lw=1.5, label="95 % for one more seed" if k == 0 else None)
    if published is not None:
        ax.plot(at, [published[v] for v, _ in parts], "D", color=ORANGE, ms=4, label="paper, one seed")
    word = {"bs": "batch size", "factor": "number of cosines"}[axis]
    ax.set(xticks=at, xticklabels=[str(v) for v, _ in parts], xlabel=word, ylabel="runs that worked, per seed")
    if axis == "factor":
        ax.legend()


def depth_map(ax, results):
    """The per cent of worked runs by depth and number of cosines; grey where the sweep has no runs."""
    share = np.full((len(FACTORS), 10), np.nan)
    for (factor, depth), part in groups(results, factor=FACTORS, L=range(1, 11)):
        share[factor - 1, depth - 1] = 100 * np.mean(ended(part) == "worked")
    ax.set_facecolor("0.88")
    image = ax.imshow(share, vmin=0, vmax=100, cmap="viridis", aspect="auto", extent=(0.5, 10.5, 5.5, 0.5))
    for (f, d), value in np.ndenumerate(share):
        if np.isfinite(value):
            ax.text(d + 1, f + 1, f"{value:.0f}", ha="center", va="center", size=6.5,
                    color="white" if value < 60 else BLACK)  # fmt: skip
    ax.set(xlabel="depth L", ylabel="number of cosines", xticks=range(1, 11), yticks=FACTORS)
    ax.figure.colorbar(image, ax=ax, label="worked, % of runs")


def endings(ax, results):
    """Every run's test error, sorted, by number of cosines: plateaus are constants."""
    for factor, colour in zip(FACTORS, (BLACK, BLUE, GREEN, ORANGE, PURPLE), strict=True):
        errors = np.sort(column(results.select(factor=factor), "test_error"))
        if errors.size:
            ax.semilogy(np.linspace(0, 1, errors.size), errors, color=colour, lw=1.2, label=str(factor))
    for level in (0.01, 0.5):
        ax.axhline(level, color="0.6", ls=":", lw=0.8)
    ax.set(xlabel="share of runs, sorted", ylabel="test error")
    ax.legend(title="cosines", loc="lower right")
