"""Simplicity paper, Fig. 2B: singular values closer together shorten the plateaus; equal ones leave
attention some.

Power-law exponent κ from 2 to 0. A linear net with equal values learns all of its modes in one
drop; the heads of attention still take turns, since their initial weights differ.
"""

import matplotlib.pyplot as plt
import numpy as np

from saddlescope.checks import drops, holds_in_share, in_most_runs, share_text
from saddlescope.claims import Claim
from saddlescope.experiment import Experiment
from saddlescope.figures import WIDTH, letters
from saddlescope.observables import ByRank, EffectiveWidth
from saddlescope.papers.simplicity import _fig2 as fig2
from saddlescope.papers.simplicity._groups import in_each_seed, rising
from saddlescope.theory import DropSchedule, LinearLevels
from saddlescope.training import SaveAt, every

rank = EffectiveWidth(ByRank())
KAPPAS = (0.0, 0.5, 1.0, 2.0)


def setting(net, kappa, seed, samples):
    return {
        "linear": lambda: fig2.linear_run(seed, kappa=kappa, steps=4000),
        "attention": lambda: fig2.attention_run(seed, kappa=kappa, steps=60_000, samples=samples),
    }[net]()


def predict(net, kappa, seed, samples):
    """Levels of the linear net, and its drops; equal singular values have no order to drop in."""
    if net == "attention":
        return ()
    return (LinearLevels(), DropSchedule()) if kappa else (LinearLevels(),)


def median_waits(results):
    waits = fig2.medians(results, "kappa", fig2.wait)
    return f"steps from the first to the last drop, median by κ {fig2.listed(waits)}"


shorter = in_each_seed("kappa", fig2.wait, rising, median_waits)  # each step of κ lengthens the wait


def skips_stages(run):
    """One drop, from the loss of the zero map to weights of rank three, and no rank of one or two from its start on.
    Noise has full rank before it: the loss tells that the width is 0 there, to 1e-3, which weights of 1e-6 keep."""
    found, plateaus = run.stages.drops, run.stages.plateaus
    if len(found) != 1 or not plateaus:
        return False
    ranks = run[rank.name].values[run.times >= found[0].start]
    zero = float(run.predicted["plateau_level"][0])
    return abs(plateaus[0].level / zero - 1) < 1e-3 and ranks[-1] == 3 and not np.isin(ranks, (1, 2)).any()


def ranks_seen(results):
    rows = [m[rank.name].values.astype(int) for m in results.runs()]
    return f"ranks {', '.join(map(str, sorted({int(r) for row in rows for r in row})))}, noise before the drop included"


def plateaus_left(results):
    """At κ = 0 attention still drops more than once, in most runs."""
    counts = np.array([m.stages.n_drops for m in results.runs()])
    good = int(np.sum(counts > 1))
    text = f"{share_text(good, len(counts))} with more than one drop; drops {', '.join(map(str, counts))}"
    return holds_in_share(good, len(counts), text)


def draw(results):
    words = {"linear": "linear net", "attention": "linear attention"}
    shown = [net for net in words if results.select(net=net).measured.sizes["run"]]
    figure, axes = plt.subplots(1, len(shown), figsize=(WIDTH, 2.7), squeeze=False)
    for ax, net in zip(axes[0], shown, strict=True):
        fig2.curves(ax, results.select(net=net), "kappa", KAPPAS, lambda k: f"κ = {k:g}", relative=True)
        ax.set_title(words[net])
    letters(axes[0])
    return figure


experiment = Experiment(
    title="Singular values that are closer together shorten the plateaus",
    source="Fig. 2B",
    setting=setting,
    full=dict(net=("linear", "attention"), kappa=KAPPAS, seed=range(11), samples=(8192,)),
    quick=dict(net=("linear", "attention"), kappa=(0.0, 1.0), seed=range(1), samples=(1024,)),
    save_at=lambda net, kappa, seed, samples: every(20, 4000) if net == "linear" else SaveAt(),
    observe=lambda net, kappa, seed, samples: (rank,) if net == "linear" else (),
    predict=predict,
    draw=draw,
    drawn="Loss over its start by the exponent κ of the singular values, the first seed of each thick, the "
    "others thin. Crosses: drops of the linear net predicted from the first seed's draw.",
    claims=(
        Claim("A smaller exponent shortens the plateaus of a linear net.", "S29 · Fig. 2B", shorter, {"net": "linear"}),
        Claim("Equal singular values leave a linear net one drop.", "S29 · Fig. 2B", drops(1),
              {"net": "linear", "kappa": 0.0}),
        Claim("That one drop leads from effective width 0 to 3.", "S29 · Section 6",
              in_most_runs(skips_stages, ranks_seen), {"net": "linear", "kappa": 0.0}),
        Claim("A smaller exponent shortens the plateaus of attention.", "S30 · Fig. 2B", shorter, {"net": "attention"}),
        Claim("Equal singular values do not take away the plateaus of attention.", "S30 · Fig. 2B", plateaus_left,
              {"net": "attention", "kappa": 0.0}),
    ),
)  # fmt: skip
