"""Valleys paper, Fig. 1: loss and fit around learning-rate cuts, f3_N768_bs8_L2 and L3 at rank 10.

The loss at a cut is the full training loss, before the cut and ten epochs after it.
"""

import matplotlib.pyplot as plt
import numpy as np

from saddlescope.checks import in_most_runs
from saddlescope.claims import Claim
from saddlescope.experiment import Experiment
from saddlescope.figures import BLUE, GREEN, ORANGE
from saddlescope.observables import Fit, FullLoss, ProminentMinima, TestError
from saddlescope.papers.valleys._runs import WIDE, around_cuts, deepest, falls_at_cuts, main_run
from saddlescope.tasks import cosine_sum
from saddlescope.training import on_cut

fit, loss = Fit(), FullLoss()
X = np.linspace(-1, 1, fit.points)
TARGET = cosine_sum(3, 768).target(X[:, None])[:, 0]
INSIDE = np.abs(X) < 0.5
count = ProminentMinima()


def setting(L, seed, width):
    return main_run(L, seed, width)


def plateau_drop_plateau(run):
    return run.stages.n_drops > 0 and flat_plateaus(run) >= 2


def flat_plateaus(run):
    """How many plateaus are flat: over the middle half of their time the loss changes by less than a factor of two."""
    middles = [run.loss.values[int(p.start + (p.end - p.start) / 4) : int(p.end - (p.end - p.start) / 4) + 1]
               for p in run.stages.plateaus]  # fmt: skip
    return sum(np.median(m[: 1 + len(m) // 4]) < 2 * np.median(m[-1 - len(m) // 4 :]) for m in middles)


def say_drops(results):
    found = [(m.stages.n_drops, flat_plateaus(m)) for m in results.runs() if m.finite]
    return f"drops and flat plateaus per run: {', '.join(f'{d} and {p}' for d, p in found)}"


def gains_inside(run):
    """At the cut with the largest fall: the error falls more inside than outside, and there are more extrema."""
    if (found := gains(run)) is None:
        return False
    inside, outside, extrema = found
    return inside > outside and extrema > 0


def gains(run):
    """At the cut with the largest fall of the loss: the mean fall of the squared error on |x| < ½ and outside, and how
    many extrema the fit gains."""
    if (cut := deepest(run, loss.name)) is None:
        return None
    before, after = (f[cut] for f in around_cuts(run, fit.name))
    fall = (before - TARGET) ** 2 - (after - TARGET) ** 2
    return fall[INSIDE].mean(), fall[~INSIDE].mean(), count(after) - count(before)


def say_gains(results):
    found = [g for g in (gains(m) for m in results.runs()) if g is not None]
    inner, extrema = [i / (i + o) for i, o, _ in found], [e for *_, e in found]
    return (f"median share of the fall that is inside: {np.median(inner):.0%}; extrema gained: "
            f"{', '.join(f'{e:g}' for e in extrema)} (half-sum of minima and maxima)")  # fmt: skip


def draw(results):
    depths = sorted(results.values("L"))
    figure, axes = plt.subplots(2, len(depths), figsize=(4.6 * len(depths), 6), squeeze=False)
    for column, depth in enumerate(depths):
        part = results.select(L=depth)
        top, below = axes[:, column]
        for i, m in enumerate(part.runs()):
            top.semilogy(m.loss.values, color=BLUE, lw=1.4 if i == 0 else 0.4, zorder=3 if i == 0 else 2,
                         label={0: "first seed", 1: "other seeds"}.get(i))  # fmt: skip
            if i == 0:
                cuts = m.cuts
                top.semilogy(cuts - 1, m.loss.values[cuts - 1], "v", color=ORANGE, ms=5, zorder=4, label="cut")
        top.set(xlabel="epoch", ylabel="epoch loss", title=f"L = {depth}")
        top.legend(fontsize=7)
        first = next(iter(part.runs()))
        show_fits(below, first)
    return figure


def show_fits(ax, run):
    """The fit before the first cuts and at the end, each moved down, over the target."""
    why = run.saved_because.values.astype(str)
    before = [i for i, w in enumerate(why) if "before cut" in w][:3]
    shown = [*before, len(why) - 1]
    for k, i in enumerate(shown):
        shift = -6.0 * k
        ax.plot(X, TARGET + shift, color=ORANGE, lw=2.2, alpha=0.6, label="target" if k == 0 else None)
        ax.plot(X, run.fit.values[i] + shift, color=BLUE, lw=1, label="fit" if k == 0 else None)
        word = "end" if i == shown[-1] else f"before cut {k + 1}"
        ax.text(1.03, shift, f"{word}\nepoch {int(run.saved_epoch[i])}", fontsize=7, va="center", color=GREEN)
    ax.set(xlabel="x", yticks=[], ylabel="fit over target", xlim=(-1, 1.45))
    ax.set_ylim(-6.0 * len(shown) + 2, 8)
    ax.legend(fontsize=7, loc="upper left", ncols=2)


NOISE = (
    "after the first few cuts the loss has nothing to drop from: ten epochs at a rate that small change it by less "
    "than the order of the batches does"
)
experiment = Experiment(
    title="Loss and fitted curve around learning-rate cuts",
    source="Fig. 1",
    setting=setting,
    full=dict(L=(2, 3), seed=range(12), width=(WIDE,)),
    quick=dict(L=(2,), seed=range(1), width=(128,)),
    save_at=on_cut(after=10),
    observe=(fit, loss, TestError()),
    draw=draw,
    claims=(
        Claim("The loss stays on a plateau, drops, and reaches another.", "V1 · Sec. 3",
              in_most_runs(plateau_drop_plateau, say_drops)),
        Claim("At each learning-rate cut the loss drops.", "V3 · Fig. 1", falls_at_cuts(loss.name), note=NOISE),
        Claim("After a cut the fit gains finer oscillations in the interior.", "V4 · Fig. 1",
              in_most_runs(gains_inside, say_gains),
              note="all three frequencies are in the fit before the first cut; a cut lowers the mean error inside and "
              "outside"),
    ),
)  # fmt: skip
