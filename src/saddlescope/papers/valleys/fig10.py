"""Valleys paper, Fig. 10: Adam's loss curves of four more settings, with their spikes, five seeds
each.

30,000 epochs, a tenth of the paper's: dips would show the sentence, and none in so short a run would
not refute it. `valleys.fig9` has the whole length of its own setting.
"""

import matplotlib.pyplot as plt

from saddlescope.claims import Claim
from saddlescope.experiment import Experiment
from saddlescope.figures import BLUE, WIDTH, letters
from saddlescope.papers.valleys import _adam as adam
from saddlescope.papers.valleys._protocol import Name
from saddlescope.papers.valleys._runs import cannot_refute

NAMES = {
    "f2_N512_bs512_L3": "2 cosines, N = 512, L = 3", "f3_N768_bs512_L1": "3 cosines, N = 768, L = 1",
    "f4_N512_bs512_L1": "4 cosines, N = 512, L = 1", "f4_N512_bs512_L4": "4 cosines, N = 512, L = 4",
}  # fmt: skip

SHORTER = "the paper's runs are ten times as long"


def setting(name, seed, lr, width, budget):
    n = Name.parse(name)
    return adam.adam_run(n.factor, n.samples, n.batch, n.depth, "float32", seed, lr, width, budget)


def in_each(results):
    """Most spikes are dips, in every setting; jumps up from a floor are none."""
    return adam.are_dips(results, "name") if set(results.values("name")) == set(NAMES) else None


def draw(results):
    names = results.values("name")
    figure, axes = plt.subplots(2, len(names), figsize=(WIDTH, 3.9), sharey="row", squeeze=False)
    for column, name in zip(axes.T, names, strict=True):
        runs = list(results.select(name=name).runs())
        adam.show(column[0], runs[0], BLUE)
        adam.show_close(column[1], runs[0], BLUE)
        factor, rest = NAMES[name].split(", ", 1)
        column[0].set_title(f"{factor}\n{rest}\n{adam.numbers(runs)}")
    axes[0, 0].set_ylabel("epoch loss")
    axes[1, 0].set_ylabel("epoch loss")
    letters(axes.flat)
    return figure


experiment = Experiment(
    title="Adam: spikes in the loss curves of four settings",
    source="Fig. 10",
    setting=setting,
    full=dict(name=NAMES, seed=range(5), lr=(1e-4,), width=(1024,), budget=(30_000,)),
    quick=dict(name=NAMES, seed=range(1), lr=(0.02,), width=(32,), budget=(700,)),
    analyse=adam.analyse,
    draw=draw,
    drawn=adam.DRAWN,
    claims=(
        Claim("The loss shows large spikes, dips and jumps back, in each of the four settings.", "V27 · Fig. 10",
              cannot_refute(in_each, SHORTER),
              note="jumps up from a floor are more than dips; the shallow settings have few of either"),
        Claim("The spikes are symmetric, down then up.", "V28 · Fig. 10",
              cannot_refute(adam.symmetric, SHORTER),
              note="a jump rises faster than it falls back"),
    ),
)  # fmt: skip
