"""Our own question: what is the drop at a learning-rate cut made of? f3_N768_bs8_L3 at rank 10.

The paper: a narrow valley opens to the smaller rate. The rival: minibatch noise holds the loss
above the floor of the place it is in, and a smaller rate makes less noise. From the state at every
cut branches are followed for ten epochs, with the same order of samples: the cut; no cut; no cut,
iterates averaged (one per epoch); no cut and no noise (full-batch descent at the old rate, as many
steps, clipped alike). Losses are on all training data, a mean over the last five epochs before the
cut and of each branch, since a single instant scatters. (Before a cut there are fewer where the
rule cuts as soon as it may.)

What each number would mean. A cut is a drop if its branch ends below 0.9 of the loss before. At a
drop, in logarithms of the loss, "falls" means by half as much as the cut does, or more:
- without a cut the loss falls: the drop comes anyway;
- descent without noise falls at the old rate: it is a noise floor;
- the average of iterates at the old rate falls: they were around that place before the cut;
- sharpness × lr / 2 ≥ 1 at the old rate: the place is a valley too sharp for it, before the cut (they
  were in it) or only after (they enter it).

This was written before the first runs, with noise and average as one word, and losses at single
instants. The first runs told the two apart: averages fall, descent without noise does not. Two
branches were then added to see why: the average of the iterates of descent without noise, which
falls if that descent swings from wall to wall; and descent without noise and without clipping,
which is what plain descent at that rate would do at such a sharpness. Averages lie low in a valley
too sharp for the rate as well, so that "average" and "valley" do not exclude each other: in the
first form the order in which they were asked decided between them.
"""

import matplotlib.pyplot as plt
import numpy as np

from saddlescope.checks import holds_in_share
from saddlescope.claims import Claim
from saddlescope.experiment import Experiment
from saddlescope.figures import BLACK, BLUE, GREEN, ORANGE, PURPLE, RED, WIDTH, letters
from saddlescope.observables import Parameters
from saddlescope.papers.valleys._branches import LOST, analyse, follow
from saddlescope.papers.valleys._runs import WIDE, main_run
from saddlescope.tables import Table
from saddlescope.training import on_cut

DEPTH, DROP, CAP = 3, 0.9, 100
BRANCHES = {
    "cut": "cut", "uncut": "no cut", "averaged": "no cut, averaged", "calm": "no noise",
    "calm_averaged": "no noise, averaged", "free": "no noise, no clip",
}  # fmt: skip
KINDS = {
    "anyway": "fall without the cut", "calm": "fall without noise", "inside": "are in a sharp valley that they were in "
    "before", "entry": "are in a sharp valley only after the cut", "neither": "are none of these",
}  # fmt: skip
COLOURS = dict(zip(BRANCHES, (BLACK, ORANGE, BLUE, GREEN, PURPLE, RED), strict=True))


def setting(seed, width, cuts):
    return main_run(DEPTH, seed, width)


def drops(run):
    """At which cuts the loss drops."""
    return run["cut"].values < DROP * run["before"].values


def falls(run, name):
    """A branch falls by half as much as the cut does, in logarithms; cut by cut. Half: nearer to the cut than to
    nothing."""
    return np.log(run["before"] / run[name]).values >= np.log(run["before"] / run["cut"]).values / 2


def was_inside(run):
    """Too sharp for the old rate before the cut as well, and the average of iterates at that rate lies as low."""
    return (run.sharp_before.values >= 1) & falls(run, "averaged")


def enters(run):
    """Too sharp for the old rate after the cut, and nothing at that rate was there: no average of iterates, with noise
    or without."""
    around = falls(run, "averaged") | falls(run, "calm_averaged") | falls(run, "calm")
    return (run.sharp_after.values >= 1) & ~around


def kinds(run):
    """A word for each cut, the first that is true; an empty one where the loss does not drop."""
    true = [falls(run, "uncut"), falls(run, "calm"), was_inside(run), enters(run)]
    return np.where(drops(run), np.select(true, list(KINDS)[:4], "neither"), "")


def said(results):
    found = np.concatenate([kinds(m) for m in results.runs()])
    words = found[found != ""]
    counts = ", ".join(f"{int(np.sum(words == word))} {meaning}" for word, meaning in KINDS.items())
    return f"{len(words)} drops at {len(found)} cuts: {counts}"


def at_drops(test, say):
    """test(run), cut by cut, is true at most drops. Those of one seed may be alike: the evidence has them by seed."""

    def check(results):
        by_seed = [test(m)[drops(m)] for m in results.runs()]
        found = np.concatenate(by_seed)
        good, seeds = int(found.sum()), ", ".join(f"{int(f.sum())}/{len(f)}" for f in by_seed)
        text = f"{good} of {len(found)} drops (by seed {seeds}); {say(results)}"
        return holds_in_share(good, len(found), text if len(found) else "no cut has a drop")

    return check


def median_ratio(name):
    def say(results):
        ratios, cuts = (np.concatenate([(m[n] / m["before"]).values[drops(m)] for m in results.runs()])
                        for n in (name, "cut"))  # fmt: skip
        middle = "infinite: diverged" if np.median(ratios) > LOST else f"{np.median(ratios):.3g}"
        return f"median loss over that before {middle}, where the cut has {np.median(cuts):.2f}"

    return say


def say_sharp(results):
    before, after = (np.concatenate([m[n].values[drops(m)] for m in results.runs()])
                     for n in ("sharp_before", "sharp_after"))  # fmt: skip
    return f"median sharpness × lr / 2 at the old rate {np.median(before):.2f} before and {np.median(after):.2f} after"


def tables(results):
    rows = []
    for m in results.runs():
        for k, word in enumerate(kinds(m)):
            rows.append((int(m.seed), k + 1, int(m.cut_epoch[k]), float(m.lr[k]), float(m.before[k]),
                         *(float(m[name][k]) for name in BRANCHES), float(m.sharp_before[k]), float(m.sharp_after[k]),
                         float(m.noise_over_signal[k]), word or "no drop"))  # fmt: skip
    columns = ("seed", "cut", "epoch", "lr before", "loss before", *BRANCHES.values(), "λ lr/2 before", "λ lr/2 after",
               "noise / signal", "what it is")  # fmt: skip
    return (Table("cuts", "Every cut: training loss of six branches after ten epochs", columns, rows),)


def draw(results):
    runs = list(results.runs())
    figure, axes = plt.subplots(2, 2, figsize=(WIDTH, 4.8))
    for name, word in BRANCHES.items():
        by_cut(axes[0, 0], runs, lambda m, name=name: np.minimum(m[name] / m["before"], CAP), COLOURS[name], word)
    at_the_drops(axes[0, 1], runs)
    for name, colour, word in (("sharp_before", PURPLE, "before the cut"), ("sharp_after", RED, "ten epochs after")):
        by_cut(axes[1, 0], runs, lambda m, name=name: m[name], colour, word)
    by_cut(axes[1, 1], runs, lambda m: m.noise_over_signal, BLUE)
    for ax in (axes[0, 0], *axes[1]):
        ax.axhline(1, color="0.6", lw=0.6)
        ax.set(xlabel="number of the cut", yscale="log")
        ax.xaxis.get_major_locator().set_params(integer=True)
    axes[0, 0].set_ylabel("loss over that before")
    axes[1, 0].set_ylabel("sharpness × old rate / 2")
    axes[1, 1].set_ylabel("gradient noise over signal")
    axes[1, 0].legend()
    letters(axes.flat)
    figure.legend(*axes[0, 0].get_legend_handles_labels(), loc="outside lower center", ncols=3)
    return figure


def by_cut(ax, runs, values, colour, label=None):
    """One thin line per seed, and their median."""
    length = max(m.sizes["cut"] for m in runs)
    rows = np.full((len(runs), length), np.nan)
    for row, m in zip(rows, runs, strict=True):
        row[: m.sizes["cut"]] = values(m)
        ax.plot(np.arange(1, length + 1), row, color=colour, lw=0.3, alpha=0.6)
    ax.plot(np.arange(1, length + 1), np.nanmedian(rows, axis=0), color=colour, lw=1.3, label=label)


def at_the_drops(ax, runs):
    """Every drop a dot for each branch."""
    for k, name in enumerate(BRANCHES):
        ratios = np.concatenate([(m[name] / m["before"]).values[drops(m)] for m in runs])
        scatter = np.linspace(-0.25, 0.25, len(ratios)) if len(ratios) else ratios
        ax.plot(k + scatter, np.minimum(ratios, CAP), ".", color=COLOURS[name], ms=3)
    ax.axhline(1, color="0.6", lw=0.6)
    ax.set(yscale="log", ylabel="the same, at drops only")
    words = [word.replace(", ", ",\n") for word in BRANCHES.values()]
    ax.set_xticks(range(len(words)), words, rotation=40, ha="right")


INSIDE = "averages of iterates at the old rate lie as low: they were in that valley before the cut, swinging in it"
experiment = Experiment(
    title="What the drop at a learning-rate cut consists of: a valley or a noise floor",
    source="our own question, on Sec. 1 (iii) and 3",
    setting=setting,
    observe=(Parameters(),),
    save_at=on_cut(),
    follow=follow,
    analyse=analyse,
    full=dict(seed=range(12), width=(WIDE,), cuts=(14,)),
    quick=dict(seed=range(1), width=(64,), cuts=(3,)),
    draw=draw,
    drawn="A, C and D: thin lines are seeds, bold ones their medians. B: one dot per cut at which the loss drops. "
    "Branches continue for ten epochs from the weights before the cut; losses are on all data, ratios above 100 are "
    "drawn at 100.",
    tables=tables,
    claims=(
        Claim("Reducing the learning rate allows the drop: at the old rate it does not come in the same epochs.",
              "V5 · Abstract (3)", at_drops(lambda m: ~falls(m, "uncut"), said)),
        Claim("The cut lets the optimiser enter a valley: at the old rate it was not around the place where it goes.",
              "V5 · Abstract (3)", at_drops(enters, said), note=INSIDE),
        Claim("A drop at a cut leads down a narrow valley, too sharp for the old rate.", "V6 · Sec. 3",
              at_drops(lambda m: m.sharp_after.values >= 1, say_sharp)),
        Claim("The drop at a cut is the entry into that valley.", "V6 · Sec. 3", at_drops(enters, say_sharp),
              note=INSIDE),
        Claim("It is a sharp valley that they were already in: as sharp before the cut, and the average of the "
              "iterates at the old rate lies as low.", "ours", at_drops(was_inside, say_sharp)),
        Claim("The average of iterates at the old rate falls by half as much or more.", "ours",
              at_drops(lambda m: falls(m, "averaged"), median_ratio("averaged"))),
        Claim("It is the noise of batches alone: without it the loss falls by half as much or more at the old rate.",
              "ours", at_drops(lambda m: falls(m, "calm"), median_ratio("calm")),
              note="full-batch descent at that rate does not settle either: see the next two"),
        Claim("The average of the iterates of full-batch descent at the old rate falls by half "
              "as much or more: the descent swings from wall to wall.",
              "ours", at_drops(lambda m: falls(m, "calm_averaged"), median_ratio("calm_averaged"))),
        Claim("Without clipping full-batch descent at the old rate leaves for a loss ten times as high.", "ours",
              at_drops(lambda m: m["free"].values > 10 * m["before"].values, median_ratio("free"))),
    ),
)  # fmt: skip
