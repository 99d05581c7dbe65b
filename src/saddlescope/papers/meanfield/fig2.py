"""Mean-field paper, Fig. 2: rank 10 against full rank on cos(2πx), with and without momentum.

Depth 2 (the figure's "3 layers"), width 1024, 5,000 samples, batch 4, descent at .01, then .005,
.001, .0005, .0001, one lower whenever the loss stagnates (ten epochs no better than the ten before,
as in the valleys paper), gradients clipped to norm 1. "Full rank" is the paper's own: the same net
with r = 1024. A true MLP 1-1024-1024-1024-1 stands beside it. A full-rank epoch takes 130 times as
long as one of rank 10. So full rank has 250 epochs, the MLP 50, and rank 10 2,000; nets are
compared at the same epoch. The paper shows one run per curve and no length; here rank 10 has six
seeds, and full rank and the MLP have three: what is compared has the same seeds.
Losses are mean squared errors over an epoch's batches, the median of the last five epochs.
"""

import matplotlib.pyplot as plt
import numpy as np

from saddlescope.checks import always, decided_by, share_text
from saddlescope.claims import FAILS, CheckResult, Claim
from saddlescope.experiment import Experiment
from saddlescope.figures import BLACK, BLUE, GREEN, ORANGE, PURPLE, RED, SKY, WIDTH, letters
from saddlescope.nets import MLP, low_rank
from saddlescope.nets.random_feature_net import count
from saddlescope.optimisers import GradientDescent, StepDownOnStagnation
from saddlescope.papers.meanfield._numbers import above, difference, lies_within
from saddlescope.setting import Setting
from saddlescope.statistics import mean_of
from saddlescope.tables import Table
from saddlescope.tasks import cosine

LADDER = (0.01, 0.005, 0.001, 0.0005, 0.0001)
LOW, FULL, TRUE = "rank 10", "full rank", "MLP"
LENGTH = {LOW: 8.0, FULL: 1.0, TRUE: 0.2}  # budgets over that of full rank
WHEN = {"early": 0.04, "in the middle": 0.2, "late": 1.0}  # of the budget of full rank: epochs 10, 50 and 250
WINDOW, LEVEL, SEEDS = 5, 1e-3, 3  # SEEDS: of full rank and of the MLP, whose runs are long
COLOURS = {0.0: BLUE, 0.3: SKY, 0.6: GREEN, 0.7: PURPLE}


def net_of(net, width):
    return MLP((width,) * 3) if net == TRUE else low_rank(10 if net == LOW else width, 2, width)


def setting(net, momentum, seed, width, samples, epochs):
    return Setting(
        task=cosine(1, samples),
        net=net_of(net, width),
        optimiser=GradientDescent(LADDER[0], momentum or None, clip=1.0),
        schedule=StepDownOnStagnation(LADDER),
        batch=4,
        epochs=round(LENGTH[net] * epochs),
        precision="float32",
        seed=seed,
    )


def instants(epochs):
    """When losses are compared: by shares of full rank's budget, and at the end of rank 10."""
    when = {word: max(WINDOW, round(share * epochs)) for word, share in WHEN.items()}
    return when | {"at the end": round(LENGTH[LOW] * epochs)}


def log_loss(loss, epoch):
    """log10 of the loss by an epoch: infinite for a run that diverged, NaN where the run is shorter."""
    if not np.isfinite(loss).all():
        return np.inf
    return float(np.log10(np.median(loss[max(0, epoch - WINDOW) : epoch]))) if len(loss) >= epoch else np.nan


def analyse(run, made, epochs):
    """What is compared: losses at four instants and before each cut, the fall at each cut, when 1e-3 is reached."""
    loss = run.loss.values
    below = np.flatnonzero(loss < LEVEL)
    return {
        "log_loss": ("when", np.array([log_loss(loss, e) for e in instants(epochs).values()])),
        "cut": ("rung", _filled(run.cuts)),
        "log_loss_at_cut": ("rung", _filled([log_loss(loss, int(c)) for c in run.cuts])),
        "fall_at_cut": ("rung", _filled([_fall(loss, int(c)) for c in run.cuts])),
        "reached": float(below[0] + 1) if below.size and np.isfinite(loss).all() else np.inf,
    }


def _filled(values):
    """As many places as the ladder has cuts; NaN for those that a run did not come to."""
    return np.append(np.asarray(values, float), np.full(len(LADDER) - 1 - len(values), np.nan))


def _fall(loss, cut, after=10):
    """The median loss over ten epochs after a cut, relative to the ten before; NaN where the run ends before."""
    whole = cut + after <= len(loss)
    return np.median(loss[cut : cut + after]) / np.median(loss[cut - after : cut]) if whole else np.nan


def losses(results, net, word, momentum=0.0):
    place = [*WHEN, "at the end"].index(word)
    found = results.select(net=net, momentum=momentum).measured.log_loss.values[:, place]
    return found[~np.isnan(found)]


def in_pairs(results):
    """The runs of rank 10 and of full rank by the seeds that both have: full rank has fewer."""
    runs = {net: list(results.select(net=net, momentum=0.0).runs()) for net in (LOW, FULL)}
    return {net: found[: min(map(len, runs.values()))] for net, found in runs.items()}


def epoch_of(results, word):
    return instants(int(results.values("epochs")[0]))[word]


def ahead(word, other=FULL):
    """Rank 10 has the lower loss then, by the interval of the mean logarithms' difference over seeds."""

    def check(results):
        epoch, a, b = epoch_of(results, word), losses(results, LOW, word), losses(results, other, word)
        if not len(a) or not len(b):
            return None
        gap = difference(b, a)
        return decided_by(
            {word: above(*gap)},
            f"epoch {epoch}: {_shown(a)} for {LOW}, {_shown(b)} for {other}; decades between {_half(gap)}",
        )

    return check


def _half(gap):
    return f"{gap[0]:.2f}" + ("" if np.isnan(gap[1]) else f" ± {gap[1]:.2f}")


def _shown(logs):
    """The geometric mean of losses, and the factor by which seeds scatter."""
    return f"{10 ** logs.mean():.1e}" + (f" (×/÷ {10 ** logs.std(ddof=1):.1f})" if len(logs) > 1 else "")


def lower_by_rung(results):
    """Just before each cut that all runs had, rank 10 has the lower loss: the learning rates are then the same."""
    runs = in_pairs(results)
    if not runs[LOW]:
        return None
    words, texts = {}, []
    before = {net: np.array([m.log_loss_at_cut.values for m in found]) for net, found in runs.items()}
    for k in np.flatnonzero(~np.isnan(np.concatenate([*before.values()])).any(axis=0)):
        a, b = before[LOW][:, k], before[FULL][:, k]
        words[f"cut {k + 1}"] = above(*mean_of(b - a))
        texts.append(f"before cut {k + 1}: {_shown(a)} for {LOW}, {_shown(b)} for {FULL}")
    if not words:
        return CheckResult(False, "not every run of full rank had a cut within its budget", unclear=True)
    return decided_by(words, "; ".join(texts))


def vanilla_best(results):
    """At the end descent without momentum has the lower loss than each momentum, seed by seed; one that is clearly
    below it refutes the claim."""
    end, plain = epoch_of(results, "at the end"), losses(results, LOW, "at the end")
    others = {m: losses(results, LOW, "at the end", m) for m in results.values("momentum") if m > 0}
    if not len(plain) or not others:
        return None
    gaps = {m: difference(v, plain) for m, v in others.items()}
    words = {f"momentum {m:g}": above(*gap) for m, gap in gaps.items()}
    text = ", ".join(f"{m:g}: {_shown(v)}" for m, v in {0: plain, **others}.items())
    text += f"; decades above none: {', '.join(f'{m:g} {_half(gap)}' for m, gap in gaps.items())}"
    text = f"loss after {end:,} epochs by momentum {text}"
    return CheckResult(False, text) if FAILS in words.values() else decided_by(words, text)


def falls_at_cuts(results):
    """The cuts of a run are one case: all of them lower the loss. Before a cut it had not fallen for ten epochs, by
    the rule that cuts, so that a fall is no trend."""
    ratios = [m.fall_at_cut.values for m in results.select(net=LOW, momentum=0.0).runs()]
    ratios = [one[~np.isnan(one)] for one in ratios if not np.isnan(one).all()]
    if not ratios:
        return None
    good, cuts = sum(bool((one < 1).all()) for one in ratios), sum(map(len, ratios))
    listed = "; ".join(", ".join(f"{r:.2f}" for r in one) for one in ratios)
    text = f"lower after every cut in {share_text(good, len(ratios))}, {cuts} cuts"
    return always(good, len(ratios), f"{text}; after over before, by seed: {listed}")


def levels(results):
    """Rank 10 at about 1e-6, full rank at about 1e-5: half a decade to both sides, late."""
    epoch, words, texts = epoch_of(results, "late"), {}, []
    for net, level in ((LOW, -6), (FULL, -5)):
        found = losses(results, net, "late")
        if results.values("width") != [1024] or not len(found):
            return None
        words[net] = lies_within(level - 0.5, level + 0.5, *mean_of(found))
        texts.append(f"{net} {_shown(found)}")
    return decided_by(words, f"epoch {epoch}: {', '.join(texts)}")


def comparable(results):
    """With 99 % fewer parameters the loss is at most twice that of full rank, late."""
    epoch, a, b = epoch_of(results, "late"), losses(results, LOW, "late"), losses(results, FULL, "late")
    if not len(a) or not len(b):
        return None
    gap = difference(b + np.log10(2), a)
    return decided_by({"late": above(*gap)}, f"epoch {epoch}: {_shown(a)} and {_shown(b)}")


def sooner(results):
    """Rank 10 comes below a loss of 1e-3 after fewer epochs; a run that never does counts with its whole length."""
    found = {net: [float(m.reached) for m in runs] for net, runs in in_pairs(results).items()}
    if not found[LOW]:
        return None
    budget = int(results.values("epochs")[0])
    full, bound = np.array(found[FULL]), np.minimum(found[FULL], budget)
    low = np.minimum(found[LOW], round(LENGTH[LOW] * budget))
    told = np.all(np.isfinite(full) | (low < bound))  # else neither of the two was seen to be first
    gap = mean_of(np.log10(bound) - np.log10(low)) if told else (0.0, np.nan)
    text = "; ".join(f"{net}: epoch {', '.join(f'{e:g}' for e in epochs)}" for net, epochs in found.items())
    return decided_by({"below 1e-3": above(*gap)}, f"a loss below 1e-3 is reached by {text}")


def fewer(results):
    """By counting at the paper's sizes; no run is needed."""
    (low, few), (full, many), (true, _) = (count(net_of(net, 1024), 1, 1) for net in (LOW, FULL, TRUE))
    share = 100 * (1 - few / many)
    text = (
        f"trained {few:,} of {many:,}: {share:.2f} % fewer; "
        f"in total {low:,} of {full:,}: {100 * (1 - low / full):.2f} %; "
        f"in total against a true MLP of {true:,}: {100 * (1 - low / true):.1f} %"
    )
    return CheckResult(bool(98.5 <= share < 99.5), text, exact=True)


def tables(results):
    rows = []
    for net in results.values("net"):
        for momentum in results.select(net=net).values("momentum"):
            for word, epoch in instants(int(results.values("epochs")[0])).items():
                logs = losses(results, net, word, momentum)
                if len(logs):
                    spread = float(10 ** logs.std(ddof=1)) if len(logs) > 1 else None
                    rows.append((net, float(momentum), word, epoch, len(logs), float(10 ** logs.mean()), spread))
    columns = ("net", "momentum", "when", "epoch", "seeds", "loss (geometric mean)", "scatter over seeds (factor)")
    return (Table("losses", "Mean squared error on cos(2πx) over training", columns, rows),)


def draw(results):
    figure, (left, right) = plt.subplots(1, 2, figsize=(WIDTH, 3), sharey=True)
    for net, colour in ((LOW, BLUE), (FULL, ORANGE), (TRUE, BLACK)):
        for i, m in enumerate(results.select(net=net, momentum=0.0).runs()):
            left.loglog(np.arange(1, len(m.loss) + 1), m.loss, color=colour, lw=0.8, label=net if i == 0 else None)
            for k, cut in enumerate(m.cut.values if net == LOW and i == 0 else ()):
                left.axvline(cut, color=RED, lw=0.6, ls="--", label="rate cut, rank 10" if k == 0 else None)
    for k, word in enumerate(WHEN):
        left.axvline(epoch_of(results, word), color="0.8", lw=0.8, zorder=0, label=None if k else "epochs compared")
    for momentum in results.select(net=LOW).values("momentum"):
        for i, m in enumerate(results.select(net=LOW, momentum=momentum).runs()):
            right.loglog(np.arange(1, len(m.loss) + 1), m.loss, color=COLOURS.get(momentum, BLACK), lw=0.8,
                         label=f"momentum {momentum:g}" if i == 0 else None)  # fmt: skip
    left.set(xlabel="epoch", ylabel="mean squared error", title="no momentum")
    right.set(xlabel="epoch", title="rank 10 by momentum")
    letters((left, right))
    for ax in (left, right):
        if ax.get_legend_handles_labels()[0]:
            ax.legend(loc="lower left")
    return figure


LEADS = (
    "At the first learning rate full rank and the MLP have the lower loss. The first cut lowers rank 10's about a "
    "hundredfold, that of full rank four- to fivefold: so rank 10 is ahead late."
)
experiment = Experiment(
    title="Loss of rank 10, full rank and an MLP on cos(2πx), and of rank 10 with momentum",
    source="Fig. 2",
    setting=setting,
    full=dict(net=LENGTH, momentum=COLOURS, seed=range(6), width=(1024,), samples=(5000,), epochs=(250,)),
    quick=dict(net=(LOW, FULL), momentum=(0.0, 0.6), seed=range(3), width=(128,), samples=(1000,), epochs=(100,)),
    where=f"net == '{LOW}' or (momentum == 0 and seed < {SEEDS})",
    analyse=analyse,
    keep=("loss",),
    draw=draw,
    drawn="One line per run: the mean squared error over the batches of an epoch. Dashed red lines are the cuts "
    "of the learning rate of rank 10, first seed; grey lines mark the epochs at which losses are "
    "compared.",
    tables=tables,
    claims=(
        Claim("Low rank trains 99 % fewer parameters than full rank.", "M8, M9 · Sec. 1", fewer, built=True),
        Claim("Rank 10 has the lower loss early.", "M6 · ours", ahead("early"), note=LEADS),
        Claim("Rank 10 has the lower loss in the middle.", "M6 · ours", ahead("in the middle"), note=LEADS),
        Claim("Rank 10 has the lower loss late.", "M6 · Sec. 1", ahead("late")),
        Claim("Rank 10 converges faster: its loss is below 1e-3 after fewer epochs.", "M6 · abstract", sooner,
              note=LEADS),
        Claim("Rank 10 has a lower loss than a true MLP early.", "M6 · ours", ahead("early", TRUE), note=LEADS),
        Claim("Rank 10 has a lower loss than a true MLP in the middle.", "M6 · ours", ahead("in the middle", TRUE),
              note=LEADS),
        Claim("Low rank reaches a loss of about 1e-6, full rank about 1e-5.", "M7 · Sec. 1", levels),
        Claim("At the same learning rate of the ladder rank 10 has the lower loss.", "M7 · ours", lower_by_rung,
              note=LEADS),
        Claim("With 99 % fewer parameters the loss is comparable or better: at most twice that of full rank.",
              "M9 · Sec. 1", comparable),
        Claim("Descent without momentum performs best.", "M41 · Fig. 2", vanilla_best,
              note="At the same learning rates, momentum makes steps longer: at the end the loss of .6 and .7 is "
              "lower."),
        Claim("The loss drops at every cut of the learning rate.", "M42 · Fig. 2", falls_at_cuts),
    ),
)  # fmt: skip
