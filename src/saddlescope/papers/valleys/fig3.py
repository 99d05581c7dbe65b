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
from saddlescope.figures import BLUE, ORANGE
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


def grows(run):
    largest = run.log_ratio_max.values
    return largest[-1] > largest[0] and rank_correlation(run.saved_epoch.values, largest) > 0.5


def where_learned(check):
    """Check only nets that have learned: a last loss below a tenth of the best constant's. Others
    cannot tell.
    """

    def told(results):
        good = [m.loss.values[-1] < 0.1 * CONSTANT for m in results.runs()]
        if any(good):
            return check(results.where(np.array(good)))
        text = f"no run has learned the target (losses {listed(results)}, a constant's {CONSTANT})"
        return CheckResult(False, f"{text}; {check(results).evidence}", unclear=True)

    return told


def listed(results):
    return ", ".join(f"{m.loss.values[-1]:.2g}" for m in results.runs())


def say_growth(results):
    rows = [(m.log_ratio_max.values[0], m.log_ratio_max.values[-1], m.loss.values[-1]) for m in results.runs()]
    return "start → end (last loss): " + ", ".join(f"{a:.1f} → {b:.1f} ({loss:.2g})" for a, b, loss in rows)


def distances(run, at=-1):
    """Kolmogorov distance of all ratios, of both signs, to the uniform law on their range and to a normal law."""
    ratios = run.log_ratio_pairs.values[at]
    ratios = np.concatenate([ratios, -ratios])
    reach = np.abs(ratios).max()
    return kstest(ratios, "uniform", (-reach, 2 * reach)).statistic, kstest(ratios, "norm", (0, ratios.std())).statistic


def sizes_uniform(run):
    found = log_sizes(run.log_ratio_pairs.values[-1])
    to_uniform = kstest(found, "uniform", (found.min(), np.ptp(found))).statistic
    return to_uniform < kstest(found, "norm", (found.mean(), found.std())).statistic


def uniform(run):
    to_uniform, to_normal = distances(run)
    return to_uniform < to_normal


def say_law(results):
    ends = np.array([distances(m) for m in results.runs()])
    starts = np.array([distances(m, 0) for m in results.runs()])
    words = [f"{np.mean(d[:, 0]):.2f} to uniform, {np.mean(d[:, 1]):.2f} to normal" for d in (ends, starts)]
    return f"mean Kolmogorov distance at the end {words[0]}; at the start, untrained, {words[1]}"


def draw(results):
    figure, axes = plt.subplots(1, 3, figsize=(11, 3.3))
    for i, m in enumerate(results.runs()):
        axes[0].plot(m.saved_epoch, m.log_ratio_max, color=BLUE, lw=1.6 if i == 0 else 0.5,
                     label={0: "first seed", 1: "other seeds"}.get(i))  # fmt: skip
    run = next(iter(results.runs()))
    axes[1].plot(run.saved_epoch, run.log_ratio_pairs, color=BLUE, lw=0.3)
    for at, colour, word in ((0, "0.6", "start"), (-1, ORANGE, "end")):
        ratios = run.log_ratio_pairs.values[at]
        axes[2].hist(np.concatenate([ratios, -ratios]), bins=25, density=True, histtype="step", color=colour, lw=1.5,
                     label=word)  # fmt: skip
    axes[0].set(xlabel="epoch", ylabel="largest log-ratio at x = 0", title="maximum over pairs")
    axes[1].set(xlabel="epoch", ylabel="log-ratio of a pair", title="all pairs, first seed")
    axes[2].set(xlabel="log-ratio, both signs", ylabel="density", title="first seed")
    axes[0].legend(fontsize=7)
    axes[2].legend(fontsize=7)
    return figure


experiment = Experiment(
    title="Log-ratios of channel sizes over training",
    source="Fig. 3",
    setting=setting,
    full=dict(seed=range(5), width=(1024,), samples=(5000,)),
    quick=dict(seed=range(1), width=(64,), samples=(640,)),
    save_at=every_epoch(20, EPOCHS),
    observe=(LogRatios(),),
    draw=draw,
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
            where_learned(in_most_runs(uniform, say_law)),
            note="differences of alike channels cannot be uniform: their law has its peak at zero",
        ),
        Claim(
            "The log-sizes of the channels themselves are nearer to uniform than to normal.",
            "ours",
            in_most_runs(sizes_uniform),
            note="fifteen values are few to tell two laws apart",
        ),
    ),
)
