"""Mean-field paper, Fig. 5 and 6: log-ratios of channels at x = 0 over training, beside the loss and untrained nets.

R_ij = log|f_i| - log|f_j| at the second bottleneck. Depth 2 (the figures' "3 layers"), rank 15,
ReLU, width 1024, cos(8πx), 5,000 samples, descent at .01 in batches of 160, clipped to norm 1. The
captions say 20 epochs, Table 2 and App. I say 10,000. Here one run of 10,000 epochs shows both ends:
it is read at each of the first 20 epochs and later. The paper has one seed; here are twelve. What an
untrained net shows is read at epoch 0 of every run. A ratio is large at one point whenever a
channel is near zero there, so the paper's maximum is large without training. Growth is the mean
change over seeds, by its interval; in how many runs it is a steady rise is said beside it.
"""

import matplotlib.pyplot as plt
import numpy as np

from saddlescope.checks import decided_by, holds_in_share
from saddlescope.claims import CheckResult, Claim
from saddlescope.experiment import Experiment
from saddlescope.figures import BLUE, ORANGE, RED, WIDTH, letters
from saddlescope.nets import low_rank
from saddlescope.observables import FullLoss, LogRatios, log_sizes
from saddlescope.optimisers import GradientDescent
from saddlescope.papers.meanfield._numbers import above
from saddlescope.setting import Setting
from saddlescope.statistics import mean_of, rank_correlation
from saddlescope.tables import Table
from saddlescope.tasks import cosine
from saddlescope.training import every_epoch, log_spaced_epochs

CAPTION = 20  # epochs, as the captions say
CONSTANT = 0.5  # the best constant's loss
MOVED, LEARNED = 0.95 * CONSTANT, 0.1 * CONSTANT


def setting(seed, width, samples, epochs):
    return Setting(
        task=cosine(frequency=4, samples=samples),
        net=low_rank(rank=15, depth=2, width=width),
        optimiser=GradientDescent(lr=0.01, clip=1.0),
        batch=160,
        epochs=epochs,
        precision="float32",
        seed=seed,
    )


def save_at(epochs, **_):
    return every_epoch(1, min(CAPTION, epochs)) | log_spaced_epochs(40, epochs)


def analyse(run, made):
    """The largest ratio, the spread of all and the loss at each epoch that is read; all ratios at both ends."""
    pairs = run.log_ratio_pairs.values
    return {
        "at": ("instant", run.saved_epoch.values),
        "largest": ("instant", run.log_ratio_max.values),
        "spread": ("instant", log_sizes(pairs).std(axis=-1)),
        "level": ("instant", run.full_loss.values),
        "pairs": (("end", "pair"), pairs[[0, -1]]),
    }


def read(run, name, epoch):
    """One of these numbers at an epoch."""
    return float(run[name].values[np.argmin(np.abs(run["at"].values - epoch))])


def largest(run, epoch):
    return read(run, "largest", epoch)


def last_epoch(results):
    return int(results.values("epochs")[0])


def grown_by(epoch):
    """The largest log-ratio is above that of the untrained net, by the interval of the mean change over seeds.

    A run that is not finite has no change: then the word is open.
    """

    def check(results):
        end, runs = epoch or last_epoch(results), list(results.runs())
        change = np.array([largest(m, end) - largest(m, 0) if m.finite else np.nan for m in runs])
        order = [_order(m, end) for m in runs if m.finite]
        steady = f"larger in {int(np.sum(change > 0))} of {len(runs)} runs; rank correlation with the epoch "
        text = f"{steady}{np.mean(order):+.2f} in the mean; {_said(results, end)}"
        return decided_by({f"epoch {end}": above(*mean_of(change))}, text)

    return check


def _order(run, end):
    """Spearman's correlation of the largest log-ratio with the epoch: 1 for a steady rise."""
    upto = run["at"].values <= end
    return rank_correlation(run["at"].values[upto], run.largest.values[upto])


def _said(results, end):
    start, then = (np.array([largest(m, e) for m in results.runs()]) for e in (0, end))
    loss = np.mean([read(m, "level", end) for m in results.runs()])
    mean, half = mean_of(then - start)
    return (
        f"untrained {start.mean():.2f} (deviation over seeds {_deviation(start):.2f}), epoch {end} {then.mean():.2f}; "
        f"change {mean:+.2f} ± {half:.2f}; mean loss then {loss:.3f}, of the best constant {CONSTANT}"
    )


def _deviation(values):
    return values.std(ddof=min(1, len(values) - 1))


def loss_moves(results):
    found = [read(m, "level", CAPTION) for m in results.runs()]
    good = [bool(m.finite and level < MOVED) for m, level in zip(results.runs(), found, strict=True)]
    text = f"{sum(good)} of {len(good)} runs below {MOVED:g}; losses {min(found):.4f} to {max(found):.4f}"
    return holds_in_share(sum(good), len(good), text)


def beyond_untrained(epoch):
    """The change is larger than one deviation of the maximum over untrained nets: training would be seen in one run."""

    def check(results):
        end = epoch or last_epoch(results)
        start = np.array([largest(m, 0) for m in results.runs()])
        if len(start) < 3:
            return None
        mean, half = mean_of([largest(m, end) - largest(m, 0) for m in results.runs()])
        return decided_by({f"epoch {end}": above(mean - start.std(ddof=1), half)}, _said(results, end))

    return check


def spread_grows(results):
    """All pairs, Fig. 6: the deviation of log|f_k| over channels, theirs over √2, grows from untrained to the end."""
    end = last_epoch(results)
    found = [[read(m, "spread", epoch) for epoch in (0, CAPTION, end)] for m in results.runs() if m.finite]
    first, caption, last = np.array(found).T
    change = mean_of(last - first)
    text = (
        f"deviation of log|f| over channels: untrained {first.mean():.2f}, epoch {CAPTION} {caption.mean():.2f}, epoch "
        f"{end} {last.mean():.2f}; change {change[0]:+.2f} ± {change[1]:.2f}"
    )
    return decided_by({"all pairs": above(*change)}, text)


def grows_where_learned(results):
    """The same among runs that have learned the target by the end."""
    learned = np.array([m.finite and read(m, "level", last_epoch(results)) < LEARNED for m in results.runs()])
    if learned.sum() < 2:
        text = f"{int(learned.sum())} of {learned.size} runs have learned: a last loss below {LEARNED:g}"
        return CheckResult(False, f"{text}; {_said(results, last_epoch(results))}", unclear=True)
    part, end = results.where(learned), last_epoch(results)
    change = mean_of([largest(m, end) - largest(m, 0) for m in part.runs()])
    text = f"{int(learned.sum())} of {learned.size} runs have learned; {_said(part, end)}"
    return decided_by({f"epoch {end}": above(*change)}, text)


def tables(results):
    rows = []
    for epoch in (0, CAPTION, last_epoch(results)):
        names = ("largest", "spread", "level")
        found = np.array([[read(m, name, epoch) for name in names] for m in results.runs() if m.finite])
        cells = [cell for column in found.T for cell in mean_of(column)]
        rows.append(("untrained" if epoch == 0 else f"epoch {epoch:,}", len(found), *cells))
    columns = ("when", "seeds", "largest log-ratio", "± 95 %", "deviation of log|f|", "± 95 % ", "loss", "± 95 %  ")
    return (Table("log_ratios", "Log-ratios at x = 0 and the loss, mean over seeds", columns, rows),)


def draw(results):
    figure, axes = plt.subplots(2, 2, figsize=(WIDTH, 4.4))
    (early, loss), (whole, spread_ax) = axes
    start = np.array([largest(m, 0) for m in results.runs()])
    for i, m in enumerate(results.runs()):
        bold = dict(color=BLUE, lw=1.4 if i == 0 else 0.4, zorder=3 if i == 0 else 2)
        first = m["at"].values <= CAPTION
        early.plot(m["at"].values[first], m.largest.values[first], **bold)
        whole.plot(m["at"], m.largest, **bold, label={0: "first seed", 1: "other seeds"}.get(i))
        loss.plot(m["at"], m.level, **bold)
    for ax in (early, whole):
        ax.axhspan(*np.quantile(start, (0.05, 0.95)), color="0.85", zorder=0, label="untrained nets, 5–95 %")
    runs = [m for m in results.runs() if m.finite]
    for at, colour, word in ((0, "0.5", "untrained"), (-1, ORANGE, f"epoch {last_epoch(results):,}")):
        ratios = np.concatenate([m["pairs"].values[at] for m in runs])
        spread_ax.hist(np.concatenate([ratios, -ratios]), bins=40, density=True, histtype="step", color=colour,
                       lw=1.4, label=word)  # fmt: skip
    loss.axhline(CONSTANT, color=RED, ls="--", lw=0.8, zorder=4, label="best constant")
    loss.axvline(CAPTION, color="0.7", lw=0.8, label=f"epoch {CAPTION}, the end of the paper's figure")
    early.set(xlabel="epoch", ylabel="largest log-ratio at x = 0", title="the epochs of Fig. 5")
    loss.set(xlabel="epoch", ylabel="loss", xscale="symlog", xlim=(0, None), ylim=(0, 0.62),
             title="loss")  # fmt: skip
    whole.set(
        xlabel="epoch", ylabel="largest log-ratio at x = 0", xscale="symlog", xlim=(0, None), title="the whole run"
    )
    spread_ax.set(xlabel="log-ratio, both signs", ylabel="density", title="all pairs and seeds, as in Fig. 6")
    early.set_xticks(range(0, CAPTION + 1, 5))
    loss.legend(loc="lower left")
    figure.legend(*whole.get_legend_handles_labels(), loc="outside lower center", ncols=3)
    spread_ax.legend()
    letters(axes.flat)
    return figure


SMALL = "a channel near zero at one point makes a large ratio, in untrained nets too, and training moves it both ways"
experiment = Experiment(
    title="Log-ratios of channels at x = 0 over training, with the loss and untrained nets",
    source="Fig. 5 and 6",
    setting=setting,
    full=dict(seed=range(12), width=(1024,), samples=(5000,), epochs=(10_000,)),
    quick=dict(seed=range(6), width=(64,), samples=(1280,), epochs=(1500,)),
    save_at=save_at,
    observe=(LogRatios(), FullLoss()),
    analyse=analyse,
    draw=draw,
    drawn="A, C: the largest log-ratio of two channels at x = 0, one line per seed, the first one bold; the "
    "grey band holds nine tenths of untrained nets. B: the loss on all data. D: densities of the "
    "log-ratios of all pairs.",
    tables=tables,
    claims=(
        Claim("The largest log-ratio at x = 0 grows over the 20 epochs of the figure.", "M68 · Fig. 5",
              grown_by(CAPTION), note=SMALL),
        Claim("By then it has grown by more than untrained nets scatter.", "M68 · ours", beyond_untrained(CAPTION),
              note=SMALL),
        Claim("Within these 20 epochs the loss has moved from that of the best constant.", "M68 · ours", loss_moves,
              note="the net stays at the loss of the best constant for its first hundreds of epochs"),
        Claim("It grows over a long run, as Table 2 and App. I list it.", "M68, M129 · Table 2, App. I.3",
              grown_by(None), note=SMALL),
        Claim("Where the target has been learned, the mean of the largest log-ratio has grown.", "M68 · ours",
              grows_where_learned, note=SMALL),
        Claim("After a long run it has grown by more than untrained nets scatter.", "ours", beyond_untrained(None),
              note=SMALL),
        Claim("The log-ratios of all pairs spread over training.", "M69 · Fig. 6", spread_grows, note=SMALL),
    ),
)  # fmt: skip
