"""Valleys paper, training protocol: minibatch descent, the rate halved on stagnation, on a small
net.

The protocol's parts on a tanh net of one hidden layer fitting one cosine, small enough for every
test: cuts, what is read before and after them, an early stop, runs of different lengths, and one
rate so large that the run diverges. The paper says of its own nets that the loss drops at every cut
(`valleys.fig1`); this is the same question for a small one, of which it says nothing.
"""

import matplotlib.pyplot as plt
import numpy as np

from saddlescope.checks import error_within, holds_in_share, share_text
from saddlescope.claims import Claim
from saddlescope.experiment import Experiment
from saddlescope.figures import BLUE, ORANGE, WIDTH, letters
from saddlescope.nets import Neuron, Tanh, Units
from saddlescope.observables import FullLoss
from saddlescope.optimisers import GradientDescent, HalveOnStagnation, LearningRateBelow, LossBelow
from saddlescope.papers.valleys._runs import falls_at_cuts, ratios_at_cuts
from saddlescope.setting import Setting
from saddlescope.tasks import cosine
from saddlescope.theory import FrozenAt
from saddlescope.training import every_epoch, on_cut

loss = FullLoss()
STEADY, WILD = 0.05, 50.0
FALLS = (
    "the first cut lowers the loss by more than half; at small rates ten epochs change it by less than the noise of "
    "the batches, and it rises at a third of the last cuts. The rule keeps cutting: it sees only stagnation."
)


def setting(lr, seed):
    return Setting(
        task=cosine(frequency=1, samples=64),
        net=Units(units=32, unit=Neuron(Tanh(), bias=True), scale=1.0),
        optimiser=GradientDescent(lr=lr),
        schedule=HalveOnStagnation(),
        batch=7,
        epochs=1000,
        stop=(LossBelow(1e-3), LearningRateBelow(1e-4)),
        seed=seed,
    )


def too_early(measured):
    """How many epochs short of those that must lie between two cuts, at worst."""
    cuts, least = measured.cuts, int(measured.predicted.cut_distance)
    return float(max(0, least - np.diff(cuts.astype(float), prepend=0).min(initial=np.inf)))


def ends_before_budget(results):
    ends = [str(m.status.values) for m in results.runs()]
    good = sum(e.startswith("stopped") for e in ends)
    lengths = results.measured.length.values
    spread = f"lengths {lengths.min()} to {lengths.max()} epochs"
    return holds_in_share(good, len(ends), f"{share_text(good, len(ends))}; {spread}")


def diverges(results):
    runs = list(results.runs())
    good = sum(str(m.status.values).startswith("diverged") and m.sizes["epoch"] > 0 and not m.finite for m in runs)
    kept = sum(m.sizes["epoch"] for m in runs)
    return holds_in_share(good, len(runs), f"{share_text(good, len(runs))}; {kept} epochs kept in all")


def draw(results):
    figure, axes = plt.subplots(2, 1, figsize=(WIDTH, 3.8), sharex=True)
    for measured in results.select(lr=STEADY).runs():
        axes[0].semilogy(measured.loss.values, color=BLUE, lw=0.7)
        axes[1].semilogy(measured.learning_rate.values, color=BLUE, lw=0.7, drawstyle="steps-post")
        cuts = measured.cuts - 1
        axes[0].semilogy(cuts, measured.loss.values[cuts], ".", color=ORANGE, ms=4)
    axes[0].set(ylabel="epoch loss")
    axes[1].set(ylabel="learning rate", xlabel="epoch")
    lost = int((~results.measured.finite).sum())
    axes[0].text(0.98, 0.95, f"{lost} diverged, not drawn", transform=axes[0].transAxes, ha="right", va="top", size=7)
    letters(axes)
    return figure


experiment = Experiment(
    title="Learning rate halved on stagnation: cuts, early stops and one divergence",
    source="training protocol",
    setting=setting,
    full=dict(lr=(STEADY, WILD), seed=range(12)),
    quick=dict(lr=(STEADY, WILD), seed=range(2)),
    save_at=every_epoch(100, 1000) | on_cut(after=10),
    observe=(loss,),
    predict=(FrozenAt(),),
    draw=draw,
    drawn="One line per seed, one dot per cut, at the lower of the two rates. Runs at the higher one diverge.",
    claims=(
        Claim("The loss on all data is lower ten epochs after a cut than before it, at every cut.", "ours",
              falls_at_cuts(lambda m: ratios_at_cuts(m, loss.name)), only={"lr": STEADY}, note=FALLS),
        Claim("Two cuts lie at least 20 epochs apart.", "training protocol",
              error_within(too_early, 0, "epochs too early"), only={"lr": STEADY}),
        Claim("A run ends by itself, each at its own length.", "training protocol", ends_before_budget,
              only={"lr": STEADY}),
        Claim("At a rate of 50 the run diverges, is marked, and keeps its curve.", "ours", diverges, only={"lr": WILD}),
    ),
)  # fmt: skip
