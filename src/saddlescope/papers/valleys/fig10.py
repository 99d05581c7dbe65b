"""Valleys paper, Fig. 10: Adam's loss curves of four more settings, with their spikes, five seeds
each.

10,000 epochs: in Fig. 9 spikes come from about epoch 2,500 on.
"""

import matplotlib.pyplot as plt

from saddlescope.checks import groups_by, holds_in_share
from saddlescope.claims import Claim
from saddlescope.experiment import Experiment
from saddlescope.figures import BLUE
from saddlescope.papers.valleys import _adam as adam
from saddlescope.papers.valleys._protocol import Name

NAMES = {
    "f2_N512_bs512_L3": "a", "f3_N768_bs512_L1": "b", "f4_N512_bs512_L1": "c", "f4_N512_bs512_L4": "d",
}  # fmt: skip


def setting(name, seed, lr, width, budget):
    n = Name.parse(name)
    return adam.adam_run(n.factor, n.samples, n.batch, n.depth, "float32", seed, lr, width, budget)


def in_each(results):
    """Dips in most runs, of every setting; jumps up from a floor are none."""
    if set(results.values("name")) != set(NAMES):
        return None
    parts = {name: results.select(name=name) for name in NAMES}
    dips = results.measured.dips.values > 0
    text = "; ".join(f"{name}: {adam.counts(part)}" for name, part in parts.items())
    return holds_in_share(dips.sum(), dips.size, text, groups=groups_by(results, "name", dips))


def draw(results):
    names = results.values("name")
    rows = -(-len(names) // 2)
    figure, axes = plt.subplots(rows, min(2, len(names)), figsize=(9, 2.8 * rows), squeeze=False)
    for ax, name in zip(axes.flat, names, strict=True):
        runs = list(results.select(name=name).runs())
        adam.show(ax, runs, BLUE)
        ax.set_title(f"({NAMES[name]}) {name}: {adam.numbers(runs)}", fontsize=9)
    return figure


experiment = Experiment(
    title="Adam: spikes in the loss curves of four settings",
    source="Fig. 10",
    setting=setting,
    full=dict(name=NAMES, seed=range(5), lr=(1e-4,), width=(1024,), budget=(10_000,)),
    quick=dict(name=NAMES, seed=range(1), lr=(0.02,), width=(32,), budget=(700,)),
    analyse=adam.analyse,
    draw=draw,
    claims=(
        Claim("The loss shows large spikes, dips and jumps back, in each of the four settings.", "V27 · Fig. 10",
              in_each,
              note="The deep settings (a, d) jump up 33 to 79 times per run and fall back, the shallow ones seldom (b) "
              "or hardly ever (c) by as much; of dips below the curve there are two in twenty runs."),
        Claim("The spikes are symmetric, down then up.", "V28 · Fig. 10", adam.symmetric,
              note="in four of the five runs of the shallow setting b; elsewhere a jump rises three to four times as "
              "fast as it falls back"),
    ),
)  # fmt: skip
