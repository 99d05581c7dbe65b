"""Our own control for Fig. 4: minima of nets that were never trained, by layer, both rules, both
precisions.

If an untrained net shows the published rise, the rise is not evidence of learning; if float64 does
not show it, it is rounding. Nets of Fig. 4 (width 128, rank 5, L = 6) and of the main text (width
1024, rank 10), and a deeper one. Means over draws decide, with their intervals: the rank
correlation over the layers of one draw scatters too much to be counted.
"""

import matplotlib.pyplot as plt
import numpy as np

from saddlescope.checks import decided_by
from saddlescope.claims import UNCLEAR, Claim
from saddlescope.experiment import Experiment
from saddlescope.figures import BLUE, GREEN, ORANGE, PURPLE, WIDTH, letters
from saddlescope.papers.valleys._oscillation import COUNTS, SOUND, WORDS, chirp_run, listed, rises, show, slope
from saddlescope.statistics import mean_of
from saddlescope.training import observe_at

NETS = {"width 128, rank 5, L = 6": (6, 128, 5), "width 1024, rank 10, L = 6": (6, 1024, 10),
        "width 128, rank 5, L = 12": (12, 128, 5)}  # fmt: skip
SINGLE, DOUBLE = "paper_minima_float32", "paper_minima_float64"
FLAT = 0.1  # minima per channel and layer


def measure(net, seed):
    L, width, rank = NETS[net]
    setting = chirp_run(L, width, 1, seed, rank=rank)
    found = observe_at(setting, setting.initial_params(), COUNTS)
    return {name: (("block",), values) for name, values in found.items()}


def by_net(number, decide, what):
    """decide(mean, half interval) of number(run) over draws, for each net: true, false or unclear."""

    def check(results):
        words, said = {}, []
        for net in results.values("net"):
            mean, half = mean_of([number(m) for m in results.select(net=net).runs()])
            words[net] = UNCLEAR if np.isnan(half) else decide(mean, half)
            said.append(f"{net}: {mean:.2f} ± {half:.2f}")
        return decided_by(words, f"{what}, {'; '.join(said)}; {means(results)}")

    return check


def means(results):
    first = results.select(net=next(iter(NETS)))
    rows = {name: np.mean([m[name].values for m in first.runs()], axis=0) for name in (SINGLE, DOUBLE, SOUND)}
    told = "; ".join(f"{WORDS[name]} {listed(row)}" for name, row in rows.items())
    return f"mean counts by layer in the net of Fig. 4: {told}"


def positive(mean, half):
    return mean > 0 if abs(mean) > half else UNCLEAR


def flat(mean, half):
    return True if abs(mean) + half < FLAT else False if abs(mean) - half > FLAT else UNCLEAR


def draw(results):
    nets = results.values("net")
    figure, axes = plt.subplots(1, len(nets), figsize=(WIDTH, 2.9), squeeze=False, sharey=True)
    for ax, net in zip(axes[0], nets, strict=True):
        runs = list(results.select(net=net).runs())
        for (name, word), colour, mark in zip(WORDS.items(), (ORANGE, BLUE, PURPLE, GREEN), "so^D", strict=True):
            show(ax, [m[name].values for m in runs], colour, mark, word)
        ax.set(xlabel="layer (block)", title=net.replace(", L", ",\nL"), yscale="symlog", ylim=(0, 400))
        ax.set_yticks((0, 1, 10, 100), ("0", "1", "10", "100"))
    axes[0, 0].set_ylabel("minima per channel, untrained")
    letters(axes[0])
    figure.legend(*axes[0, 0].get_legend_handles_labels(), loc="outside lower center", ncols=4)
    return figure


experiment = Experiment(
    title="Minima per channel of nets that were never trained",
    source="a control for Fig. 4",
    measure=measure,
    full=dict(net=NETS, seed=range(60)),
    quick=dict(net=("width 128, rank 5, L = 6",), seed=range(3)),
    draw=draw,
    drawn="Marks are means over draws, bars their 95 % intervals. The last layer is the output.",
    claims=(
        Claim("In float32 the paper's count rises with the layer without training.", "ours",
              by_net(lambda m: rises(m[SINGLE].values), positive, "rank correlation with the layer")),
        Claim("In float64 the paper's count rises less with the layer than in float32: rounding adds minima.", "ours",
              by_net(lambda m: slope(np.log1p(m[SINGLE].values)) - slope(np.log1p(m[DOUBLE].values)), positive,
                     "log(1 + count) per layer, float32 less float64"),
              note="where float32 has no rounding to show"),
        Claim("In float64 the sound count is flat from the third layer on: it changes by less than 0.1 per layer.",
              "ours", by_net(lambda m: slope(m[SOUND].values[2:]), flat, "minima per layer"),
              note="it changes a little, far less than the paper's count in float32 does"),
    ),
)  # fmt: skip
