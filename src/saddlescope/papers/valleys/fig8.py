"""Valleys paper, Fig. 8: log-ratio trajectories at lr 2e-3 and 2e-4, batch 4, until the loss is
0.1.

f3_N768_bs4_L3, rank 10, fixed rate, second bottleneck, x = 0. The criterion is ours: of log|f_k|,
centred over the channels, the mean move over the last fifth of the run, relative to the spread over
channels at the end; above ¼ it diverges. Both runs end while the loss drops, so that the last fifth
holds the escape. The exponent is that of the mean displacement from the start with time, from a
hundredth of the run on.
"""

import matplotlib.pyplot as plt
import numpy as np

from saddlescope.checks import if_clear, in_most_runs
from saddlescope.claims import CheckResult, Claim
from saddlescope.experiment import Experiment
from saddlescope.figures import BLACK, BLUE, ORANGE
from saddlescope.observables import LogRatios, log_sizes
from saddlescope.papers.valleys._escape import escape_run
from saddlescope.statistics import apart, mean_of, one_more
from saddlescope.training import every_epoch, log_spaced_epochs

FAST, SLOW = 2e-3, 2e-4
MOVES = 0.25


def setting(lr, seed, width):
    return escape_run(lr, 4, seed, width=width)


def save_at(lr, seed, width):
    end = round(4 / lr)
    return every_epoch(end // 100, end) | log_spaced_epochs(100, end)


def analyse(run, setting):
    """Trajectories at about 200 of the saved instants, and what is read off them."""
    sizes, at = log_sizes(run.log_ratio_pairs.values), run.saved_epoch.values
    keep = np.unique(np.linspace(0, len(at) - 1, 200).astype(int))
    return {
        "log_ratio": (("instant", "pair"), run.log_ratio_pairs.values[keep]), "epoch_at": (("instant",), at[keep]),
        "moves": late_move(at, sizes), "exponent": displacement_exponent(at, sizes), "spread": sizes[-1].std(),
        "first_spread": sizes[0].std(), "epochs": run.sizes["epoch"], "last_loss": run.loss.values[-1],
    }  # fmt: skip


def late_move(at, sizes):
    start = np.searchsorted(at, 0.8 * at[-1])
    return float(np.mean(np.abs(sizes[-1] - sizes[start])) / sizes[-1].std())


def displacement_exponent(at, sizes):
    """Slope of log mean |Δ log-ratio| against log time."""
    moved = np.mean(np.abs(sizes - sizes[0]), axis=1)
    use = (at > 0.01 * at[-1]) & (moved > 0)
    if use.sum() < 3:
        return np.nan
    grid = np.geomspace(at[use][0], at[-1], 30)  # equal weight to every decade
    return float(np.polyfit(np.log(grid), np.log(np.interp(grid, at[use], moved[use])), 1)[0])


def number(results, name):
    return mean_of(results.measured[name].values)


def say_moves(results):
    mean, half = number(results, "moves")
    reached = int(np.sum(results.measured.last_loss.values < 0.1))
    return f"moves over spread {mean:.2f} ± {half:.2f}; a loss of 0.1 was reached by {reached}"


def exponent_is(value, lr):
    """Met by one more seed's interval (95 %); refuted outside the one of 99 %; between, the runs cannot tell."""

    def check(results):
        found = results.select(lr=lr).measured.exponent.values
        low, high = one_more(found)
        if np.isnan(low):
            return None
        least, most = one_more(found, level=0.99)
        vague = low <= 0 or (low <= 0.75 and high >= 1)  # no growth, or either published number, would do as well
        text = f"mean {found.mean():.3f}, one more seed {low:.3f} to {high:.3f} at lr {lr:g}"
        met, refuted = low <= value <= high and not vague, not least <= value <= most
        return CheckResult(bool(met), text, unclear=not met and not refuted)

    return check


def rate_decides(results):
    spreads = {lr: number(results.select(lr=lr), "spread") for lr in (FAST, SLOW)
               if results.select(lr=lr).measured.sizes["run"] > 1}  # fmt: skip
    if len(spreads) < 2:
        return None
    text = ", ".join(f"{m:.2f} ± {h:.2f} at lr {lr:g}" for lr, (m, h) in spreads.items())
    first = float(results.measured.first_spread.mean())
    text = f"spread of log|f| over channels at the end {text}; at first {first:.2f}"
    clear = apart(*spreads.values())
    return if_clear(True, clear, text)


def draw(results):
    rates = results.values("lr")
    figure, axes = plt.subplots(1, 1 + len(rates), figsize=(3.6 * (1 + len(rates)), 3.4))
    for ax, lr in zip(axes, rates, strict=False):
        run, word = (
            next(iter(results.select(lr=lr).runs())),
            {FAST: "diverge", SLOW: "converge"}.get(lr, "do neither"),
        )
        ax.plot(run.epoch_at, run.log_ratio, color=BLUE, lw=0.4)
        ax.set(xlabel="epoch", ylabel="log-ratio of a pair at x = 0", title=f"lr {lr:g}, said to {word}")
    for lr, colour in ((FAST, BLUE), (SLOW, ORANGE)):
        part = results.select(lr=lr)
        axes[-1].plot(part.measured.exponent, part.measured.moves, "o", color=colour, label=f"lr {lr:g}")
    axes[-1].axhline(MOVES, color=BLACK, ls="--", lw=0.8)
    for value, colour in ((1, BLUE), (0.75, ORANGE)):
        axes[-1].axvline(value, color=colour, ls=":", lw=1)
    axes[-1].set(xlabel="exponent of displacement (dotted: paper)", ylabel="late move over spread", title="seeds")
    axes[-1].legend(fontsize=7)
    return figure


ALIKE = "seeds differ more than the two rates do"
CROSSES = "log-ratios at one point jump whenever a channel crosses zero: they move much at once and little after"
experiment = Experiment(
    title="Trajectories of log-ratios at two learning rates",
    source="Fig. 8, App. C.7",
    setting=setting,
    full=dict(lr=(FAST, SLOW), seed=range(5), width=(1024,)),
    quick=dict(lr=(FAST,), seed=range(1), width=(16,)),
    save_at=save_at,
    observe=(LogRatios(),),
    analyse=analyse,
    draw=draw,
    claims=(
        Claim("At lr 2e-3 the log-ratios diverge by the end.", "V14 · Fig. 8",
              in_most_runs(lambda m: m.moves > MOVES, say_moves), only={"lr": FAST}, note=ALIKE),
        Claim("At lr 2e-4 the log-ratios converge to a stable spread.", "V15 · Fig. 8",
              in_most_runs(lambda m: m.moves < MOVES, say_moves), only={"lr": SLOW}, note=ALIKE),
        Claim("The exponent at lr 2e-3 is 1.", "V16 · Fig. 8", exponent_is(1, FAST), only={"lr": FAST}, note=CROSSES),
        Claim("The exponent at lr 2e-4 is 0.75.", "V16 · Fig. 8", exponent_is(0.75, SLOW), only={"lr": SLOW},
              note="the mean is half of it, and near that of the other rate; " + CROSSES),
        Claim("The learning rate decides how far channels spread. (The batch size: not tested.)", "V17 · Abstract",
              rate_decides, note=ALIKE + "; five could show only a difference of about a factor of two"),
    ),
)  # fmt: skip
