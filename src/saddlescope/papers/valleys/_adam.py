"""Adam's spikes: Fig. 9 and 10 and App. D. Rank 10, batch 512, lr 1e-4 fixed; 20,000 epochs of the paper's 300,000.

The paper's spikes are dips, "down then up": minima of the loss ten times or more below the maxima on both sides. The
fall of a dip is the time from √10 × its bottom, the rise the time back to there. Excursions above the running minimum,
ten times or more and back within a factor of two, are counted beside them. A control at a third of the rate has three
times the epochs.
"""

import numpy as np

from saddlescope.nets import low_rank
from saddlescope.optimisers import Adam
from saddlescope.setting import Setting
from saddlescope.tasks import cosine_sum

EPOCHS = 20_000
CONTROLS = {"float32": ("float32", 1), "float64": ("float64", 1), "third": ("float32", 3)}  # precision, rate ÷
CONTROL_WORDS = {"float32": "float32", "float64": "float64", "third": "a third of the rate"}
HIGH, BACK = 10.0, 2.0
SHOWN = 2000


def adam_run(factor, N, bs, L, control, seed, lr, width, epochs):
    precision, part = CONTROLS[control]
    return Setting(
        task=cosine_sum(factor, N), net=low_rank(10, L, width), optimiser=Adam(lr / part), batch=bs, epochs=part *
        epochs, precision=precision, seed=seed, )  # fmt: skip


def enough_dips(results) -> tuple[int, int]:
    """In how many runs there is a dip, of how many."""
    return int(np.sum(results.measured.dips.values > 0)), results.measured.sizes["run"]


def excursions(loss) -> list[tuple[int, int, float]]:
    """(start, end, height) of every excursion: from the running minimum up by HIGH or more, and back to BACK of it."""
    found, least, start, top = [], loss[0], 0, 0.0
    for i, value in enumerate(loss):
        if value <= BACK * least:
            if top >= HIGH * least:
                found.append((start, i, top / least))
            start, top = i, 0.0
        else:
            top = max(top, value)
        least = min(least, value)
    return found


def dips(loss) -> list[tuple[int, int]]:
    """(fall, rise) in epochs of every dip: a local minimum that lies ten times below a maximum on either side."""
    from scipy.signal import find_peaks

    depth = -np.log10(np.asarray(loss))
    bottoms, _ = find_peaks(depth, prominence=1.0)
    found = []
    for b in bottoms:
        high = np.flatnonzero(depth < depth[b] - 0.5)  # √10 above the bottom
        before, after = high[high < b], high[high > b]
        if before.size and after.size:
            found.append((int(b - before[-1]), int(after[0] - b)))
    return found


def digest(run, setting):
    """Counts of excursions and dips, and the curve thinned for drawing: the least and largest of each stretch."""
    loss = run.loss.values
    spikes, both = excursions(loss), dips(loss)
    cut = np.array_split(np.arange(len(loss)), min(SHOWN, len(loss)))
    return {
        "spikes": len(spikes), "tallest": max((h for *_, h in spikes), default=1.0), "dips": len(both),
        "near_floor": float(np.mean(loss <= 2 * np.minimum.accumulate(loss))),
        "fall_over_rise": float(np.median([f / r for f, r in both])) if both else np.nan,
        "least_loss": loss.min(), "last_loss": loss[-1], "epochs": len(loss),
        "low": (("stretch",), np.array([loss[c].min() for c in cut])),
        "high": (("stretch",), np.array([loss[c].max() for c in cut])),
    }  # fmt: skip


def show(ax, runs, colour, label=None):
    """The first run's curve as a band from its least to its largest loss, the others' least as lines."""
    for i, m in enumerate(runs):
        at = np.linspace(0, float(m.epochs), m.sizes["stretch"])
        if i == 0:
            ax.fill_between(at, m.low, m.high, color=colour, alpha=0.5, lw=0)
        ax.semilogy(at, m.low, color=colour, lw=1 if i == 0 else 0.3, label=label if i == 0 else None)
    ax.set(xlabel="epoch", ylabel="epoch loss")


def listed(results, name):
    return ", ".join(f"{v:.3g}" for v in results.measured[name].values)
