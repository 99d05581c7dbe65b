"""Our own question: does each plateau belong to one frequency, and each drop to its being learned?

The residual is projected on every cosine of the target, every epoch for 600 epochs and every five
epochs after. A frequency is learned when the running median of its amplitude error over seven
readings first lies below one half. (In the first form it had to stay there, and late noise of the
batches set the time.) Drops are those of the epoch loss; a drop lasts from 10 to 90 % of its fall.
Those at a cut of the learning rate are set apart: the schedule makes them, and with them no run
could have as many drops as frequencies.
Factors 2 to 4, N = 256 × factor, batch 4, L = 3, rank 10. Beside it the paper's count of minima in
the last hidden block, ten epochs before and after each frequency is learned.
"""

import matplotlib.pyplot as plt
import numpy as np
from scipy.ndimage import median_filter

from saddlescope.checks import holds_in_share, in_most_runs
from saddlescope.claims import Claim
from saddlescope.experiment import Experiment
from saddlescope.figures import BLACK, BLUE, GREEN, ORANGE, PURPLE, WIDTH, letters
from saddlescope.observables import MinimaCounts, PaperMinima, ProminentMinima, ResidualAmplitudes
from saddlescope.papers.valleys._protocol import valleys
from saddlescope.theory import CosineLevels
from saddlescope.training import SaveAt, every_epoch

DEPTH, NEAR = 3, 10
amplitude = ResidualAmplitudes()
paper, sound = MinimaCounts(PaperMinima(), precision="float32"), MinimaCounts(ProminentMinima())


def setting(factor, seed, width, early):
    return valleys(factor, 256 * factor, 4, DEPTH, seed=seed, width=width)


def save_at(factor, seed, width, early):
    return SaveAt(epochs=tuple(range(early))) | every_epoch(5, 10_000)


def analyse(run, setting):
    at, errors = run.saved_epoch.values, np.abs(run[amplitude.name].values)
    learned = learned_first(at, errors)
    every = run.stages.drops
    drops = [d for d in every if not at_cut(d, run.cuts)]
    keep = np.unique(np.geomspace(1, len(at), 300).astype(int)) - 1
    loss = run.loss.values
    found = {
        "learned": (("frequency",), learned), "drops": len(drops), "drops_at_cuts": len(every) - len(drops),
        "one_to_one": one_to_one(learned, drops),
        "within_a_drop": int(sum(any(during(t, d) for d in drops) for t in learned)),
        "drop_start": (("drop",), np.array([d.start for d in every])),
        "drop_end": (("drop",), np.array([d.end for d in every])),
        "drop_at_cut": (("drop",), np.array([at_cut(d, run.cuts) for d in every], bool)),
        "epoch_at": (("instant",), at[keep]), "amplitude": (("instant", "frequency"), errors[keep]),
        "loss_at": (("instant",), loss[np.minimum(at[keep], len(loss) - 1)]), "last_loss": loss[-1],
    }  # fmt: skip
    for name, observable in (("paper_gain", paper), ("sound_gain", sound)):
        found[name] = ("frequency",), gains(at, run[observable.name].values[:, DEPTH - 1], learned)
    return found


def learned_first(at, errors):
    """When each frequency's error, smoothed by a median, first is below ½; NaN where it never is."""
    below = median_filter(errors, (7, 1), mode="nearest") < 0.5
    return np.where(below.any(axis=0), at[np.argmax(below, axis=0)], np.nan)


def one_to_one(learned, drops):
    """As many drops as frequencies, and every frequency is learned within a drop of its own."""
    inside = [[k for k, d in enumerate(drops) if during(t, d)] for t in learned]
    return len(drops) == len(learned) and all(inside) and len({k[0] for k in inside}) == len(drops)


def at_cut(drop, cuts):
    """Whether the rate was cut while the loss fell, or in the two epochs before."""
    return bool(np.any((drop.start - 2 <= cuts) & (cuts <= drop.end)))


def during(t, drop):
    """An amplitude is read at the end of an epoch, a loss is the mean over one: an epoch's leeway."""
    return drop.start - 1 <= t <= drop.end + 1


def gains(at, counts, learned):
    """The count NEAR epochs after each frequency is learned less that NEAR epochs before; NaN where it never is."""
    first, last = (np.interp(learned + shift, at, counts) for shift in (-NEAR, NEAR))
    return np.where(np.isfinite(learned), last - first, np.nan)


def matches(run):
    return bool(run.one_to_one)


def say(results):
    words = []
    for factor in sorted(results.values("factor")):
        runs = list(results.select(factor=factor).runs())
        drops = ", ".join(f"{int(m.drops)} + {int(m.drops_at_cuts)}" for m in runs)
        order = [" ".join("–" if np.isnan(t) else f"{t:.0f}" for t in m.learned.values) for m in runs[:2]]
        words.append(f"factor {factor}: {drops}, frequencies learned at epochs {'; '.join(order)}")
    return f"drops apart from cuts + at cuts, {' | '.join(words)}"


def in_order(run):
    return bool(np.all(np.diff(run.learned.values) > 0))


def goes_up(name):
    """Decided for the first frequency that the target has, the second, and so on. Those of one run are not independent:
    together a run counts if the number goes up at each of them that is learned."""

    def check(results):
        rows = [m[name].values for m in results.runs()]
        found = np.full((len(rows), max(map(len, rows))), np.nan)
        for row, values in zip(found, rows, strict=True):
            row[: len(values)] = values
        known = np.isfinite(found)
        if not known.any():
            return None
        groups = {f"frequency {k + 1}": (int(np.sum(found[:, k] > 0)), int(known[:, k].sum()))
                  for k in range(found.shape[1])}  # fmt: skip
        each = np.all((found > 0) | ~known, axis=1)[known.any(axis=1)]
        text = f"{int(np.sum(found > 0))} of {int(known.sum())} times a frequency was learned; at each of them in "
        text += f"{int(each.sum())} of {len(each)} runs; mean change {np.nanmean(found):+.2f} per channel"
        return holds_in_share(each.sum(), len(each), text, groups=groups)

    return check


def draw(results):
    factors = sorted(results.values("factor"))
    figure, axes = plt.subplots(2, len(factors), figsize=(WIDTH, 4.2), squeeze=False, sharex="col", sharey="row")
    for column, factor in enumerate(factors):
        run = next(iter(results.select(factor=factor).runs()))
        top, below = axes[:, column]
        top.loglog(run.epoch_at + 1, run.loss_at, color=BLACK, lw=1)
        for level in run.predicted.plateau_level.values[:-1]:
            top.axhline(level, color=BLACK, ls=":", lw=0.7)
        columns = ("drop_start", "drop_end", "drop_at_cut")
        for start, end, cut in zip(*(run[n].values for n in columns), strict=True) if columns[0] in run else ():
            for ax in (top, below):
                ax.axvspan(start + 1, end + 1, color=("0.85", "#fbe3c0")[int(cut)], lw=0)
        for k, colour in zip(range(factor), (BLUE, ORANGE, GREEN, PURPLE), strict=False):
            below.semilogx(run.epoch_at + 1, run.amplitude[:, k], color=colour, lw=1.2, label=f"frequency {k + 1}")
            if np.isfinite(run.learned[k]):
                below.plot(run.learned[k] + 1, 0.5, "o", color=colour, ms=5)
        top.set_title(f"{factor} cosines")
        below.set_xlabel("epoch + 1")
    axes[0, 0].set_ylabel("epoch loss")
    axes[1, 0].set_ylabel("amplitude error")
    axes[1, -1].legend()
    letters(axes.flat)
    return figure


FIRST = (
    "one frequency is learned after the other, but nearly all in the first fall (at factor 4 the highest often in the "
    "second); the later drops come at cuts of the rate"
)
experiment = Experiment(
    title="Drops of the loss and the epochs at which each frequency is learned",
    source="Abstract (3), Sec. 1 (iii)",
    setting=setting,
    full=dict(factor=(2, 3, 4), seed=range(11), width=(1024,), early=(600,)),
    quick=dict(factor=(2,), seed=range(1), width=(64,), early=(100,)),
    save_at=save_at,
    observe=(amplitude, paper, sound),
    predict=(CosineLevels(),),
    analyse=analyse,
    draw=draw,
    drawn="First seed of each number of cosines. Grey: drops; orange: drops at a cut of the learning rate; dotted: "
    "levels without the higher frequencies. Dots: when a frequency is learned.",
    claims=(
        Claim("Each plateau is a frequency not yet learned, each drop apart from those at cuts one that is learned.",
              "V2 · Abstract (3)", in_most_runs(matches, say, by="factor"), note=FIRST),
        Claim("As a frequency is acquired, the mean number of minima per channel goes up (paper's rule).",
              "V11 · Sec. 3",
              goes_up("paper_gain"), note="that rule sees only minima above zero"),
        Claim("As a frequency is acquired, that number goes up by the sound rule as well.",
              "ours", goes_up("sound_gain"),
              note="in most cases it does; a few gains are lost in those of the frequency before"),
        Claim("The output captures higher frequencies progressively: the lowest first, then the next.",
              "V52 · Sec. 1 (i)", in_most_runs(in_order, say, by="factor")),
    ),
)  # fmt: skip
