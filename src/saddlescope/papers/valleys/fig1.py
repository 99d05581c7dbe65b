"""Valleys paper, Fig. 1: loss and fit around learning-rate cuts, f3_N768_bs8_L2 and L3 at rank 10.

The loss at a cut is the full training loss, before the cut and ten epochs after it. What a cut does
to the fit is read at the cut with the largest fall.
"""

import matplotlib.pyplot as plt
import numpy as np

from saddlescope.checks import in_most_runs
from saddlescope.claims import Claim
from saddlescope.experiment import Experiment
from saddlescope.figures import BLUE, GREEN, ORANGE, SKY, WIDTH, letters
from saddlescope.observables import Fit, FullLoss, ProminentMinima, TestError
from saddlescope.papers.valleys._runs import WIDE, around_cuts, deepest, falls_at_cuts, main_run, ratios_at_cuts
from saddlescope.tasks import cosine_sum
from saddlescope.training import on_cut

fit, loss = Fit(), FullLoss()
X = np.linspace(-1, 1, fit.points)
TARGET = cosine_sum(3, 768).target(X[:, None])[:, 0]
INSIDE = np.abs(X) < 0.5
count = ProminentMinima()


def setting(L, seed, width):
    return main_run(L, seed, width)


def analyse(run, setting):
    """Drops and flat plateaus; the loss ratio at every cut; and what the cut with the largest fall does to the fit."""
    found = {
        "drops": run.stages.n_drops, "flat": flat_plateaus(run), "ratio": (("cut",), ratios_at_cuts(run, loss.name)),
        "curve": (("tick",), run.loss.values), "halved": (("halving",), run.cuts),
    }  # fmt: skip
    return found | around_deepest(run)


def flat_plateaus(run):
    """How many plateaus are flat: over the middle half of their time the loss changes by less than a factor of two."""
    middles = [run.loss.values[int(p.start + (p.end - p.start) / 4) : int(p.end - (p.end - p.start) / 4) + 1]
               for p in run.stages.plateaus]  # fmt: skip
    return sum(np.median(m[: 1 + len(m) // 4]) < 2 * np.median(m[-1 - len(m) // 4 :]) for m in middles)


def around_deepest(run):
    """At the cut with the largest fall of the loss: the errors of the fit before and ten epochs after, the mean fall of
    their square on |x| < ½ and outside, and how many extrema the fit gains."""
    cut = deepest(run, loss.name)
    before, after = (np.full(len(X), np.nan),) * 2 if cut is None else (f[cut] for f in around_cuts(run, fit.name))
    fall = (before - TARGET) ** 2 - (after - TARGET) ** 2
    return {
        "error_before": (("x",), before - TARGET), "error_after": (("x",), after - TARGET),
        "inside": fall[INSIDE].mean(), "outside": fall[~INSIDE].mean(),
        "extrema": np.nan if cut is None else count(after) - count(before), "deepest": -1 if cut is None else cut,
    }  # fmt: skip


def plateau_drop_plateau(run):
    return run.drops > 0 and run.flat >= 2


def say_drops(results):
    found = zip(results.measured.drops.values, results.measured.flat.values, strict=True)
    return f"drops and flat plateaus per run: {', '.join(f'{d} and {p}' for d, p in found)}"


def gains_inside(run):
    """The error falls more inside than outside, and there are more extrema. A run without a cut gains nothing."""
    return run.inside > run.outside and run.extrema > 0


def say_gains(results):
    m = results.measured
    inner = m.inside / (m.inside + m.outside)
    return (f"median share of the fall that is inside: {float(inner.median()):.0%}; extrema gained: "
            f"{', '.join(f'{e:g}' for e in m.extrema.values)} (half-sum of minima and maxima)")  # fmt: skip


# ---- Figure ----


def draw(results):
    depths = sorted(results.values("L"))
    figure, axes = plt.subplots(2, len(depths), figsize=(WIDTH, 4.4), squeeze=False)
    for (top, below), depth in zip(axes.T, depths, strict=True):
        runs = list(results.select(L=depth).runs())
        for i, m in reversed(list(enumerate(runs))):
            top.semilogy(m.curve, color=BLUE if i == 0 else SKY, lw=1.2 if i == 0 else 0.4,
                         label={0: "first seed", 1: "other seeds"}.get(i))  # fmt: skip
        first, cuts = runs[0], runs[0].halved.values
        top.semilogy(cuts - 1, first.curve.values[cuts - 1], "v", color=ORANGE, ms=4, label="rate halved")
        top.set(xlabel="epoch", ylabel="epoch loss", title=f"L = {depth}")
        show_errors(below, first)
    axes[0, 0].legend()
    axes[1, 0].legend(loc="lower center", ncols=2)
    letters(axes.flat)
    return figure


def show_errors(ax, run):
    """The error of the fit before the deepest cut and ten epochs after it."""
    cut = int(run.deepest)
    for name, colour, word in (("error_before", GREEN, "before the cut"), ("error_after", BLUE, "ten epochs after")):
        ax.plot(X, run[name], color=colour, lw=0.9, label=word)
    ax.axhline(0, color="0.7", lw=0.6)
    for edge in (-0.5, 0.5):
        ax.axvline(edge, color="0.7", lw=0.6, ls=":")
    high = 1.25 * np.nanmax(np.abs([run.error_before, run.error_after]))
    ax.set(xlabel="x", ylabel="fit less target", xlim=(-1, 1), ylim=(-1.3 * high, high) if high > 0 else None)
    ax.set_title(f"largest fall: cut {cut + 1}, epoch {int(run.halved[cut]) if cut >= 0 else 0}")


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
    analyse=analyse,
    draw=draw,
    drawn="Upper row: the loss, one line per seed. Lower row: the error of the first seed's fit around the cut with "
    "the largest fall of the loss; dotted lines bound the interior.",
    claims=(
        Claim("The loss stays on a plateau, drops, and reaches another.", "V1 · Sec. 3",
              in_most_runs(plateau_drop_plateau, say_drops, by="L")),
        Claim("At each learning-rate cut the loss drops.", "V3 · Fig. 1", falls_at_cuts(lambda m: m.ratio.values),
              note=NOISE),
        Claim("After a cut the fit gains finer oscillations in the interior.", "V4 · Fig. 1",
              in_most_runs(gains_inside, say_gains, by="L"),
              note="all three frequencies are in the fit before the first cut; a cut lowers the mean error inside and "
              "outside"),
    ),
)  # fmt: skip
