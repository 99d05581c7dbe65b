"""Simplicity paper, Fig. 2B: singular values closer together shorten the plateaus; equal ones leave
attention some.

Power-law exponent κ from 2 to 0. A linear net with equal values learns all of its modes in one
drop; the heads of attention still take turns, since their initial weights differ.
"""

import matplotlib.pyplot as plt
import numpy as np

from saddlescope.checks import drops, holds_in_share, share_text, widths
from saddlescope.claims import CheckResult, Claim
from saddlescope.experiment import Experiment
from saddlescope.figures import WIDTH, letters
from saddlescope.observables import ByRank, EffectiveWidth
from saddlescope.papers.simplicity import _fig2 as fig2
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


def shorter(results):
    """The median wait grows with κ."""
    waits = fig2.medians(results, "kappa", fig2.wait)
    if len(waits) < 2:
        return None
    values = [waits[k] for k in sorted(waits)]
    text = f"steps from the first to the last drop by κ {fig2.listed(waits)}"
    return CheckResult(bool(np.all(np.diff(values) > 0)), text)


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
    full=dict(net=("linear", "attention"), kappa=KAPPAS, seed=range(10), samples=(8192,)),
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
        Claim("That one drop leads from effective width 0 to 3.", "S29 · Section 6", widths(rank, (3,)),
              {"net": "linear", "kappa": 0.0}),
        Claim("A smaller exponent shortens the plateaus of attention.", "S30 · Fig. 2B", shorter, {"net": "attention"}),
        Claim("Equal singular values do not take away the plateaus of attention.", "S30 · Fig. 2B", plateaus_left,
              {"net": "attention", "kappa": 0.0}),
    ),
)  # fmt: skip
