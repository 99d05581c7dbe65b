"""The figure of a baseline sweep: worked runs by factor and by batch beside the paper's, and at
which depths.
"""

import matplotlib.pyplot as plt
import numpy as np

from saddlescope.figures import BLACK, BLUE, GREEN, ORANGE, SKY
from saddlescope.papers.valleys._baseline import BATCHES, FACTORS, column, counts_of, groups, whole


def draw(rank, by_factor=None, by_batch=None):
    """A drawing function; `by_factor` and `by_batch` are the paper's counts, where it has them."""

    def drawn(results):
        figure, axes = plt.subplots(2, 2, figsize=(9, 6.4))
        known = whole(results)
        bars(axes[0, 0], results, "factor", FACTORS, by_factor if known else None)
        bars(axes[0, 1], results, "bs", BATCHES, by_batch if known else None)
        depth_map(axes[1, 0], results)
        endings(axes[1, 1], results)
        axes[0, 0].set_title(f"rank {rank}: worked runs per seed")
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
        ax.plot(at, [published[v] for v, _ in parts], "D", color=ORANGE, ms=6, label="paper, one seed")
    ax.set(xticks=at, xticklabels=[str(v) for v, _ in parts], xlabel={"bs": "batch size"}.get(axis, axis))
    ax.set_ylabel("worked (test error < 0.01)")
    ax.legend(fontsize=7)


def depth_map(ax, results):
    """The share of worked runs by depth and factor; empty where the sweep has no runs."""
    share = np.full((len(FACTORS), 10), np.nan)
    for (factor, depth), part in groups(results, factor=FACTORS, L=range(1, 11)):
        share[factor - 1, depth - 1] = np.mean(column(part, "outcome") == "worked")
    image = ax.imshow(share, vmin=0, vmax=1, cmap="viridis", aspect="auto", extent=(0.5, 10.5, 5.5, 0.5))
    for (f, d), value in np.ndenumerate(share):
        if np.isfinite(value):
            ax.text(d + 1, f + 1, f"{100 * value:.0f}", ha="center", va="center", fontsize=7,
                    color="white" if value < 0.6 else BLACK)  # fmt: skip
    ax.set(xlabel="depth L", ylabel="factor", title="worked, % of runs", xticks=range(1, 11), yticks=FACTORS)
    ax.figure.colorbar(image, ax=ax, label="share worked")


def endings(ax, results):
    """Every run's test error, sorted, by factor: plateaus are constants."""
    for factor, colour in zip(FACTORS, (BLACK, BLUE, GREEN, ORANGE, "#CC79A7"), strict=True):
        part = results.select(factor=factor)
        errors = np.sort(column(part, "test_error"))
        if errors.size:
            ax.semilogy(np.linspace(0, 1, errors.size), errors, color=colour, lw=1.2, label=f"factor {factor}")
    for level in (0.01, 0.5):
        ax.axhline(level, color="0.6", ls=":", lw=0.8)
    ax.set(xlabel="share of runs", ylabel="test error", title="test errors, sorted (dotted: worked, failed)")
    ax.legend(fontsize=7)
