"""Our own question: what is the drop at a learning-rate cut made of? f3_N768_bs8_L3 at rank 10.

The paper: a narrow valley opens to the smaller rate. The rival: minibatch noise holds the loss
above the floor of the place it is in, and a smaller rate makes less noise. From the state at every
cut branches are followed for ten epochs, with the same order of samples: the cut; no cut; no cut,
iterates averaged (one per epoch); no cut and no noise (full-batch descent at the old rate, as many
steps, clipped alike). Losses are on all training data, a mean over the last five epochs before the
cut and of each branch, since a single instant scatters. (Before a cut there are fewer where the
rule cuts as soon as it may.)

What each number would mean. A cut is a drop if its branch ends below 0.9 of the loss before. At a
drop, in logarithms of the loss, the first that is true:
- "anyway": without a cut the loss falls by half as much or more;
- "calm": descent without noise falls by half as much or more at the old rate: a noise floor;
- "average": the average of iterates does: what lies below was within reach of the old rate;
- "valley": where the cut leads is too sharp for the old rate, sharpness × lr / 2 ≥ 1;
- "neither".

This was written before the first runs, with "calm" and "average" as one word, "noise", and losses
at single instants. The first runs told the two apart: averages fall, descent without noise does
not. Two branches were then added to see why: the average of the iterates of descent without noise,
which falls if that descent swings across a floor; and descent without noise and without clipping,
which is what plain descent at that rate would do at such a sharpness.
"""

import matplotlib.pyplot as plt
import numpy as np

from saddlescope.checks import holds_in_share
from saddlescope.claims import Claim
from saddlescope.experiment import Experiment
from saddlescope.figures import BLACK, BLUE, GREEN, ORANGE, PURPLE, RED
from saddlescope.observables import Parameters
from saddlescope.papers.valleys._branches import LOST, analyse, follow
from saddlescope.papers.valleys._runs import WIDE, main_run
from saddlescope.tables import Table
from saddlescope.training import on_cut

DEPTH, DROP = 3, 0.9
BRANCHES = {
    "cut": "cut", "uncut": "no cut", "averaged": "no cut, averaged", "calm": "no noise",
    "calm_averaged": "no noise, averaged", "free": "no noise, no clip",
}  # fmt: skip
KINDS = {
    "anyway": "fall without the cut", "calm": "fall without noise", "average": "have an average of iterates as low "
    "at the old rate", "valley": "are behind a wall too sharp for it", "neither": "are none of these",
}  # fmt: skip
COLOURS = dict(zip(BRANCHES, (BLACK, ORANGE, BLUE, GREEN, PURPLE, RED), strict=True))


def setting(seed, width, cuts):
    return main_run(DEPTH, seed, width)


def kinds(run):
    """The word for each cut; an empty one where the loss does not drop."""
    fall = {name: np.log(run["before"].values / run[name].values) for name in ("cut", "uncut", "averaged", "calm")}
    half = fall["cut"] / 2
    true = [fall["uncut"] >= half, fall["calm"] >= half, fall["averaged"] >= half, run.sharp_after.values >= 1]
    words = np.select(true, list(KINDS)[:4], "neither")
    return np.where(run["cut"].values < DROP * run["before"].values, words, "")


def behind_walls(run):
    """Where the cut leads is too sharp for the old rate, and descent without noise does not get
    there.
    """
    short = np.log(run["before"].values / run["calm"].values) < np.log(run["before"].values / run["cut"].values) / 2
    return (run.sharp_after.values >= 1) & short


def say_walls(results):
    sharp = sum(int(np.sum(m.sharp_after.values[kinds(m) != ""] >= 1)) for m in results.runs())
    return f"sharpness × lr / 2 is 1 or more after {sharp}; counted where full-batch descent gets not half as far"


def all_kinds(results):
    found = np.concatenate([kinds(m) for m in results.runs()])
    return found[found != ""], len(found)


def said(results):
    words, cuts = all_kinds(results)
    counts = ", ".join(f"{int(np.sum(words == word))} {meaning}" for word, meaning in KINDS.items())
    return f"{len(words)} drops at {cuts} cuts: {counts}"


def are(*wanted):
    def check(results):
        words, _ = all_kinds(results)
        good = int(np.sum(np.isin(words, wanted)))
        text = f"{good} of {len(words)} drops; {said(results)}"
        return holds_in_share(good, len(words), text) if len(words) else None

    return check


def at_drops(test, say):
    """test(run), cut by cut, is true at most drops."""

    def check(results):
        found = np.concatenate([test(m)[kinds(m) != ""] for m in results.runs()])
        good = int(found.sum())
        return holds_in_share(good, len(found), f"{good} of {len(found)} drops; {say(results)}") if len(found) else None

    return check


def falls_enough(name):
    """A branch falls by half as much as the cut does, in logarithms."""
    return lambda run: np.log(run["before"] / run[name]).values >= np.log(run["before"] / run["cut"]).values / 2


def median_ratio(name):
    def say(results):
        ratios = np.concatenate([(m[name] / m["before"]).values[kinds(m) != ""] for m in results.runs()])
        cuts = np.concatenate([(m["cut"] / m["before"]).values[kinds(m) != ""] for m in results.runs()])
        middle = "infinite: diverged" if np.median(ratios) > LOST else f"{np.median(ratios):.3g}"
        return f"median loss over that before {middle}, where the cut has {np.median(cuts):.2f}"

    return say


def sharp_in_general(results):
    """At the drops: sharpness × lr / 2 before the cut is 1 or more."""
    at = [(m.sharp_before.values[k], m.sharp_after.values[k]) for m in results.runs()
          for k in np.flatnonzero(kinds(m) != "")]  # fmt: skip
    if not at:
        return None
    before, after = np.transpose(at)
    good = int(np.sum(before >= 1))
    text = f"median sharpness × lr / 2 at the old rate {np.median(before):.2f} before and {np.median(after):.2f} after"
    return holds_in_share(good, len(before), f"{good} of {len(before)} drops; {text}")


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
    figure, axes = plt.subplots(1, 3, figsize=(12, 3.6))
    for i, m in enumerate(results.runs()):
        at = np.arange(1, m.sizes["cut"] + 1)
        for name, word in BRANCHES.items():
            ratio = np.minimum(m[name].values / m["before"].values, 100)
            axes[0].semilogy(at, ratio, color=COLOURS[name], lw=1.6 if i == 0 else 0.5, label=word if i == 0 else None)
        for name, colour in (("sharp_before", PURPLE), ("sharp_after", RED)):
            word = {"sharp_before": "before the cut", "sharp_after": "ten epochs after"}[name]
            style = "-" if name == "sharp_before" else "--"
            axes[1].semilogy(
                at, m[name], style, color=colour, lw=1.6 if i == 0 else 0.5, label=word if i == 0 else None
            )
        axes[2].semilogy(at, m.noise_over_signal, color=BLUE, lw=1.6 if i == 0 else 0.5)
    axes[0].axhline(1, color="0.6", lw=0.6)
    axes[1].axhline(1, color="0.6", lw=0.6)
    axes[2].axhline(1, color="0.6", lw=0.6)
    axes[0].set(xlabel="cut", ylabel="loss over that before the cut", title="ten epochs on, by branch")
    axes[1].set(xlabel="cut", ylabel="sharpness × old rate / 2", title="too sharp above 1")
    axes[2].set(xlabel="cut", ylabel="gradient noise over signal", title="a batch of 8, before the cut")
    axes[0].legend(fontsize=7)
    axes[1].legend(fontsize=7)
    return figure


experiment = Experiment(
    title="What the drop at a learning-rate cut consists of: a valley or a noise floor",
    source="our own question, on Sec. 1 (iii) and 3",
    setting=setting,
    observe=(Parameters(),),
    save_at=on_cut(),
    follow=follow,
    analyse=analyse,
    full=dict(seed=range(5), width=(WIDE,), cuts=(14,)),
    quick=dict(seed=range(1), width=(64,), cuts=(3,)),
    draw=draw,
    tables=tables,
    claims=(
        Claim("Reducing the learning rate allows the drop: at the old rate it does not come in the same epochs.",
              "V5 · Abstract (3)", are("calm", "average", "valley", "neither")),
        Claim("The cut allows the optimiser to enter a valley: what lies below is not reached at the "
              "old rate, neither by averaging iterates nor without the noise of batches.",
              "V5 · Abstract (3)", are("valley", "neither"),
              note="the average of the iterates at the old rate lies as low: the floor was under them all along"),
        Claim("The drop at a cut is the entry into a valley too sharp for the old rate.", "V6 · Sec. 3",
              at_drops(behind_walls, say_walls),
              note="it is sharp, and descent without noise does not settle there; but it is not an "
              "entry: see the average"),
        Claim("The average of iterates at the old rate falls by half as much or more.", "ours",
              at_drops(falls_enough("averaged"), median_ratio("averaged"))),
        Claim("Without the noise of batches the loss falls by half as much or more at the old rate.", "ours",
              at_drops(falls_enough("calm"), median_ratio("calm")),
              note="full-batch descent at that rate does not settle either: see the next two"),
        Claim("The average of the iterates of full-batch descent at the old rate falls by half "
              "as much or more: the descent swings across a floor.",
              "ours", at_drops(falls_enough("calm_averaged"), median_ratio("calm_averaged"))),
        Claim("Without clipping full-batch descent at the old rate leaves for a loss ten times as high.", "ours",
              at_drops(lambda run: run["free"].values > 10 * run["before"].values, median_ratio("free"))),
        Claim("Before a drop the loss is too sharp for plain descent at that rate.", "ours",
              sharp_in_general),
    ),
)  # fmt: skip
