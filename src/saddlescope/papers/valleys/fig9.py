"""Valleys paper, Fig. 9: Adam's loss curve with spikes, factor 2, N = 512, full batch, depth 1; with two controls.

If the spikes came from deep valleys that the optimiser enters and leaves, float64 and a third of the rate would show
them as well; if they come from rounding of a loss near machine precision, float64 would not; if from Adam's step on a
curvature that it cannot follow, the smaller rate would have fewer.
"""

import matplotlib.pyplot as plt
import numpy as np

from saddlescope.claims import Claim, Finding, mostly
from saddlescope.experiment import Experiment
from saddlescope.figures import BLUE, GREEN, ORANGE
from saddlescope.papers.valleys import _adam as adam
from saddlescope.papers.valleys._adam import CONTROL_WORDS, CONTROLS, listed

PLAIN = {"control": "float32"}


def setting(control, seed, lr, width, epochs):
    return adam.adam_run(2, 512, 512, 1, control, seed, lr, width, epochs)


def spikes(run, _):
    return int(run.spikes) > 0


def say_spikes(results):
    return f"spikes {listed(results, 'spikes')}; tallest, over the minimum before: {listed(results, 'tallest')}"


def symmetric(run, _):
    return 0.5 <= float(run.fall_over_rise) <= 2


def say_dips(results):
    return f"dips {listed(results, 'dips')}; median fall over rise {listed(results, 'fall_over_rise')}"


def precise(run, _):
    return float(run.least_loss) < 1.2e-7


def same_in_controls(results):
    """Spikes an epoch in each control above half of those in float32."""
    rates = {c: float(results.select(control=c).measured.spikes.mean()) for c in CONTROLS
             if results.select(control=c).measured.sizes["run"]}  # fmt: skip
    if len(rates) < 3 or rates["float32"] == 0:
        return None
    good = [rates[c] > rates["float32"] / 2 for c in ("float64", "third")]
    text = "; ".join(f"{CONTROL_WORDS[c]}: {n:.1f} a run" for c, n in rates.items())
    return Finding(all(good), text, any(good))


def draw(results):
    figure, axes = plt.subplots(1, 3, figsize=(11, 3.3), sharey=True)
    for ax, control, colour in zip(axes, CONTROLS, (BLUE, GREEN, ORANGE), strict=True):
        runs = [m for m, _ in results.select(control=control).runs()]
        adam.show(ax, runs, colour)
        number = f"{np.mean([int(m.spikes) for m in runs]):.1f} spikes a run" if runs else "not run"
        ax.set_title(f"{CONTROL_WORDS[control]}: {number}", fontsize=9)
    return figure


experiment = Experiment(
    title="Adam's spikes, and whether they are valleys",
    where="Fig. 9, App. D",
    setting=setting,
    full=dict(control=CONTROLS, seed=range(5), lr=(1e-4,), width=(1024,), epochs=(adam.EPOCHS,)),
    quick=dict(control=CONTROLS, seed=range(1), lr=(0.02,), width=(64,), epochs=(1500,)),
    digest=adam.digest,
    draw=draw,
    claims=(
        Claim("With Adam the loss shows large spikes.", "V27 · Fig. 9", mostly(spikes, say_spikes), only=PLAIN),
        Claim("The spikes are symmetric, down then up.", "V28 · Fig. 9", mostly(symmetric, say_dips), only=PLAIN),
        Claim("The loss reaches near machine precision.", "V29 · App. D",
              mostly(precise, lambda r: f"least loss {listed(r, 'least_loss')}"), only=PLAIN),
        Claim("The spikes show deep valleys: float64 and a smaller rate have them too.", "V30 · App. D",
              same_in_controls),
    ),
)  # fmt: skip
