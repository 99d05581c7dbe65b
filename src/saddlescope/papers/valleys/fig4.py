"""Valleys paper, Fig. 4: mean number of minima per channel against the layer, with the untrained
net beside the trained.

L = 6, width 128, rank 5, chirp (36, 12), Adam at 1e-3 × 0.9 every 100 epochs, 3000 epochs, N =
1000, batch 100, gradients clipped to norm 1; not clipped as a control. The other control is the
same draw before training; both counting rules; trained and evaluated in both precisions.

"Deeper layers learn more" is read off what training adds to the untrained net of the same draw, by
layer: the mean over draws of its slope, with an interval. (In the first form each draw had to lie
above its untrained net in every layer after the first; single draws miss that in one layer.)
"""

import matplotlib.pyplot as plt
import numpy as np

from saddlescope.checks import in_most_runs
from saddlescope.claims import CheckResult, Claim
from saddlescope.experiment import Experiment
from saddlescope.figures import BLUE, GREEN, ORANGE, WIDTH, letters
from saddlescope.papers.valleys._oscillation import (
    COUNTS,
    OBSERVE,
    SOUND,
    WORDS,
    chirp_run,
    listed,
    positive,
    rises,
    show,
    slope,
)
from saddlescope.papers.valleys._runs import CLIPS
from saddlescope.statistics import mean_of
from saddlescope.training import SaveAt

PAPERS = "paper_minima_float32"
FLAT_FROM = 2  # the third layer
RISES = 0.5  # of the rank correlation with the layer; of 7 layers in any order 12 % exceed it


def setting(precision, clip, seed, epochs, L):
    return chirp_run(L, 128, epochs, seed, precision, clip=CLIPS[clip])


def rises_by_paper(run):
    return rises(run[PAPERS].values[-1]) > RISES


def say_rise(results):
    rows = [m[PAPERS].values[-1] for m in results.runs()]
    return f"mean count by layer {listed(np.mean(rows, axis=0))}; rank correlation {listed(map(rises, rows))}"


def gain(run):
    """What training adds to each hidden layer by the sound rule; the last block is the output."""
    start, end = run[SOUND].values[[0, -1], :-1]
    return end - start


def learned(results):
    """The gain rises with the layer, in the mean over draws."""
    runs = list(results.runs())
    start, end = (np.mean([m[SOUND].values[i][:-1] for m in runs], axis=0) for i in (0, -1))
    errors = [float(m.test_error[-1]) for m in runs]
    text = f"trained {listed(end)}; untrained {listed(start)}; test errors {min(errors):.1e} to {max(errors):.1e}"
    return positive([slope(gain(m)) for m in runs], f"{text}; gain per layer")


def untrained_rises(results):
    """The paper's count of untrained nets: the mean over draws of its rank correlation with the layer is positive."""
    rows = [m[PAPERS].values[0] for m in results.runs()]
    text = f"mean count by layer {listed(np.mean(rows, axis=0))}; rank correlation"
    return positive([rises(row) for row in rows], text)


def untrained_is_flat(results):
    """From the third layer on the sound count of untrained nets changes by less than a tenth of what training adds per
    layer: intervals of both means decide."""
    runs = list(results.runs())
    (flat, a), (gained, b) = (mean_of([slope(f(m)[FLAT_FROM:]) for m in runs]) for f in (at_start, gain))
    text = f"change per layer from the third on {flat:.3f} ± {a:.3f}; what training adds {gained:.2f} ± {b:.2f}"
    within, beyond = abs(flat) + a < (gained - b) / 10, abs(flat) - a > (gained + b) / 10
    return CheckResult(bool(within), text, unclear=not (within or beyond))


def at_start(run):
    return run[SOUND].values[0][:-1]


def clipping_matters_little(results):
    """Of the same draws, what training adds per layer differs by less than half: interval of the mean difference."""
    slopes = {clip: {int(m.seed): slope(gain(m)) for m in results.select(clip=clip).runs()} for clip in CLIPS}
    seeds = sorted(set(slopes["clipped"]) & set(slopes["free"]))
    if len(seeds) < 2:
        return None
    clipped, free = (np.array([slopes[clip][s] for s in seeds]) for clip in CLIPS)
    mean, half = mean_of(free - clipped)
    text = f"gain per layer, clipped {clipped.mean():.2f}, not clipped {free.mean():.2f}; difference "
    text += f"{mean:.2f} ± {half:.2f}"
    allowed = clipped.mean() / 2
    within, beyond = abs(mean) + half < allowed, abs(mean) - half > allowed
    return CheckResult(bool(within), text, unclear=not (within or beyond))


def draw(results):
    trained = results.values("precision")
    size = (WIDTH, 0.9 + 1.8 * len(trained))
    figure, axes = plt.subplots(len(trained), 4, figsize=size, sharex=True, sharey=True, squeeze=False)
    for row, precision in zip(axes, trained, strict=True):
        parts = {clip: list(results.select(precision=precision, clip=clip).runs()) for clip in CLIPS}
        for ax, observable in zip(row, COUNTS, strict=True):
            name = observable.name
            for runs, at, colour, mark, word in (
                (parts["clipped"], 0, ORANGE, "s", "untrained"),
                (parts["free"], -1, GREEN, "^", "trained, not clipped"),
                (parts["clipped"], -1, BLUE, "o", "trained"),
            ):
                if runs:
                    show(ax, [m[name].values[at] for m in runs], colour, mark, word)
            ax.set_yscale("symlog", linthresh=3)
            ax.set_yticks((0, 1, 3, 10, 30, 100), ("0", "1", "3", "10", "30", "100"))
            ax.set_ylim(0, 150)
        row[0].set_ylabel(f"minima per channel,\ntrained in {precision}")
    for ax, observable in zip(axes[0], COUNTS, strict=True):
        ax.set_title(WORDS[observable.name].replace(", ", ",\ncounted in "))
    for ax in axes[-1]:
        ax.set_xlabel("layer (block)")
    letters(axes.flat)
    figure.legend(*axes[0, 0].get_legend_handles_labels(), loc="outside lower center", ncols=3)
    return figure


PLAIN = {"precision": "float32", "clip": "clipped"}
experiment = Experiment(
    title="Minima per channel by layer, trained and untrained",
    source="Fig. 4, App. C.10",
    setting=setting,
    full=dict(precision=("float32", "float64"), clip=CLIPS, seed=range(12), epochs=(3000,), L=(6,)),
    quick=dict(precision=("float32",), clip=("clipped",), seed=range(1), epochs=(150,), L=(4,)),
    where="clip == 'clipped' or precision == 'float32'",
    save_at=SaveAt((0,)),
    observe=OBSERVE,
    draw=draw,
    drawn="Marks are means over draws, bars their 95 % intervals. The last layer is the output.",
    claims=(
        Claim("The mean number of minima per channel rises with the layer.", "V18 · Fig. 4",
              in_most_runs(rises_by_paper, say_rise), only=PLAIN),
        Claim("Deeper layers learn more oscillatory structure.", "V19 · Sec. 3", learned, only=PLAIN),
        Claim("Trained in float64, deeper layers learn more oscillatory structure.", "ours", learned,
              only=PLAIN | {"precision": "float64"}),
        Claim("Untrained, the paper's count in float32 rises with the layer as well.", "ours", untrained_rises,
              only=PLAIN),
        Claim("Untrained, the sound count in float64 is flat from the third layer on.", "ours", untrained_is_flat,
              only=PLAIN),
        Claim("Clipping changes what is learned per layer by less than half.", "ours", clipping_matters_little,
              only={"precision": "float32"}),
    ),
)  # fmt: skip
