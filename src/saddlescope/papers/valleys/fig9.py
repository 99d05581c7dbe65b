"""Valleys paper, Fig. 9: Adam's loss curve with spikes, factor 2, N = 512, full batch, depth 1, for
the paper's 300,000 epochs; with three controls of 100,000 epochs, three times as many at a third of
the rate. Clipped, spikes come from about epoch 60,000 on.

If the spikes came from deep valleys that the optimiser enters and leaves they would be dips, and
float64 and a third of the rate would show them as well; if they come from rounding of a loss near
machine precision, float64 would not; if from Adam's step on a curvature that it cannot follow, they
are jumps up. The third control is not clipped, though App. C.1 says that all experiments are. In
their first form dips were minima between two high points, so that every floor between two jumps was
one: the rule was corrected after the runs were seen. Where jumps follow each other closely the
running median lies on them, and the floor between is a dip again: so most spikes have to be dips.
"""

from dataclasses import replace

import matplotlib.pyplot as plt
import numpy as np

from saddlescope.checks import holds_in_share, share_text
from saddlescope.claims import CheckResult, Claim
from saddlescope.experiment import Experiment
from saddlescope.figures import BLUE, GREEN, ORANGE, PURPLE, WIDTH, letters
from saddlescope.papers.valleys import _adam as adam
from saddlescope.papers.valleys._adam import CONTROL_WORDS, CONTROLS, listed
from saddlescope.statistics import mean_of

PLAIN = {"control": "float32"}
COLOURS = dict(zip(CONTROLS, (BLUE, GREEN, ORANGE, PURPLE), strict=True))


def setting(control, seed, lr, width, budget):
    return adam.adam_run(2, 512, 512, 1, control, seed, lr, width, budget)


def spikes(results):
    """Most spikes are dips; jumps up from a floor are none."""
    found = adam.are_dips(results)
    return replace(found, evidence=f"{found.evidence}; the farthest {listed(results, 'tallest')} times the median")


def precise(results):
    """Near machine precision: below the spacing of float32 at 1, the size of the targets."""
    least = results.measured.least_loss.values
    good = int(np.sum(least < 1.2e-7))
    text = f"{share_text(good, least.size)} below 1.2e-7; least loss {listed(results, 'least_loss')}"
    return holds_in_share(good, least.size, text)


def jumps_up(results):
    """More jumps than dips, and the loss within twice its running minimum in most epochs: a floor that it leaves
    upwards and comes back to."""
    share, m = results.measured.near_floor.values, results.measured
    good = int(np.sum((share > 0.5) & (m.jumps.values > m.dips.values)))
    text = f"{share_text(good, share.size)}; {adam.counts(results)}"
    floor = f"share of epochs near the floor {listed(results, 'near_floor')}"
    return holds_in_share(good, share.size, f"{text}; {floor}")


def valleys_remain(results):
    """Most spikes are dips, in float32 and in the two controls that rounding or large steps would tell apart."""
    results = results.select(control=("float32", "float64", "third"))
    return adam.are_dips(results, "control") if len(results.values("control")) == 3 else None


def clips_little(results):
    """Not clipped, runs jump as often per epoch as clipped ones, within a factor of two: intervals of the logarithm."""
    parts = [results.select(control=c).measured for c in ("free", "float32")]
    if min(part.sizes["run"] for part in parts) < 2:
        return None
    often = [np.log((part.jumps.values + 0.5) / part.epochs.values) for part in parts]
    (free, wide), (clipped, narrow) = (mean_of(values) for values in often)
    ratio, half = free - clipped, np.hypot(wide, narrow)
    low, high = np.exp([ratio - half, ratio + half])
    text = f"jumps per epoch, not clipped over clipped {np.exp(ratio):.2f} (95 % interval {low:.2f} to {high:.2f})"
    within, beyond = low > 0.5 and high < 2, high <= 0.5 or low >= 2
    return CheckResult(within, f"{text}; not clipped {adam.counts(results.select(control='free'))}",
                       unclear=not (within or beyond))  # fmt: skip


def draw(results):
    shown = [c for c in CONTROLS if results.select(control=c).measured.sizes["run"]]
    figure, axes = plt.subplots(2, len(shown), figsize=(WIDTH, 3.9), sharey="row", squeeze=False)
    for column, control in zip(axes.T, shown, strict=True):
        runs = list(results.select(control=control).runs())
        adam.show(column[0], runs[0], COLOURS[control])
        adam.show_close(column[1], runs[0], COLOURS[control])
        column[0].set_title(f"{CONTROL_WORDS[control]}\n{adam.numbers(runs)}")
    axes[0, 0].set_ylabel("epoch loss")
    axes[1, 0].set_ylabel("epoch loss")
    letters(axes.flat)
    return figure


UPWARDS = "the loss jumps up from a floor and rings down to it; of a few jumps that follow closely the floor is a dip"
experiment = Experiment(
    title="Adam: spikes in the loss, with three controls",
    source="Fig. 9, App. D",
    setting=setting,
    full=dict(control=CONTROLS, seed=range(5), lr=(1e-4,), width=(1024,), budget=(adam.EPOCHS, adam.WHOLE)),
    quick=dict(control=CONTROLS, seed=range(1), lr=(0.02,), width=(128,), budget=(3000,)),
    where="budget < 10000 or (budget > 200000) == (control == 'float32')",
    analyse=adam.analyse,
    draw=draw,
    drawn=adam.DRAWN,
    claims=(
        Claim("With Adam the loss shows large spikes, dips to very low loss and jumps back.", "V27 · Fig. 9", spikes,
              only=PLAIN, note=UPWARDS),
        Claim("The spikes are symmetric, down then up.", "V28 · Fig. 9", adam.symmetric, only=PLAIN,
              note="a jump rises faster than it falls back"),
        Claim("The loss reaches near machine precision.", "V29 · App. D", precise, only=PLAIN,
              note="5e-7 after 300,000 epochs: four times the spacing of float32 at 1, with residuals of 7e-4"),
        Claim("The spikes are jumps up from a floor, not dips from a level.", "ours", jumps_up, only=PLAIN,
              note="late jumps follow so closely that the loss is near its floor in a third of the epochs"),
        Claim("The spikes are deep valleys: dips remain in float64 and at a third of the rate.", "V30 · App. D",
              valleys_remain, note=UPWARDS),
        Claim("Clipping changes little: not clipped, the loss jumps as often, within a factor of two.", "ours",
              clips_little,
              note="clipped, jumps come tens of thousands of epochs later"),
    ),
)  # fmt: skip
