"""Our own question: why do failed batch-1 runs end at the target's median?

Clipped to norm 1, the gradient of one sample keeps its direction and loses its size: descent
follows the sign of the error, whose fixed point among constants is the median, not the mean. If
that is the reason, batch-1 failures end at the mean without clipping, and larger batches end at the
mean in both. Factors 2 and 3, N = 64 × factor, L = 6, rank 5.
"""

import matplotlib.pyplot as plt
import numpy as np

from saddlescope.checks import groups_by, holds_in_share
from saddlescope.claims import Claim
from saddlescope.experiment import Experiment
from saddlescope.figures import BLACK, BLUE, ORANGE, WIDTH, letters
from saddlescope.observables import Fit, TestError
from saddlescope.papers.valleys._protocol import valleys
from saddlescope.papers.valleys._runs import CLIPS, ending, failed_as
from saddlescope.tables import Table
from saddlescope.theory import ConstantFit

fit = Fit()


def setting(clip, factor, bs, seed, width):
    return valleys(factor, 64 * factor, bs, 6, rank=5, seed=seed, clip=CLIPS[clip], width=width)


def analyse(run, setting):
    target = setting.task.target(np.linspace(-1, 1, fit.points))
    level = float(np.mean(run.fit.values[-1])) if run.sizes["saved"] else np.nan
    return ending(run) | {"kind": failed_as(run, target), "level": level}


def ended(clip, batches, word):
    """Among the failed runs that are constants, the share whose level is at the mean, or at the median: that is, nearer
    to it and not far from both. Decided for each factor as well."""
    other = {"mean": "median", "median": "mean"}[word]

    def check(results):
        part = results.select(clip=clip, bs=batches)
        kinds = part.measured.kind.values.astype(str)
        is_constant = np.array([kind.startswith("constant (") for kind in kinds.tolist()], bool)
        constants = kinds[is_constant]
        if not constants.size:
            text = f"none of {kinds.size} runs failed as a constant"
            return holds_in_share(0, 0, text) if kinds.size else None
        level = part.measured.level.values
        here, there = (np.abs(level - part.predicted[w].values)[is_constant] for w in (word, other))
        at = (here < there) & (constants != "constant (other)")
        good = int(np.sum(at))
        lost = int(np.sum(kinds == "diverged"))
        text = f"{good} of {constants.size} failed constants at the {word}; {lost} of {kinds.size} runs diverged"
        groups = groups_by(part.where(is_constant), "factor", at)
        return holds_in_share(good, constants.size, text, groups=groups)

    return check


def tables(results):
    rows = []
    for clip in CLIPS:
        for factor in sorted(results.values("factor")):
            for bs in sorted(results.values("bs")):
                part = results.select(clip=clip, factor=factor, bs=bs)
                kinds = part.measured.kind.values.astype(str).tolist()
                if not kinds:
                    continue
                level = float(np.median(part.measured.level.values))
                constants = (float(part.predicted[word][0]) for word in ("mean", "median"))
                counts = [kinds.count(k) for k in ("constant (mean)", "constant (median)", "constant (other)",
                                                   "partial fit", "diverged", "")]  # fmt: skip
                rows.append((clip, factor, bs, len(kinds), level, *constants, *counts))
    columns = ("clipping", "factor", "bs", "seeds", "median level", "target's mean", "target's median", "at the mean",
               "at the median", "other constant", "partial fit", "diverged", "not failed")  # fmt: skip
    return (Table("levels", "Where runs end, clipped and not, L = 6, rank 5", columns, rows),)


def draw(results):
    factors = sorted(results.values("factor"))
    figure, axes = plt.subplots(1, len(factors), figsize=(WIDTH, 2.9), squeeze=False)
    for ax, factor in zip(axes[0], factors, strict=True):
        for clip, colour, shift in (("clipped", BLUE, 0.93), ("free", ORANGE, 1.07)):
            part = results.select(clip=clip, factor=factor).measured
            failed = part.outcome.values.astype(str) == "failed"
            ax.plot(part.bs.values[failed] * shift, part.level.values[failed], "o", color=colour, ms=4, mfc="none",
                    label={"clipped": "clipped", "free": "not clipped"}[clip])  # fmt: skip
        both = results.select(factor=factor).predicted
        ax.axhline(float(both["mean"][0]), color=BLACK, lw=0.8, label="target's mean")
        ax.axhline(float(both["median"][0]), color=BLACK, lw=0.8, ls="--", label="target's median")
        ax.set(xscale="log", xlabel="batch size", ylabel="level of the fit", title=f"{factor} cosines")
        ax.set_xticks(results.values("bs"), map(str, results.values("bs")))
        ax.minorticks_off()
    letters(axes[0])
    figure.legend(*axes[0, 0].get_legend_handles_labels(), loc="outside lower center", ncols=4)
    return figure


experiment = Experiment(
    title="Gradient clipping and why failed batch-1 runs end at the target's median",
    source="our own question, on App. C.5",
    setting=setting,
    full=dict(clip=CLIPS, factor=(2, 3), bs=(1, 4, 16), seed=range(15), width=(1024,)),
    quick=dict(clip=CLIPS, factor=(2,), bs=(1, 16), seed=range(3), width=(32,)),
    observe=(TestError(), fit),
    predict=(ConstantFit(),),
    analyse=analyse,
    draw=draw,
    drawn="Circles are failed runs: the mean level of their output. Runs that diverged have none.",
    tables=tables,
    claims=(
        Claim("Clipped, failed batch-1 runs end at the median.", "ours", ended("clipped", 1, "median")),
        Claim(
            "Not clipped, failed batch-1 runs end at the mean.",
            "ours",
            ended("free", 1, "mean"),
            note="without a clip most runs diverge, and few are left to look at",
        ),
        Claim("Clipped, failed runs of batch 16 end at the mean.", "ours", ended("clipped", 16, "mean")),
    ),
)
