"""Simplicity paper, Fig. 6: nets of four layers that skip more layers learn faster, as shallower
nets do.

Linear: the data of Fig. 1B, lr 0.01, ε = 0.005, H = 50. A skip of k layers adds the first layer's
output k layers later (Eq. 18). Beside them plain nets of two and three layers: skipping two of four
layers should be like two layers, skipping one like three. ReLU, which the paper does not define:
σ(W h) + h₁ in place of W h + h₁, on the two points of Fig. 1D. At that scale a two-layer ReLU net
has one drop only: its plateau has gone. Panel A of the figure is a drawing of the three nets.
"""

from itertools import pairwise

import matplotlib.pyplot as plt
import numpy as np

from saddlescope.checks import decided_by, holds_in_share, share_text
from saddlescope.claims import FAILS, HOLDS, UNCLEAR, CheckResult, Claim
from saddlescope.experiment import Experiment
from saddlescope.figures import BLACK, BLUE, GREEN, ORANGE, PURPLE, WIDTH, letters, shared_legend, thinned
from saddlescope.nets import DeepUnits, Identity, Neuron, ReLU, Units
from saddlescope.observables import SingularValues
from saddlescope.optimisers import GradientDescent
from saddlescope.papers.simplicity._panels import task
from saddlescope.setting import Setting
from saddlescope.statistics import same_share, student
from saddlescope.training import log_spaced

NETS = {  # hidden dense layers, layers skipped
    "two layers": ((), 0), "skip two": ((50, 50), 2), "three layers": ((50,), 0), "skip one": ((50, 50), 1),
    "no skip": ((50, 50), 0),
}  # fmt: skip
COLOURS = dict(zip(NETS, (BLACK, BLUE, PURPLE, ORANGE, GREEN), strict=True))
WORDS = {"linear": "linear units", "relu": "ReLU units"}
STYLES = {"skip two": (3.0, "-"), "two layers": (1.0, "--"), "skip one": (3.0, "-"), "three layers": (1.0, "--"),
          "no skip": (1.4, "-")}  # fmt: skip
SCALE = 0.005
ACTIVATIONS = {"linear": Identity(), "relu": ReLU()}
STEPS = {"two layers": 2000, "skip two": 2000, "three layers": 10_000, "skip one": 10_000}
FOUR = ("no skip", "skip one", "skip two")
SKIPPED = {"skip one": ("W2",), "skip two": ("W2", "W3")}
LONG = {"linear": 60_000, "relu": 300_000}


def setting(units, net, seed):
    (hidden, skip), activation = NETS[net], ACTIVATIONS[units]
    unit = Neuron(activation)
    made = DeepUnits(50, unit, hidden, SCALE, activation, skip) if hidden else Units(50, unit, SCALE)
    return Setting(
        task=task({"linear": "B", "relu": "D"}[units]), net=made, optimiser=GradientDescent(0.01),
        steps=steps(units, net), seed=seed,
    )  # fmt: skip


def steps(units, net):
    return STEPS.get(net, LONG[units])


def first_drop(run):
    return drop(run, 0)


def drop(run, k):
    """The step of a drop; infinite without it, or in a run that is not finite."""
    found = list(run.stages.drops) if run.finite else []
    return found[k].at if len(found) > k else np.inf


def times(results):
    return {net: np.array([first_drop(m) for m in results.select(net=net).runs()]) for net in results.values("net")}


def listed(found):
    return "; ".join(
        f"{net}: {'never' if np.isinf(np.median(t)) else f'{np.median(t):.0f}'}" for net, t in found.items()
    )


def faster(results):
    """The first drop of skip two before skip one before no skip, in every pair of seeds."""
    return in_order(times(results), FOUR[::-1])


def in_order(found, nets):
    """Each of these nets drops before the next, in every pair of seeds."""
    if not set(nets) <= set(found):
        return None
    good = all(found[a].max() < found[b].min() for a, b in pairwise(nets))
    return CheckResult(bool(good), f"median step of the first drop: {listed({k: found[k] for k in nets})}")


def alike(skipping, plain):
    """Each drop comes within a tenth of the other net's, by the interval of the ratio of geometric means.
    A tenth is ours: nets of one layer more or less differ by factors of nine and more."""

    def check(results):
        if not {skipping, plain} <= set(results.values("net")):
            return None
        words, texts = {}, []
        for k, name in enumerate(("first drop", "second drop")):
            pair = [np.array([drop(m, k) for m in results.select(net=net).runs()]) for net in (skipping, plain)]
            word, text = compared(*pair)
            if word:
                words[name] = word
            texts.append(f"{name} {text}")
        return decided_by(words, "; ".join(texts))

    return check


def compared(ours, theirs):
    """The word on one drop of two nets, empty where neither has it in most runs; and the numbers."""
    one, two = (t[np.isfinite(t)] for t in (ours, theirs))
    having = f"in {len(one)} of {len(ours)} and {len(two)} of {len(theirs)} runs"
    if 2 * len(one) < len(ours) and 2 * len(two) < len(theirs):
        return "", f"{having}: not compared"
    if not same_share(len(one), len(ours), len(two), len(theirs)):
        return FAILS, having
    if min(len(one), len(two)) < 2:
        return UNCLEAR, having
    low, high = ratio_interval(one, two)
    within, outside = low > 1 / 1.1 and high < 1.1, high < 1 / 1.1 or low > 1.1
    medians = f"medians {np.median(one):.0f} and {np.median(two):.0f}, ratio {np.median(one) / np.median(two):.2f}"
    word = HOLDS if within else FAILS if outside else UNCLEAR
    return word, f"{having}, {medians}; ratio of means {low:.2f} to {high:.2f}"


def ratio_interval(one, two):
    """Of the ratio of two geometric means, at 95 %: Welch's, with the degrees of freedom of the smaller sample."""
    a, b = np.log(one), np.log(two)
    half = student(min(len(a), len(b))) * np.sqrt(a.var(ddof=1) / len(a) + b.var(ddof=1) / len(b))
    return tuple(np.exp(a.mean() - b.mean() + np.array([-half, half])))


def skipped(run, names, step):
    """The largest singular value of the skipped layers at a step, over the start's and over the first layer's."""
    at = lambda name: np.interp(step, run.saved_step.values, run[f"singular_values_{name}"].values[:, 0])  # noqa: E731
    start = lambda name: run[f"singular_values_{name}"].values[0, 0]  # noqa: E731
    return max(float(at(n) / start(n)) for n in names), max(float(at(n) / at("u")) for n in names)


def skipped_stay_small(when):
    """The skipped layers have grown by less than a factor of two, at the step that `when` gives of a run. Two is ours:
    the evidence has what other factors would say."""

    def check(results):
        by_net = {net: grown(results.select(net=net), names, when) for net, names in SKIPPED.items()}
        found = np.array([row for rows in by_net.values() for row in rows])
        if not all(by_net.values()):
            return None
        (low, least), (high, most) = found.min(0), found.max(0)
        good = int(np.sum(found[:, 0] < 2))
        others = ", ".join(f"{int(np.sum(found[:, 0] < f))} below {f:g}" for f in (1.5, 3))
        text = f"grown by a factor of {low:.2g} to {high:.2g}, {others}; "
        text += f"to {least:.2g} to {most:.2g} of the first layer"
        groups = {net: (sum(g < 2 for g, _ in rows), len(rows)) for net, rows in by_net.items() if rows}
        return holds_in_share(good, len(found), f"{share_text(good, len(found))}; {text}", groups=groups)

    return check


def grown(results, names, when):
    """What is `skipped` in each run; infinite in one that is not finite, or lacks the step that `when` gives."""
    none = np.inf, np.inf
    return [skipped(m, names, when(m)) if m.finite and np.isfinite(when(m)) else none for m in results.runs()]


def two_drops(results):
    """The three nets of four layers wait between two drops."""
    by_net = {net: [m.stages.n_drops if m.finite else -1 for m in results.select(net=net).runs()] for net in FOUR}
    if not all(by_net.values()):
        return None
    counts = [count for found in by_net.values() for count in found]
    good, text = counts.count(2), f"drops {', '.join('diverged' if c < 0 else str(c) for c in counts)}"
    groups = {net: (found.count(2), len(found)) for net, found in by_net.items()}
    return holds_in_share(good, len(counts), f"{share_text(good, len(counts))}; {text}", groups=groups)


def shallower_faster(results):
    return in_order(times(results), ("two layers", "three layers", "no skip"))


def draw(results):
    words = {u: w for u, w in WORDS.items() if results.select(units=u).measured.sizes["run"]}
    figure, axes = plt.subplots(1, len(words), figsize=(WIDTH, 2.9), squeeze=False)
    for ax, (units, word) in zip(axes[0], words.items(), strict=True):
        for net, (width, line) in STYLES.items():
            for i, m in enumerate(results.select(units=units, net=net).runs()):
                at, loss = thinned(m.loss.values)
                style = {"lw": width if i == 0 else 0.3, "ls": line if i == 0 else "-", "label": None if i else net}
                ax.semilogx(at + 1, loss, color=COLOURS[net], **style)
        ax.set(title=word, xlabel="step + 1", ylabel="loss")
    letters(axes[0], "BC")
    shared_legend(figure, ncols=5)
    return figure


LINEAR, RELU = {"units": "linear"}, {"units": "relu"}
ONE_GROWS = "Two skipped layers stay as they began. A single one grows with the others, to a third of the first layer."
experiment = Experiment(
    title="Four-layer nets with longer skip connections learn faster",
    source="Fig. 6",
    setting=setting,
    full=dict(units=ACTIVATIONS, net=NETS, seed=range(20)),
    quick=dict(units=("linear",), net=[net for net in NETS if net != "no skip"], seed=range(1)),
    save_at=lambda units, net, seed: log_spaced(250, steps(units, net)),
    observe=(SingularValues(),),
    draw=draw,
    drawn="Loss of every run over logarithmic time, the first seed thick. Plain nets of two and three layers "
    "are thin dashed lines over the wide ones of the nets that skip two and one of four layers.",
    claims=(
        Claim("Linear nets that skip more layers learn faster.", "S39 · Fig. 6", faster, LINEAR),
        Claim("A linear net that skips one of four layers is like one of three.", "S39 · Fig. 6",
              alike("skip one", "three layers"), LINEAR),
        Claim("A linear net that skips two of four layers is like one of two.", "S39 · Fig. 6",
              alike("skip two", "two layers"), LINEAR),
        Claim("While the other layers escape from zero the skipped ones stay near it.", "S40 · Fig. 6",
              skipped_stay_small(first_drop), LINEAR, note=ONE_GROWS),
        Claim("The skipped layers are still near zero when all is learned.", "S40 · Fig. 6",
              skipped_stay_small(lambda m: m.saved_step.values[-1]), LINEAR, note=ONE_GROWS),
        Claim("All three linear nets go from saddle to saddle: two drops.", "S39 · Fig. 6", two_drops, LINEAR),
        Claim("Shallower linear nets learn faster.", "S59 · Fig. 6", shallower_faster, LINEAR),
        Claim("ReLU nets that skip more layers learn faster.", "S39 · Fig. 6", faster, RELU),
        Claim("A ReLU net that skips one of four layers is like one of three.", "S39 · Fig. 6",
              alike("skip one", "three layers"), RELU),
        Claim("A ReLU net that skips two of four layers is like one of two.", "S39 · Fig. 6",
              alike("skip two", "two layers"), RELU),
        Claim("In ReLU nets too the skipped layers stay near zero while the others escape.", "S40 · Fig. 6",
              skipped_stay_small(first_drop), RELU, note=ONE_GROWS),
        Claim("In ReLU nets too the skipped layers are still near zero when all is learned.", "S40 · Fig. 6",
              skipped_stay_small(lambda m: m.saved_step.values[-1]), RELU, note=ONE_GROWS),
        Claim("All three ReLU nets go from saddle to saddle: two drops.", "S39 · Fig. 6", two_drops, RELU,
              note="Not the one that skips two: at this scale it has no middle plateau, nor have two layers."),
    ),
)  # fmt: skip
