"""Valleys paper, Fig. 8: log-ratio trajectories at lr 2e-3 and 2e-4, batch 4, until the loss is
0.1.

The paper describes these runs twice, in different ways. App. C.7: three cosines, N = 768, L = 3,
rank 10. App. A.3: cos(8πx), N = 5000, "3-layer" (L = 2), rank 15. The claims take C.7's, which also
names a threshold and a cap of the epochs; A.3's are run beside them. Fixed rate, second bottleneck,
x = 0.

The criterion is ours: the growth of the spread of log|f_k| over the channels, from four fifths of the
epochs to the end. The log-ratios diverge where the interval of its mean (of the logarithm) lies
above 1. They do not where it may be 1 and lies below 5/4, which a spread that grows evenly from
nothing has over the last fifth. The spread is stable where runs change it, up or down, by less than
that in the mean. (In the first form the size of the moves counted, over the spread at the end: a
spread that shrinks was then said to diverge.) Runs end while the loss drops, so that the last fifth
holds the escape. C.7 caps its runs at 400 to 2,000 epochs: at lr 2e-4 the loss is 0.1 only after
that, so that the same number is read at epoch 2,000 as well.

Whether rate or batch "control" the spread is asked of the ratio of the final spreads of one draw at
two rates, or two batches: it holds where the interval of the mean ratio lies beyond a factor of
two, it does not where it lies within. A collapse would be far beyond.
"""

import numpy as np

from saddlescope.claims import CheckResult, Claim
from saddlescope.experiment import Experiment
from saddlescope.figures import BLACK, BLUE, GREEN, ORANGE, RED, letters, panels
from saddlescope.nets import low_rank
from saddlescope.observables import LogRatios, log_sizes
from saddlescope.papers.valleys._escape import escape_run
from saddlescope.statistics import mean_of
from saddlescope.tasks import cosine
from saddlescope.training import every_epoch, log_spaced_epochs

FAST, SLOW, BATCH = 2e-3, 2e-4, 4
EVENLY, CAP = 1.25, 2000
C7, A3 = "C.7", "A.3"
EPOCHS = {C7: 4.0, A3: 2.0}  # epochs × rate; an epoch of A.3 has 1250 steps, one of C.7 192


def setting(appendix, lr, bs, seed, width):
    run = escape_run(lr, bs, seed, width=width)
    if appendix == C7:
        return run
    return run.replace(
        task=cosine(frequency=4, samples=5000), net=low_rank(15, 2, width), epochs=round(EPOCHS[A3] / lr)
    )


def save_at(appendix, lr, bs, seed, width):
    end = round(EPOCHS[appendix] / lr)
    return every_epoch(max(end // 100, 1), end) | log_spaced_epochs(100, end)


def analyse(run, setting):
    """Trajectories at about 200 of the saved instants, and what is read off them."""
    sizes, at = log_sizes(run.log_ratio_pairs.values), run.saved_epoch.values
    keep, capped = np.unique(np.linspace(0, len(at) - 1, 200).astype(int)), at <= CAP
    return {
        "log_ratio": (("instant", "pair"), run.log_ratio_pairs.values[keep]), "epoch_at": (("instant",), at[keep]),
        "growth": late_growth(at, sizes), "capped_growth": late_growth(at[capped], sizes[capped]),
        "spread": sizes[-1].std(), "first_spread": sizes[0].std(), "epochs": run.sizes["epoch"],
        "last_loss": run.loss.values[-1],
    }  # fmt: skip


def late_growth(at, sizes):
    """The spread over channels at the end, over that at four fifths of the epochs."""
    start = np.searchsorted(at, 0.8 * at[-1])
    return float(sizes[-1].std() / sizes[start].std())


def diverges(results):
    """The spread grows over the last fifth of the run, in the mean over draws of its logarithm."""
    mean, half = mean_of(_logs(results, "growth"))
    grows, even = mean - half > 0, mean + half < np.log(EVENLY)
    return CheckResult(bool(grows), _say_growth(results, "growth"), unclear=not (grows or even))


def is_stable(name="growth"):
    """Over the last fifth of the run the spread grows or shrinks by less than a factor of 5/4, in the mean over draws
    of the logarithm's size."""

    def check(results):
        mean, half = mean_of(np.abs(_logs(results, name)))
        less, more = mean + half < np.log(EVENLY), mean - half > np.log(EVENLY)
        text = f"{_say_growth(results, name)}; up or down by {_interval(mean, half)}"
        return CheckResult(bool(less), text, unclear=not (less or more))

    return check


def _logs(results, name):
    return np.log(results.measured[name].values)


def _interval(mean, half):
    low, high = np.exp([mean - half, mean + half])
    return f"{np.exp(mean):.2f}" + ("" if np.isnan(half) else f" (95 % interval {low:.2f} to {high:.2f})")


def _say_growth(results, name):
    logs, m = _logs(results, name), results.measured
    reached, late = int(np.sum(m.last_loss.values < 0.1)), int(np.sum(m.epochs.values > CAP))
    text = f"growth of the spread {_interval(*mean_of(logs))}, above 1 in {int(np.sum(logs > 0))} of {len(logs)} runs"
    return f"{text}; a loss of 0.1 was reached by {reached}, after more than {CAP:,} epochs by {late}"


def decides(axis, one, other, **where):
    """Whether a rate or a batch decides how far the channels of a draw spread, by more than a factor of two."""

    def check(results):
        spreads = [_by_seed(results.select(**where, **{axis: value})) for value in (one, other)]
        seeds = sorted(set(spreads[0]) & set(spreads[1]))
        if len(seeds) < 2:
            return None
        mean, half = mean_of([np.log(spreads[0][seed] / spreads[1][seed]) for seed in seeds])
        low, high = np.exp([mean - half, mean + half])
        beyond, within = low >= 2 or high <= 0.5, low > 0.5 and high < 2
        text = f"spread of log|f| over channels at the end, {axis} {one:g} over {other:g}: {np.exp(mean):.2f}"
        text += f" (95 % interval {low:.2f} to {high:.2f}) over {len(seeds)} draws; at first {_first(results):.2f}"
        return CheckResult(bool(beyond), text, unclear=not (beyond or within))

    return check


def _by_seed(results):
    return dict(zip(results.measured.seed.values.tolist(), results.measured.spread.values, strict=True))


def _first(results):
    return float(results.measured.first_spread.mean())


# ---- Figure ----


def draw(results):
    shown = [(a, lr) for a in results.values("appendix") for lr in results.values("lr")]
    figure, cells = panels(len(shown) + 2, 3, height=2.1)
    axes = [figure.add_subplot(cell) for cell in cells]
    for ax, (appendix, lr) in zip(axes, shown, strict=False):
        part = results.select(appendix=appendix, lr=lr, bs=BATCH)
        trajectories(ax, next(iter(part.runs())), f"App. {appendix}, learning rate {lr:g}")
    scatter(axes[-2], results)
    spreads(axes[-1], results)
    letters(axes)
    return figure


def trajectories(ax, run, title):
    ax.plot(run.epoch_at, run.log_ratio, color=BLUE, lw=0.3)
    if float(run.epochs) > CAP:
        ax.axvline(CAP, color=BLACK, ls="--", lw=0.8, label="cap of App. C.7")
        ax.legend(loc="upper right")
    ax.set(xlabel="epoch", ylabel="log-ratio of a pair", title=title)


def scatter(ax, results):
    part = results.select(bs=BATCH).measured
    for lr, colour in ((FAST, BLUE), (SLOW, ORANGE)):
        for appendix, mark in ((C7, "o"), (A3, "s")):
            at = (part.lr.values == lr) & (part.appendix.values.astype(str) == appendix)
            if at.any():
                ax.plot(part.spread[at], part.growth[at], mark, color=colour, ms=3.5, mfc="none",
                        label=f"{lr:g}, App. {appendix}")  # fmt: skip
    ax.axhline(1, color="0.6", lw=0.8)
    for factor in (1 / EVENLY, EVENLY):
        ax.axhline(factor, color=BLACK, ls="--", lw=0.8)
    ax.set(xlabel="spread at the end", ylabel="growth over the last fifth")
    ax.set(xlim=(0, 1.1 * float(part.spread.max())), ylim=(0, 1.3 * max(EVENLY, float(part.growth.max()))))
    ax.legend(title="learning rate")


def spreads(ax, results):
    """The final spread of each draw by batch, at the higher rate."""
    part = results.select(appendix=C7, lr=FAST)
    batches = sorted(part.values("bs"))
    for seed in part.values("seed"):
        m = part.select(seed=seed).measured.sortby("bs")
        ax.plot(m.bs, m.spread, "o-", color=GREEN, ms=3, lw=0.5)
    ax.axhline(_first(part), color=RED, ls=":", lw=0.9, label="mean at the start")
    ax.set(xlabel="batch size", ylabel="spread at the end", xscale="log", ylim=(0, None))
    ax.set_xticks(batches, map(str, batches))
    ax.minorticks_off()
    ax.legend()


ALIKE = "the spreads of some draws grow and those of others shrink"
PAPER = {"appendix": C7, "bs": BATCH}
experiment = Experiment(
    title="Trajectories of log-ratios at two learning rates",
    source="Fig. 8, App. A.3, C.7",
    setting=setting,
    full=dict(appendix=(C7, A3), lr=(FAST, SLOW), bs=(1, BATCH, 16), seed=range(12), width=(1024,)),
    quick=dict(appendix=(C7,), lr=(FAST,), bs=(BATCH,), seed=range(1), width=(16,)),
    where="bs == 4 and (appendix == 'C.7' or seed < 5) or (appendix == 'C.7' and lr > 1e-3)",
    save_at=save_at,
    observe=(LogRatios(),),
    analyse=analyse,
    draw=draw,
    drawn="Trajectories are those of all pairs of channels of the first draw at x = 0. Each mark is one run: above 1 "
    "its spread still grows, between the dashed lines it is stable. Lines in the last panel join the runs of one draw.",
    claims=(
        Claim("At lr 2e-3 the log-ratios diverge by the end.", "V14 · Fig. 8", diverges, only=PAPER | {"lr": FAST},
              note=ALIKE),
        Claim("At lr 2e-4 the log-ratios converge to a stable spread.", "V15 · Fig. 8", is_stable(),
              only=PAPER | {"lr": SLOW}, note=ALIKE),
        Claim("At lr 2e-4 the log-ratios are stable when App. C.7's cap of 2,000 epochs ends the run.", "ours",
              is_stable("capped_growth"), only=PAPER | {"lr": SLOW}, note=ALIKE),
        Claim("The learning rate controls whether channels specialise or collapse: by a factor of ten it changes "
              "their spread by two or more.", "V17 · Abstract", decides("lr", FAST, SLOW, appendix=C7, bs=BATCH),
              note="spreads at the end are alike, and like those at the start"),
        Claim("The batch size controls whether channels specialise or collapse: by a factor of 16 it changes their "
              "spread by two or more.", "V17 · Abstract", decides("bs", 16, 1, appendix=C7, lr=FAST),
              note="spreads at the end are alike, and like those at the start"),
        Claim("In App. A.3's setting, too, log-ratios diverge at lr 2e-3.", "ours", diverges,
              only={"appendix": A3, "lr": FAST}, note=ALIKE),
        Claim("In App. A.3's setting, too, log-ratios converge at lr 2e-4.", "ours", is_stable(),
              only={"appendix": A3, "lr": SLOW}, note=ALIKE),
    ),
)  # fmt: skip
