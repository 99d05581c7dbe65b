"""Counting oscillations along the layers of a net on the chirp (36, 12): Fig. 4 and App. C.10.

The paper's index counts all affine maps of the net, two per block; a block's channels are the
outputs of the second. Here a layer is a block. Counted by the paper's rule and by the sound one,
evaluated in both precisions. Gradients are clipped to norm 1, as App. C.1 says of all experiments.
"""

import numpy as np

from saddlescope.checks import if_clear
from saddlescope.nets import low_rank
from saddlescope.observables import MinimaCounts, PaperMinima, ProminentMinima, TestError
from saddlescope.optimisers import Adam, StepDecay
from saddlescope.setting import Setting
from saddlescope.statistics import mean_of, rank_correlation
from saddlescope.tasks import Chirp

COUNTS = tuple(MinimaCounts(rule, precision=p) for rule in (PaperMinima(), ProminentMinima()) for p in
               ("float32", "float64"))  # fmt: skip
OBSERVE = (*COUNTS, TestError())
SOUND = "prominent_minima_float64"
WORDS = {
    "paper_minima_float32": "paper's rule, float32", "paper_minima_float64": "paper's rule, float64",
    "prominent_minima_float32": "sound rule, float32", SOUND: "sound rule, float64",
}  # fmt: skip


def chirp_run(L, width, epochs, seed, precision="float32", rank=5, clip=1.0):
    return Setting(
        task=Chirp(f1=36, f2=12, samples=1000),
        net=low_rank(rank, L, width),
        optimiser=Adam(lr=1e-3, clip=clip or None),
        schedule=StepDecay(0.9, every=100),
        batch=100, epochs=epochs, precision=precision, seed=seed,
    )  # fmt: skip


def rises(counts) -> float:
    """Rank correlation of the count with the layer; 0 where all layers count the same."""
    return 0.0 if np.ptp(counts) == 0 else rank_correlation(np.arange(len(counts)), counts)


def slope(counts) -> float:
    """How much the count grows per layer, by least squares."""
    return float(np.polyfit(np.arange(len(counts)), counts, 1)[0])


def positive(values, evidence):
    """Whether the mean over draws lies above 0; where its interval holds 0, nobody can tell."""
    mean, half = mean_of(values)
    return if_clear(mean > 0, abs(mean) > half, f"{evidence} {mean:.2f} ± {half:.2f}")


def spread(rows):
    """Mean over runs and 95 % interval of the mean, layer by layer."""
    return np.array([mean_of(column) for column in np.asarray(rows).T]).T


def show(ax, rows, colour, mark, label):
    """Mean counts by layer with their intervals; a count is not negative."""
    mean, half = spread(rows)
    half = np.nan_to_num(half)
    ax.errorbar(np.arange(1, len(mean) + 1), mean, [np.minimum(mean, half), half], color=colour, marker=mark, ms=3,
                lw=1, capsize=1.5, elinewidth=0.8, label=label)  # fmt: skip


def listed(counts) -> str:
    return ", ".join(f"{c:.1f}" for c in counts)
