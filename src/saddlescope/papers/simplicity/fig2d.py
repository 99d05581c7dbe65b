"""Simplicity paper, Fig. 2D: larger initial weights shorten the plateaus; the rank still grows one
by one.

κ = 1, H = 100, isotropic weights of scale ε from 1e-6 to 0.1.
"""

import matplotlib.pyplot as plt
import numpy as np

from saddlescope.checks import groups_by, holds_in_share, share_text
from saddlescope.claims import Claim
from saddlescope.experiment import Experiment
from saddlescope.figures import WIDTH
from saddlescope.observables import LearnedModes
from saddlescope.papers.simplicity import _fig2 as fig2
from saddlescope.papers.simplicity._groups import falling, in_each_seed
from saddlescope.theory import DropSchedule, LinearLevels
from saddlescope.training import every

SCALES = (1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 1e-1)
INTERMEDIATE = (1e-4, 1e-3, 1e-2)
LARGE = 1e-1
STEPS = 1200
NEVER = -1.0
learned = LearnedModes()


def setting(scale, seed):
    return fig2.linear_run(seed, scale=scale, steps=STEPS)


def predict(scale, seed):
    """Levels, and when each mode is learned; large initial weights have no closed form."""
    return (LinearLevels(), DropSchedule()) if scale < LARGE else (LinearLevels(),)


def analyse(run, made):
    """The first saved steps at which the modes are half learned or more; -1 for one that never is."""
    share, at = run[learned.name].values, run.saved_step.values
    half = [float(at[np.argmax(of >= 0.5)]) if of.max() >= 0.5 else NEVER for of in share.T]
    return {"half_step": (("mode",), np.array(half))}


def half_steps(run):
    half = run.half_step.values
    return np.where(half == NEVER, np.inf, half)


def on_plateaus(run):
    """Steps of the loss curve on plateaus that a drop ends."""
    ends = [d.at for d in run.stages.drops]
    return sum(p.end - p.start for p in run.stages.plateaus if any(p.start < at for at in ends))


def median_times(results):
    times = fig2.medians(results, "scale", on_plateaus)
    return f"steps of the loss on plateaus before its drops, median by ε {fig2.listed(times)}"


less_time = in_each_seed("scale", on_plateaus, falling, median_times)


def waits(run):
    """Steps from the start to half of the first mode, from there to half of the second, and on to the third."""
    return np.diff([0.0, *half_steps(run)])


def median_waits(results):
    found = [[waits(m) for m in results.select(scale=s).runs()] for s in sorted(results.values("scale"))]
    times = dict(zip(sorted(results.values("scale")), np.median(found, axis=1), strict=True))
    counts = {s: [m.stages.n_drops for m in results.select(scale=s).runs()] for s in results.values("scale")}
    drops = "; ".join(f"{s:g}: {np.mean(c):.1f}" for s, c in counts.items())
    by = "; ".join(f"{s:g}: {', '.join(f'{w:.0f}' for w in wait)}" for s, wait in times.items())
    return f"steps to half of the first mode, to the next, to the third, median by ε {by}; drops {drops}"


shorter = in_each_seed("scale", waits, falling, median_waits)  # each of the three


def in_order(results):
    """The modes are half learned one after the other, at intermediate scales."""
    good = [bool(np.all(np.diff(half_steps(m)) > 0)) for m in results.runs()]
    text = f"{share_text(sum(good), len(good))}; {half_times(results)}"
    return holds_in_share(sum(good), len(good), text, groups=groups_by(results, "scale", good))


def half_times(results):
    of = lambda scale: [half_steps(m) for m in results.select(scale=scale).runs()]  # noqa: E731
    medians = {scale: np.median(of(scale), axis=0) for scale in results.values("scale")}
    return "steps to half of each mode " + "; ".join(
        f"ε {scale:g}: {', '.join(f'{step:.0f}' for step in steps)}" for scale, steps in medians.items()
    )


def no_drop(results):
    counts = [m.stages.n_drops for m in results.runs()]
    good = counts.count(0)
    return holds_in_share(good, len(counts), f"no drop in {share_text(good, len(counts))}; {half_times(results)}")


def draw(results):
    figure, ax = plt.subplots(figsize=(WIDTH, 2.8))
    fig2.curves(ax, results, "scale", SCALES, lambda s: f"ε = {s:g}")
    ax.set(xlim=(0, 900), ylim=(-0.01, 0.75))  # room for the legend
    return figure


experiment = Experiment(
    title="Larger initial weights shorten the plateaus",
    source="Fig. 2D",
    setting=setting,
    full=dict(scale=SCALES, seed=range(11)),
    quick=dict(scale=(1e-6, 1e-3, 1e-1), seed=range(1)),
    save_at=every(4, STEPS),
    observe=(learned,),
    predict=predict,
    analyse=analyse,
    keep=("loss",),
    draw=draw,
    drawn="Loss by the scale ε of the initial weights, the first seed of each thick, the others thin. Dashed: "
    "levels of Lemma 6. Crosses: drops predicted from the first seed's draw, but for the largest scale.",
    claims=(
        Claim("A larger scale gradually shortens the plateaus: the loss spends less time on them.", "S33 · Fig. 2D",
              less_time),
        Claim("From a larger scale each mode follows sooner on the one before, by the times at which modes are half "
              "learned.", "S33 · Fig. 2D", shorter),
        Claim("At intermediate scales solutions still grow in complexity: mode after mode.", "S33 · Fig. 2D", in_order,
              {"scale": INTERMEDIATE}),
        Claim("From large isotropic weights there is no plateau and no drop.", "S36 · Section 7", no_drop,
              {"scale": LARGE}),
    ),
)  # fmt: skip
