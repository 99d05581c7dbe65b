"""Valleys paper, Fig. 4: mean number of minima per channel against the layer, with the untrained
net beside the trained.

L = 6, width 128, rank 5, chirp (36, 12), Adam at 1e-3 × 0.9 every 100 epochs, 3000 epochs, N =
1000, batch 100. The control is the same draw before training; both counting rules; trained and
evaluated in both precisions.
"""

import matplotlib.pyplot as plt
import numpy as np

from saddlescope.checks import in_most_runs
from saddlescope.claims import Claim
from saddlescope.experiment import Experiment
from saddlescope.figures import BLUE, ORANGE
from saddlescope.papers.valleys._oscillation import COUNTS, OBSERVE, SOUND, WORDS, chirp_run, listed, rises, show
from saddlescope.training import SaveAt

PAPERS = "paper_minima_float32"


def setting(precision, seed, epochs, L):
    return chirp_run(L, 128, epochs, seed, precision)


def rise_of(name, at):
    def test(run):
        return rises(run[name].values[at]) > 0.5

    def say(results):
        rows = [m[name].values[at] for m in results.runs()]
        return f"mean count by layer {listed(np.mean(rows, axis=0))}; rank correlation {listed(map(rises, rows))}"

    return test, say


def learned(run):
    """Rises with the layer by the sound rule, and lies above the untrained net in every layer after the first."""
    start, end = run[SOUND].values[[0, -1], :-1]  # the last block is the output
    return rises(end) > 0.5 and bool(np.all(end[1:] > start[1:]))


def say_learned(results):
    start, end = (np.mean([m[SOUND].values[i] for m in results.runs()], axis=0) for i in (0, -1))
    errors = [float(m.test_error[-1]) for m in results.runs()]
    return (f"trained {listed(end)}; untrained {listed(start)}; test errors {min(errors):.1e} to "
            f"{max(errors):.1e}")  # fmt: skip


def draw(results):
    trained = results.values("precision")
    figure, axes = plt.subplots(len(trained), 4, figsize=(12, 2.8 * len(trained)), sharex=True, squeeze=False)
    for row, precision in zip(axes, trained, strict=True):
        part = results.select(precision=precision)
        runs = list(part.runs())
        for ax, observable in zip(row, COUNTS, strict=True):
            for at, colour, mark, word in ((0, ORANGE, "s", "untrained"), (-1, BLUE, "o", "trained")):
                show(ax, [m[observable.name].values[at] for m in runs], colour, mark, word)
            ax.set_yscale("symlog", linthresh=3)
            ax.set_title(f"{WORDS[observable.name]}\n(trained in {precision})", fontsize=8)
        row[0].set_ylabel("mean minima per channel")
    for ax in axes[-1]:
        ax.set_xlabel("layer (block)")
    axes[0, 0].legend(fontsize=7)
    return figure


SCATTER = "the means over draws do so, but a rank correlation over seven layers of one draw scatters"
experiment = Experiment(
    title="Minima per channel by layer, trained and untrained",
    source="Fig. 4, App. C.10",
    setting=setting,
    full=dict(precision=("float32", "float64"), seed=range(5), epochs=(3000,), L=(6,)),
    quick=dict(precision=("float32",), seed=range(1), epochs=(150,), L=(4,)),
    save_at=SaveAt((0,)),
    observe=OBSERVE,
    draw=draw,
    claims=(
        Claim("The mean number of minima per channel rises with the layer.", "V18 · Fig. 4",
              in_most_runs(*rise_of(PAPERS, -1)), only={"precision": "float32"}),
        Claim("Deeper layers learn more oscillatory structure.", "V19 · Sec. 3", in_most_runs(learned, say_learned),
              note="in the means every layer from the second on does; single draws miss it in layer 2 or 4",
              only={"precision": "float32"}),
        Claim("Trained in float64, deeper layers learn more oscillatory structure.",
              "ours", in_most_runs(learned, say_learned),
              only={"precision": "float64"}),
        Claim("Untrained, the paper's count in float32 rises with the layer as well.", "ours",
              in_most_runs(*rise_of(PAPERS, 0)), only={"precision": "float32"}, note=SCATTER),
        Claim("Untrained, the sound count in float64 does not rise with the layer.", "ours",
              in_most_runs(lambda run: rises(run[SOUND].values[0]) <= 0.5, rise_of(SOUND, 0)[1]),
              only={"precision": "float32"}, note="the means are flat from the third layer on, but rise until there"),
    ),
)  # fmt: skip
