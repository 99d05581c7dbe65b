"""Valleys paper, Fig. 2: channel partials before and after learning-rate cuts, f3_N768_bs8_L3 at
rank 10.

A partial is one rank channel's output over x; those of the last hidden block are read. "Specialise
to distinct spatial locations" is asked of each channel: it is local if a quarter of the interval
holds half of its energy, its mean taken off. (In the first form more channels had to be the largest
somewhere than at the start, which any wiggle brings about.)
"""

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.lines import Line2D

from saddlescope.checks import in_most_runs
from saddlescope.claims import Claim
from saddlescope.experiment import Experiment
from saddlescope.figures import BLUE, GREEN, ORANGE, SKY, WIDTH, letters
from saddlescope.observables import ChannelPartials, FullLoss
from saddlescope.papers.valleys._partials import LOCAL, bending, extrema, locality, shades, show
from saddlescope.papers.valleys._runs import WIDE, around_cuts, deepest, main_run
from saddlescope.training import SaveAt, on_cut

DEPTH = 3
LAST = f"partial_{DEPTH - 1}"
loss = FullLoss()
WORDS = {"at_first": "untrained", "before": "before the cut", "after": "ten epochs after it", "at_end": "end"}


def setting(seed, width):
    return main_run(DEPTH, seed, width)


def analyse(run, setting):
    """Counts at the start, at the end and at all cuts; the channels at four instants; extrema over the run."""
    f, cut = run[LAST].values, deepest(run, loss.name) or 0
    before, after = around_cuts(run, LAST)
    bends = {f"bend_{word}": np.divide(*bending(f[i])) for word, i in (("first", 0), ("end", -1))}
    return bends | {
        "extrema": (("instant",), np.array([extrema(g) for g in f])),
        "extrema_at": (("instant",), run.saved_epoch.values),
        "added": sum(extrema(b) - extrema(a) for a, b in zip(before, after, strict=True)),
        "epochs_after": 10 * len(before), "epochs": run.sizes["epoch"], "first_cut": min(run.cuts, default=0),
        "local_first": (("channel",), locality(f[0])), "local_end": (("channel",), locality(f[-1])),
        "at_first": (("x", "channel"), f[0]), "at_end": (("x", "channel"), f[-1]),
        "before": (("x", "channel"), before[cut] if len(before) else f[0]),
        "after": (("x", "channel"), after[cut] if len(after) else f[-1]), "shown_cut": cut,
    }  # fmt: skip


def usual(run):
    """What as many epochs as those after the cuts add on average over the run."""
    return float((run.extrema[-1] - run.extrema[0]) * run.epochs_after / run.epochs)


def more_structure(run):
    return run.extrema[-1] > run.extrema[0] and run.added > usual(run)


def say_structure(results):
    start, end, added, mean = np.mean(
        [(float(m.extrema[0]), float(m.extrema[-1]), float(m.added), usual(m)) for m in results.runs()], axis=0
    )
    return (f"extrema per channel: {start:.2f} at first, {end:.2f} at the end; {added:+.2f} in ten epochs at all cuts, "
            f"{mean:+.2f} in as many epochs on average")  # fmt: skip


def bends_inside(run):
    """At the end the channels bend more inside than outside, and more so than untrained: that structure is learned."""
    return run.bend_end > max(1.0, float(run.bend_first))


def say_middle(results):
    end, first = (float(results.measured[name].median()) for name in ("bend_end", "bend_first"))
    return f"bending inside over outside: {end:.2f} at the end, {first:.2f} at the start"


def specialised(run):
    """Most channels are local at the end, and more than at the start."""
    first, end = (int(np.sum(run[name].values > LOCAL)) for name in ("local_first", "local_end"))
    return 2 * end > run.sizes["channel"] and end > first


def say_local(results):
    both = [np.mean(np.sum(results.measured[name].values > LOCAL, axis=1)) for name in ("local_first", "local_end")]
    share = float(np.median(results.measured.local_end.values))
    number = results.measured.sizes["channel"]
    return f"local channels of {number}: {both[0]:.1f} at the start, {both[1]:.1f} at the end; median share {share:.2f}"


# ---- Figure ----


def draw(results):
    runs = list(results.runs())
    figure, axes = plt.subplots(2, 3, figsize=(WIDTH, 4.2))
    for ax, (name, word) in zip(axes.flat, WORDS.items(), strict=False):
        show(ax, runs[0][name].values, word.replace("the cut", f"cut {int(runs[0].shown_cut) + 1}"))
        ax.set_ylabel("channel output")
    over_time(axes[1, 1], runs)
    localities(axes[1, 2], results)
    letters(axes.flat)
    dark, light = shades(2)
    keys = {"first channel": dark, "last channel": light}
    axes[0, 0].legend([Line2D([], [], color=c) for c in keys.values()], list(keys), loc="best")
    return figure


def over_time(ax, runs):
    for i, m in reversed(list(enumerate(runs))):
        ax.plot(m.extrema_at, m.extrema, color=BLUE if i == 0 else SKY, lw=1.2 if i == 0 else 0.4)
    ax.axvline(float(runs[0].first_cut), color=ORANGE, ls="--", lw=0.9, label="first cut")
    ax.set(xlabel="epoch", ylabel="extrema per channel", ylim=(0, None))
    ax.legend(loc="lower right")


def localities(ax, results):
    for name, colour, word in (("local_first", GREEN, "untrained"), ("local_end", BLUE, "end")):
        values = np.sort(results.measured[name].values.ravel())
        ax.plot(values, np.linspace(0, 1, len(values)), color=colour, label=word)
    ax.axvline(LOCAL, color="0.5", ls=":", lw=0.9)
    ax.set(xlabel="energy in one quarter", ylabel="share of channels", xlim=(0, 1))
    ax.legend()


experiment = Experiment(
    title="Channel outputs before and after learning-rate cuts",
    source="Fig. 2",
    setting=setting,
    full=dict(seed=range(12), width=(WIDE,)),
    quick=dict(seed=range(1), width=(64,)),
    save_at=SaveAt((0,)) | on_cut(after=10),
    observe=(ChannelPartials(points=401), loss),
    analyse=analyse,
    draw=draw,
    drawn="A to D: the channels of the last hidden block of the first seed, around the cut with the largest fall of "
    "the loss. E: one line per seed, the first bold. F: all channels of all seeds, sorted; local right of the dotted "
    "line.",
    claims=(
        Claim("After a cut the partials develop high-frequency structure.", "V7 · Fig. 2",
              in_most_runs(more_structure, say_structure),
              note="most of the partials' oscillations are there before the first cut"),
        Claim("That structure is in the middle of the interval.", "V8 · Fig. 2",
              in_most_runs(bends_inside, say_middle)),
        Claim("Channels specialise to distinct locations.", "V9 · Sec. 1 (i)", in_most_runs(specialised, say_local),
              note="channels come to oscillate over the whole interval; untrained, more of them are local"),
    ),
)  # fmt: skip
