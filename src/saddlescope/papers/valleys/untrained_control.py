"""Our own control for Fig. 4: minima of nets that were never trained, by layer, both rules, both
precisions.

If an untrained net shows the published rise, the rise is not evidence of learning; if float64 does
not show it, it is rounding. Nets of Fig. 4 (width 128, rank 5, L = 6) and of the main text (width
1024, rank 10), and a deeper one.
"""

import matplotlib.pyplot as plt
import numpy as np

from saddlescope.checks import in_most_runs
from saddlescope.claims import Claim
from saddlescope.experiment import Experiment
from saddlescope.figures import BLUE, GREEN, ORANGE, PURPLE
from saddlescope.papers.valleys._oscillation import COUNTS, SOUND, WORDS, chirp_run, listed, rises, show
from saddlescope.training import observe_at

NETS = {"width 128, rank 5, L = 6": (6, 128, 5), "width 1024, rank 10, L = 6": (6, 1024, 10),
        "width 128, rank 5, L = 12": (12, 128, 5)}  # fmt: skip


def measure(net, seed):
    L, width, rank = NETS[net]
    setting = chirp_run(L, width, 1, seed, rank=rank)
    found = observe_at(setting, setting.initial_params(), COUNTS)
    return {name: (("block",), values) for name, values in found.items()}


def rise(name):
    return lambda run: rises(run[name].values) > 0.5


def say(name):
    def words(results):
        first = results.select(net=next(iter(NETS)))
        rows = [m[name].values for m in first.runs()]
        return f"mean count by layer in the net of Fig. 4: {listed(np.mean(rows, axis=0))}" if rows else ""

    return words


def draw(results):
    nets = results.values("net")
    figure, axes = plt.subplots(1, len(nets), figsize=(3.6 * len(nets) + 0.5, 3.3), squeeze=False)
    for ax, net in zip(axes[0], nets, strict=True):
        runs = list(results.select(net=net).runs())
        for (name, word), colour, mark in zip(WORDS.items(), (ORANGE, BLUE, PURPLE, GREEN), "so^D", strict=True):
            show(ax, [m[name].values for m in runs], colour, mark, word)
        ax.set(xlabel="layer (block)", title=net, yscale="symlog", ylim=(0, None))
    axes[0, 0].set_ylabel("mean minima per channel, untrained")
    axes[0, 0].legend(fontsize=7)
    return figure


def falls_short(run):
    return rises(run["paper_minima_float64"].values) <= 0.5


SCATTER = "the means do; the rank correlation over the layers of one draw scatters"
SLIGHTLY = "the means rise a little, far less than the paper's count in float32 does"
experiment = Experiment(
    title="Minima per channel of nets that were never trained",
    source="a control for Fig. 4",
    measure=measure,
    full=dict(net=NETS, seed=range(20)),
    quick=dict(net=("width 128, rank 5, L = 6",), seed=range(3)),
    draw=draw,
    claims=(
        Claim("In float32 the paper's count rises with the layer without training.", "ours",
              in_most_runs(rise("paper_minima_float32"), say("paper_minima_float32"), "net"), note=SCATTER),
        Claim("In float64 the paper's count does not rise with the layer without training.", "ours",
              in_most_runs(falls_short, say("paper_minima_float64"), "net"), note=SLIGHTLY),
        Claim("In float64 the sound count does not rise with the layer without training.", "ours",
              in_most_runs(lambda run: rises(run[SOUND].values) <= 0.5, say(SOUND), "net"), note=SLIGHTLY),
    ),
)  # fmt: skip
