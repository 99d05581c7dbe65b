"""Valleys paper, Fig. 3: log-ratios of channels at x = 0 over training. L = 2, rank 15, cos(8πx), N
= 5000, batch 160.

R_ij = log|f_i| - log|f_j| at the second bottleneck. The learning rate is fixed, as App. C.7 says of
its log-ratio runs. A law of the ratios is compared at the end: of 15 channels there are 105 pairs,
not independent of each other, so that distances to two laws are compared and no test is made.
"""

import matplotlib.pyplot as plt
import numpy as np
from scipy.stats import kstest

from saddlescope.checks import in_most_runs
from saddlescope.claims import CheckResult, Claim
from saddlescope.experiment import Experiment
from saddlescope.figures import BLUE, ORANGE, SKY, WIDTH, letters
from saddlescope.nets import low_rank
from saddlescope.observables import LogRatios, log_sizes
from saddlescope.optimisers import GradientDescent
from saddlescope.setting import Setting
from saddlescope.statistics import rank_correlation
from saddlescope.tasks import cosine
from saddlescope.training import every_epoch

EPOCHS, CONSTANT = 2000, 0.5  # the best constant's loss


def setting(seed, width, samples):
    return Setting(
        task=cosine(frequency=4, samples=samples),
        net=low_rank(rank=15, depth=2, width=width),
        optimiser=GradientDescent(lr=0.01, clip=1.0),
        batch=160, epochs=EPOCHS, precision="float32", seed=seed,
    )  # fmt: skip


def analyse(run, setting):
    """The largest log-ratio over the epochs; how the ratios of all pairs and the sizes lie at the start and the end."""
    pairs, largest, at = run.log_ratio_pairs.values, run.log_ratio_max.values, run.saved_epoch.values
    found = {
        "largest": (("instant",), largest), "epoch_at": (("instant",), at), "pairs": (("instant", "pair"), pairs),
        "first_largest": largest[0], "last_largest": largest[-1], "last_loss": run.loss.values[-1],
        "trend": rank_correlation(at, largest),
    }  # fmt: skip
    for word, row in (("first", pairs[0]), ("last", pairs[-1])):
        found[f"{word}_to_uniform"], found[f"{word}_to_normal"] = distances(row)
    found["sizes_to_uniform"], found["sizes_to_normal"] = size_distances(pairs[-1])
    return found


def distances(ratios):
    """Kolmogorov distance of all ratios, of both signs, to the uniform law on their range and to a normal law."""
    ratios = np.concatenate([ratios, -ratios])
    reach = np.abs(ratios).max()
    return kstest(ratios, "uniform", (-reach, 2 * reach)).statistic, kstest(ratios, "norm", (0, ratios.std())).statistic


def size_distances(ratios):
    """The same of the sizes of the channels themselves."""
    found = log_sizes(ratios)
    to_uniform = kstest(found, "uniform", (found.min(), np.ptp(found))).statistic
    return to_uniform, kstest(found, "norm", (found.mean(), found.std())).statistic


def grows(run):
    return run.last_largest > run.first_largest and run.trend > 0.5


def where_learned(check):
    """Check only nets that have learned: a last loss below a tenth of the best constant's. Others
    cannot tell.
    """

    def told(results):
        losses = results.measured.last_loss.values
        if np.any(losses < 0.1 * CONSTANT):
            return check(results.where(losses < 0.1 * CONSTANT))
        listed = ", ".join(f"{loss:.2g}" for loss in losses)
        text = f"no run has learned the target (losses {listed}, a constant's {CONSTANT})"
        return CheckResult(False, f"{text}; {check(results).evidence}", unclear=True)

    return told


def say_growth(results):
    m = results.measured
    rows = zip(m.first_largest.values, m.last_largest.values, m.last_loss.values, strict=True)
    return "start → end (last loss): " + ", ".join(f"{a:.1f} → {b:.1f} ({loss:.2g})" for a, b, loss in rows)


def say_law(results):
    m = results.measured
    words = [f"{float(m[f'{w}_to_uniform'].mean()):.2f} to uniform, {float(m[f'{w}_to_normal'].mean()):.2f} to normal"
             for w in ("last", "first")]  # fmt: skip
    return f"mean Kolmogorov distance at the end {words[0]}; at the start, untrained, {words[1]}"


def draw(results):
    figure, axes = plt.subplots(1, 3, figsize=(WIDTH, 2.4))
    for i, m in reversed(list(enumerate(results.runs()))):
        axes[0].plot(m.epoch_at, m.largest, color=BLUE if i == 0 else SKY, lw=1.2 if i == 0 else 0.5,
                     label={0: "first seed", 1: "other seeds"}.get(i))  # fmt: skip
    run = next(iter(results.runs()))
    axes[1].plot(run.epoch_at, run.pairs, color=BLUE, lw=0.25)
    for at, colour, word in ((0, "0.6", "untrained"), (-1, ORANGE, "end")):
        ratios = run.pairs.values[at]
        axes[2].hist(np.concatenate([ratios, -ratios]), bins=25, density=True, histtype="step", color=colour, lw=1.2,
                     label=word)  # fmt: skip
    axes[0].set(xlabel="epoch", ylabel="largest log-ratio at x = 0")
    axes[1].set(xlabel="epoch", ylabel="log-ratio of a pair")
    axes[2].set(xlabel="log-ratio, both signs", ylabel="density")
    axes[0].legend()
    axes[2].legend()
    letters(axes)
    return figure


experiment = Experiment(
    title="Log-ratios of channel sizes over training",
    source="Fig. 3",
    setting=setting,
    full=dict(seed=range(5), width=(1024,), samples=(5000,)),
    quick=dict(seed=range(1), width=(64,), samples=(640,)),
    save_at=every_epoch(20, EPOCHS),
    observe=(LogRatios(),),
    analyse=analyse,
    draw=draw,
    drawn="A: one line per seed. B: all 105 pairs of channels of the first seed. C: their distribution, both signs.",
    claims=(
        Claim(
            "The largest log-ratio grows over training when channels specialise.",
            "V12 · Fig. 3",
            where_learned(in_most_runs(grows, say_growth)),
            note="at a single point the ratio is large whenever a channel crosses zero there, at any time",
        ),
        Claim(
            "A roughly uniform spread of the log-ratios shows distinct roles: they are spread so.",
            "V13 · Fig. 3",
            where_learned(in_most_runs(lambda m: m.last_to_uniform < m.last_to_normal, say_law)),
            note="differences of alike channels cannot be uniform: their law has its peak at zero",
        ),
        Claim(
            "The log-sizes of the channels themselves are nearer to uniform than to normal.",
            "ours",
            in_most_runs(lambda m: m.sizes_to_uniform < m.sizes_to_normal),
            note="fifteen values are few to tell two laws apart",
        ),
    ),
)
