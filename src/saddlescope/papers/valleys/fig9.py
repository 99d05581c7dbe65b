"""Valleys paper, Fig. 9: Adam's loss curve with spikes, factor 2, N = 512, full batch, depth 1; with two controls.

If the spikes came from deep valleys that the optimiser enters and leaves, float64 and a third of the rate would show
them as well; if they come from rounding of a loss near machine precision, float64 would not; if from Adam's step on a
curvature that it cannot follow, the smaller rate would have fewer.
"""

import matplotlib.pyplot as plt
import numpy as np

from saddlescope.claims import Claim, Finding, counted, rated
from saddlescope.experiment import Experiment
from saddlescope.figures import BLUE, GREEN, ORANGE
from saddlescope.intervals import mean_of
from saddlescope.papers.valleys import _adam as adam
from saddlescope.papers.valleys._adam import CONTROL_WORDS, CONTROLS, listed

PLAIN = {"control": "float32"}


def setting(control, seed, lr, width, budget):
    return adam.adam_run(2, 512, 512, 1, control, seed, lr, width, budget)


SHORT = "20,000 epochs of the paper's 300,000"


def spikes(results):
    good, n = adam.enough_dips(results)
    text = f"{counted(good, n)} with a dip; dips {listed(results, 'dips')}; excursions {listed(results, 'spikes')}, "
    found = rated(good, n, text + f"the tallest {listed(results, 'tallest')} times the minimum before")
    return found if found.holds else Finding(False, found.evidence, found.partly, unclear=True)


def symmetric(results):
    """Of the runs that have dips: the median fall over the median rise lies between ½ and 2."""
    ratios = results.measured.fall_over_rise.values
    ratios = ratios[np.isfinite(ratios)]
    if not ratios.size:
        return Finding(False, "no run has a dip", unclear=True)
    good = int(np.sum((ratios >= 0.5) & (ratios <= 2)))
    text = f"{good} of {ratios.size} runs with dips; median fall over rise {', '.join(f'{r:.2g}' for r in ratios)}"
    return rated(good, ratios.size, text)


def precise(results):
    least = results.measured.least_loss.values
    good = int(np.sum(least < 1.2e-7))
    text = f"{counted(good, least.size)} below 1.2e-7; least loss {listed(results, 'least_loss')}"
    found = rated(good, least.size, text)
    return found if found.holds else Finding(False, text, found.partly, unclear=True)


def jumps_up(results):
    """The loss is within a factor of two of its running minimum in most epochs: it jumps up from a floor and comes
    back, rather than dipping from a level."""
    share = results.measured.near_floor.values
    good = int(np.sum(share > 0.5))
    return rated(good, share.size, f"share of epochs near the floor {listed(results, 'near_floor')}")


def same_in_controls(results):
    """Dips in each control, over the same rate × epochs, above half of those in float32."""
    parts = {c: results.select(control=c) for c in CONTROLS}
    if not all(part.measured.sizes["run"] for part in parts.values()):
        return None
    dips = {c: mean_of(part.measured.dips.values) for c, part in parts.items()}
    text = "; ".join(f"{CONTROL_WORDS[c]}: {m:.1f} ± {h:.1f} a run" for c, (m, h) in dips.items())
    if dips["float32"][0] < 1:
        return Finding(False, f"hardly any dip to compare with: {text}", unclear=True)
    good = [dips[c][0] > dips["float32"][0] / 2 for c in ("float64", "third")]
    return Finding(all(good), text, any(good))


def draw(results):
    figure, axes = plt.subplots(1, 3, figsize=(11, 3.3), sharey=True)
    for ax, control, colour in zip(axes, CONTROLS, (BLUE, GREEN, ORANGE), strict=True):
        runs = [m for m, _ in results.select(control=control).runs()]
        adam.show(ax, runs, colour)
        number = f"{np.mean([int(m.dips) for m in runs]):.1f} dips a run" if runs else "not run"
        ax.set_title(f"{CONTROL_WORDS[control]}: {number}", fontsize=9)
    return figure


experiment = Experiment(
    title="Adam's spikes, and whether they are valleys",
    where="Fig. 9, App. D",
    setting=setting,
    full=dict(control=CONTROLS, seed=range(5), lr=(1e-4,), width=(1024,), budget=(adam.EPOCHS,)),
    quick=dict(control=CONTROLS, seed=range(1), lr=(0.02,), width=(64,), budget=(1500,)),
    digest=adam.digest,
    draw=draw,
    claims=(
        Claim("With Adam the loss shows large spikes.", "V27 · Fig. 9", spikes, only=PLAIN),
        Claim("The spikes are symmetric, down then up.", "V28 · Fig. 9", symmetric, only=PLAIN),
        Claim("The loss reaches near machine precision.", "V29 · App. D", precise, only=PLAIN,
              note=f"not within {SHORT}"),
        Claim("The spikes are jumps up from a floor, not dips from a level.", "ours", jumps_up, only=PLAIN),
        Claim("The spikes remain in float64 and at a third of the rate, as valleys would have it.", "V30 · App. D",
              same_in_controls),
    ),
)  # fmt: skip
