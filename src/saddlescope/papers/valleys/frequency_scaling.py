"""Valleys paper, App. C.8: how high a frequency, how deep a net. All maps trained, width 777, rank
10, Adam.

Target cos(12mπx) + cos(24mπx + ½) + cos(36mπx) + cos(72mπx + ½) on N = 1000, batch 100, lr 1e-3 ×
0.9 every 100 epochs, gradients clipped to norm 1. The authors' runs at m = 0.6 have 12,000 epochs.
After 6,600 the rate is below 1e-6 and weights stand still, so that 6,600 are the whole of them here.
At m = 0.3 and 1.5 runs end after 4,000, when 98.5 % of all steps, weighted by the rate, are done.
The deep net (L = 56, m = 5) had 100,000 epochs; ours has 400, at the largest rates: a blow-up there
would show the sentence, and none would not refute it. Rank 10; m ≤ 1.5 at L = 3 and 5 with five
seeds, L = 12 with one. A run is stopped when its loss is below 1e-6: it has converged, so that no
test error far below that is seen.
"""

from dataclasses import replace

import matplotlib.pyplot as plt
import numpy as np

from saddlescope.checks import groups_by, holds_in_share
from saddlescope.claims import Claim
from saddlescope.experiment import Experiment
from saddlescope.figures import BLUE, GREEN, ORANGE, WIDTH
from saddlescope.nets import low_rank
from saddlescope.observables import TestError
from saddlescope.optimisers import Adam, LossBelow, StepDecay
from saddlescope.papers.valleys._outcomes import WORKED
from saddlescope.papers.valleys._runs import ending
from saddlescope.setting import Setting
from saddlescope.tables import Table
from saddlescope.tasks import multi_frequency

DEPTHS, LOW, HIGH = (3, 5, 12), (0.3, 0.6), 1.5
DEEP = 56
NEAR = 1e-4  # ten times the largest that the paper reports: "~" is an order of magnitude
EPOCHS = {0.3: 4000, 0.6: 6600, 1.5: 4000, 5: 400}


def setting(m, L, seed, width, part):
    return Setting(
        task=multi_frequency(m, samples=1000),
        net=low_rank(10, L, width, trainable="all"),
        optimiser=Adam(lr=1e-3, clip=1.0),
        schedule=StepDecay(0.9, every=100),
        stop=LossBelow(1e-6),
        batch=100, epochs=round(part * EPOCHS[m]), precision="float32", seed=seed,
    )  # fmt: skip


def analyse(run, setting):
    return ending(run) | {"first_loss": run.loss.values[0]}


def errors(results):
    return results.measured.test_error.values


def ends(good, word, by):
    """Decided for each value of an axis as well."""

    def check(results):
        found = errors(results)
        n = int(np.sum(good(found)))
        medians = ", ".join(
            f"m = {m:g}, L = {L}: {np.median(errors(results.select(m=m, L=L))):.1e}"
            for m, L in sorted(set(zip(results.measured.m.values, results.measured.L.values, strict=True)))
        )
        text = f"{n} of {len(found)} runs {word}; median test errors {medians}"
        return holds_in_share(n, len(found), text, groups=groups_by(results, by, good(found)))

    return check


def blows_up(results):
    part = results.measured
    lost = ~part.finite.values
    grown = part.last_loss.values > 2 * part.first_loss.values
    n = int(np.sum(lost | grown))
    spread = ", ".join(f"{a:.2g} → {b:.2g}" for a, b in zip(part.first_loss.values, part.last_loss.values, strict=True))
    text = f"{n} of {len(lost)} runs not finite or above twice their start; loss {spread}"
    found = holds_in_share(n, len(lost), text)
    return found if found.holds else replace(found, unclear=True)  # the authors' runs were 250 times as long


def tables(results):
    rows = []
    for m, L in sorted(set(zip(results.measured.m.values, results.measured.L.values, strict=True))):
        found = errors(results.select(m=m, L=L))
        published = "1e-6 to 1e-5" if m in LOW else "no convergence" if m <= 2 else "blow-up"
        rows.append((float(m), int(L), len(found), published, float(np.median(found)), float(found.min()),
                     float(found.max())))  # fmt: skip
    columns = ("m", "L", "seeds", "published", "median test error", "least", "largest")
    return (Table("test_errors", "Test error by frequency and depth, rank 10, all maps trained", columns, rows),)


def draw(results):
    figure, ax = plt.subplots(figsize=(WIDTH, 3.2))
    for m, colour, mark in zip((*LOW, HIGH), (BLUE, GREEN, ORANGE), "o^s", strict=True):
        part = results.select(m=m)
        ax.semilogy(part.measured.L, part.measured.test_error, mark, color=colour, ms=5, mfc="none", label=f"m = {m:g}")
    deep = results.select(L=DEEP).measured
    ax.semilogy(deep.L, np.minimum(deep.test_error, 1e3), "x", color="k", ms=4, label="m = 5 (at most 1000)")
    ax.axhspan(1e-6, 1e-5, color=BLUE, alpha=0.15, lw=0, label="paper, m ≤ 0.6")
    ax.axhline(0.01, color="0.5", ls=":", lw=0.8)
    ax.set(xlabel="depth L", ylabel="test error", xscale="log", xticks=[*DEPTHS, DEEP],
           xticklabels=[*map(str, DEPTHS), str(DEEP)])  # fmt: skip
    ax.minorticks_off()
    ax.legend(loc="center right")
    return figure


SHALLOW = {"L": DEPTHS}
experiment = Experiment(
    title="Test error by target frequency and depth",
    source="App. C.8",
    setting=setting,
    full=dict(m=EPOCHS, L=(*DEPTHS, DEEP), seed=range(5), width=(777,), part=(1,)),
    quick=dict(m=(0.3,), L=(3,), seed=range(1), width=(128,), part=(0.1,)),
    where="(m < 2) == (L < 20) and (L != 12 or (m < 1 and seed < 1))",
    observe=(TestError(),),
    analyse=analyse,
    draw=draw,
    drawn="One mark per run. The band is what the paper reports for m ≤ 0.6; below the dotted line a run has worked.",
    tables=tables,
    claims=(
        Claim("Low frequencies (m = 0.3, 0.6) end at a test error near 1e-6 to 1e-5.", "V44 · C.8",
              ends(lambda e: e < NEAR, "below 1e-4", "m"), only={"m": LOW},
              note="at m = 0.3 all do, at each depth; at m = 0.6 one of eleven does, when the rate is below 1e-6"),
        Claim("High frequencies (m = 1.5) do not converge.", "V45 · C.8",
              ends(lambda e: ~(e < WORKED), "at 0.01 or more", "L"), only={"m": HIGH}),
        Claim("A very deep net (L = 56) blows up at m = 5.", "V46 · C.8", blows_up, only={"L": DEEP},
              note="in 400 epochs, at the largest rates, it stays where the best constant is, a loss of 2"),
    ),
)  # fmt: skip
