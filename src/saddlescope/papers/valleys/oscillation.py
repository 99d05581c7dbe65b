"""Valleys paper, App. C.10 and the conjecture of Section 3: layer ℓ has about 2ℓ spikes in its
partials.

Counted by the sound rule in float64, over depths, trained on the chirp (36, 12) as in Fig. 4 and
untrained. The paper conjectures "on the order of 2ℓ" spikes and elsewhere counts peaks and valleys.
So two readings: periods, minima and maxima halved (of a cosine its number of periods), and extrema,
minima and maxima together.
"""

from itertools import pairwise

import matplotlib.pyplot as plt
import numpy as np

from saddlescope.checks import decided_by, in_most_runs
from saddlescope.claims import UNCLEAR, Claim
from saddlescope.experiment import Experiment
from saddlescope.figures import BLACK, BLUE, ORANGE, WIDTH, letters
from saddlescope.papers.valleys._oscillation import OBSERVE, SOUND, chirp_run, listed, show, spread
from saddlescope.statistics import apart, mean_of
from saddlescope.tables import Table
from saddlescope.theory import SpikesByLayer
from saddlescope.training import SaveAt

DEPTHS = (2, 4, 6, 8)


def setting(L, seed, epochs):
    return chirp_run(L, 128, epochs, seed)


def near(counts, said):
    """Between half and twice of what the conjecture says for every hidden layer."""
    return bool(np.all((said / 2 <= counts[:-1]) & (counts[:-1] <= 2 * said)))


def two_per_layer(each):
    """`each` is how many spikes a period counts for."""

    def test(run):
        start, end = each * run[SOUND].values[[0, -1]]
        said = run.predicted.spikes.values
        return near(end, said) and not near(start, said)

    return test


def say(each):
    def words(results):
        found = []
        for L in sorted(results.values("L")):
            rows = [each * m[SOUND].values[-1][:-1] for m in results.select(L=L).runs()]
            found.append(f"L = {L}: {listed(np.mean(rows, axis=0))}")
        return "mean over seeds by layer, " + "; ".join(found)

    return words


def more_with_depth(results):
    """The count of the last hidden layer grows from one depth of the net to the next, in means apart."""
    depths = sorted(results.values("L"))
    if len(depths) < 2:
        return None
    last = {L: mean_of([m[SOUND].values[-1][-2] for m in results.select(L=L).runs()]) for L in depths}
    words = {f"L = {a} to {b}": last[b][0] > last[a][0] if apart(last[a], last[b]) else UNCLEAR
             for a, b in pairwise(depths)}  # fmt: skip
    return decided_by(words, f"last hidden layer at L = {depths}: {listed(mean for mean, _ in last.values())}")


def tables(results):
    rows = []
    for L in sorted(results.values("L")):
        runs = list(results.select(L=L).runs())
        said = runs[0].predicted.spikes.values
        for at, word in ((0, "untrained"), (-1, "trained")):
            mean, half = spread([m[SOUND].values[at] for m in runs])
            rows += [(L, word, k + 1, said[k], float(mean[k]), float(half[k])) for k in range(len(said))]
    columns = ("L", "net", "layer", "conjectured spikes", "periods", "± 95 %")
    return (Table("spikes", "Periods per channel by layer (extrema are twice as many), float64", columns, rows),)


def draw(results):
    depths = results.values("L")
    figure, axes = plt.subplots(1, len(depths), figsize=(WIDTH, 2.6), sharey=True, squeeze=False)
    for ax, L in zip(axes[0], depths, strict=True):
        runs = list(results.select(L=L).runs())
        layers, spikes = np.arange(1, L + 1), runs[0].predicted.spikes.values
        ax.plot(layers, spikes, color=BLACK, ls="--", lw=1, label="2ℓ, conjectured")
        for at, colour, mark, word in ((0, ORANGE, "s", "untrained"), (-1, BLUE, "o", "trained")):
            show(ax, [m[SOUND].values[at][:-1] for m in runs], colour, mark, word)
        ax.set(xlabel="layer ℓ", title=f"L = {L}", xticks=layers)
    axes[0, 0].set_ylabel("periods per channel")
    letters(axes[0])
    figure.legend(*axes[0, 0].get_legend_handles_labels(), loc="outside lower center", ncols=3)
    return figure


experiment = Experiment(
    title="Oscillations per channel by layer, against the conjecture of 2ℓ",
    source="App. C.10, Section 3",
    setting=setting,
    full=dict(L=DEPTHS, seed=range(12), epochs=(3000,)),
    quick=dict(L=(2, 4), seed=range(1), epochs=(100,)),
    save_at=SaveAt((0,)),
    observe=OBSERVE,
    predict=(SpikesByLayer(),),
    draw=draw,
    drawn="Marks are means over draws, bars their 95 % intervals; the dashed line is the conjecture.",
    tables=tables,
    claims=(
        Claim(
            "Layer ℓ has about 2ℓ spikes, counted as periods.",
            "V20 · Sec. 3",
            in_most_runs(two_per_layer(1), say(1), by="L"),
            note="counts rise with the layer, above those of the untrained net, but most stay below ℓ",
        ),
        Claim(
            "Layer ℓ has about 2ℓ spikes, counted as peaks and valleys.",
            "V20 · Sec. 3",
            in_most_runs(two_per_layer(2), say(2), by="L"),
            note="the last layer of L = 4 and of 6 has about so many; the others have fewer",
        ),
        Claim(
            "The last hidden layer oscillates more in a deeper net.",
            "ours",
            more_with_depth,
            note="up to L = 6 it does; the net of L = 8 has learned less of the target in these epochs",
        ),
    ),
)
