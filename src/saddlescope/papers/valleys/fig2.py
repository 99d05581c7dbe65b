"""Valleys paper, Fig. 2: channel partials before and after learning-rate cuts, f3_N768_bs8_L3 at
rank 10.

A partial is one rank channel's output over x. All blocks are kept; the claims are read on the last
hidden one.
"""

import matplotlib.pyplot as plt
import numpy as np

from saddlescope.checks import in_most_runs
from saddlescope.claims import Claim
from saddlescope.experiment import Experiment
from saddlescope.observables import ChannelPartials, FullLoss
from saddlescope.papers.valleys._partials import bending, extrema, leaders, show
from saddlescope.papers.valleys._runs import WIDE, around_cuts, deepest, main_run
from saddlescope.training import SaveAt, on_cut

DEPTH = 3
LAST = f"partial_{DEPTH - 1}"
loss = FullLoss()


def setting(seed, width):
    return main_run(DEPTH, seed, width)


def counts(run):
    """Extrema per channel at the start and the end, and what all cuts together added."""
    f = run[LAST].values
    before, after = around_cuts(run, LAST)
    added = sum(extrema(b) - extrema(a) for a, b in zip(before, after, strict=True))
    return extrema(f[0]), extrema(f[-1]), added


def usual(run):
    """What as many epochs as those after the cuts add on average over the run."""
    start, end, _ = counts(run)
    return (end - start) * 10 * len(around_cuts(run, LAST)[0]) / run.sizes["epoch"]


def more_structure(run):
    start, end, added = counts(run)
    return end > start and added > usual(run)


def say_structure(results):
    start, end, added = np.mean([counts(m) for m in results.runs()], axis=0)
    mean = np.mean([usual(m) for m in results.runs()])
    return (f"extrema per channel: {start:.2f} at first, {end:.2f} at the end; {added:+.2f} in ten epochs at all cuts, "
            f"{mean:+.2f} in as many epochs on average")  # fmt: skip


def in_the_middle(run):
    inside, outside = bending(run[LAST].values[-1])
    return inside > outside


def say_middle(results):
    ratios = {i: [np.divide(*bending(m[LAST].values[i])) for m in results.runs()] for i in (0, -1)}
    return (f"bending inside over outside: {np.median(ratios[-1]):.2f} at the end, {np.median(ratios[0]):.2f} at "
            "the start")  # fmt: skip


def more_leaders(run):
    return leaders(run[LAST].values[-1]) > leaders(run[LAST].values[0])


def say_leaders(results):
    both = np.mean([[leaders(m[LAST].values[i]) for i in (0, -1)] for m in results.runs()], axis=0)
    return f"channels that are largest somewhere, of 10: {both[0]:.1f} at the start, {both[1]:.1f} at the end"


def draw(results):
    run = next(iter(results.runs()))
    cut = deepest(run, loss.name) or 0
    figure, axes = plt.subplots(DEPTH, 4, figsize=(11, 2.3 * DEPTH), sharex=True)
    for block, row in enumerate(axes):
        name = f"partial_{block}"
        before, after = (f[cut] for f in around_cuts(run, name))
        shown = (("start", run[name].values[0]), (f"before cut {cut + 1}", before), ("10 epochs after", after),
                 ("end", run[name].values[-1]))  # fmt: skip
        for ax, (word, f) in zip(row, shown, strict=True):
            show(ax, f, f"block {block + 1}, {word}")
            ax.set_xlabel("x" if block == DEPTH - 1 else "")
        row[0].set_ylabel("channel outputs")
    return figure


experiment = Experiment(
    title="Channel outputs before and after learning-rate cuts",
    source="Fig. 2",
    setting=setting,
    full=dict(seed=range(12), width=(WIDE,)),
    quick=dict(seed=range(1), width=(64,)),
    save_at=SaveAt((0,)) | on_cut(after=10),
    observe=(ChannelPartials(points=401), loss),
    draw=draw,
    claims=(
        Claim("After a cut the partials develop high-frequency structure.", "V7 · Fig. 2",
              in_most_runs(more_structure, say_structure),
              note="most of the partials' oscillations are there before the first cut (1.85 of the final 2.35 in the "
              "mean)"),
        Claim("That structure is in the middle of the interval.", "V8 · Fig. 2",
              in_most_runs(in_the_middle, say_middle)),
        Claim("Channels specialise to distinct locations.", "V9 · Sec. 1 (i)", in_most_runs(more_leaders, say_leaders)),
    ),
)  # fmt: skip
