"""Mean-field paper, App. I: test errors on a chirp by rank, features frozen or trained.

Eight bottlenecks, width 1024, leaky ReLU (slope .01), Adam at 1e-3 × 0.9 every 100 epochs, clipped
to norm 1; a grid of 1,000 samples for (36, 12), errors at 1,234 random points. The paper lists 126
combinations at 10,000 epochs, prints no error, and says nothing of frequencies and batch sizes.
This is the part that fits: ranks 10 and 25 at (36, 12) and batch 100; ReLU at rank 25; rank
1024 ("full rank") for a sixteenth of the epochs; and a true MLP with as many parameters as rank 25
with all maps trained. 1,000 epochs hold 65 % of the sum of learning rates of 10,000. Odd shares of
channels are kept: they are what a rank could do to symmetry.
"""

from dataclasses import replace

import matplotlib.pyplot as plt
import numpy as np

from saddlescope.checks import decided_by
from saddlescope.claims import CheckResult, Claim
from saddlescope.experiment import Experiment
from saddlescope.figures import BLUE, GREEN, ORANGE, WIDTH, letters
from saddlescope.nets.random_feature_net import count
from saddlescope.papers.meanfield import _chirp as chirp
from saddlescope.papers.meanfield._chirp import FITS, FREE, FROZEN, TRUE
from saddlescope.papers.meanfield._numbers import above, difference
from saddlescope.statistics import mean_of
from saddlescope.tables import Table
from saddlescope.tasks import Chirp
from saddlescope.training import SaveAt, every_epoch

DEPTH, WIDE, SHORTER = 8, 1024, 16
LEAKY = "leaky ReLU"
LISTED = dict(
    rank=(10, 15, 20, 25, 50, 100, 1024), frozen=(True, False), frequencies=(36, 72, 144), batch=(50, 100, 200)
)
SAMPLES = {36: 1000, 72: 2000, 144: 4000}
COLOURS = {FROZEN: BLUE, FREE: ORANGE, TRUE: GREEN}
PART = (
    f"(net != '{TRUE}' or rank == 25) "
    f"and (activation == '{LEAKY}' or (net == '{FROZEN}' and rank == 25)) "
    f"and (rank < 1000 or (net == '{FROZEN}' and seed < 3))"
)


def length(rank, epochs):
    return epochs // SHORTER if rank == WIDE else epochs


def setting(rank, net, f1, bs, activation, seed, width, epochs):
    made = chirp.chirp_net(net, min(rank, width), DEPTH, width, activation)
    return chirp.chirp_run(made, f1, SAMPLES.get(f1, 500), length(rank, epochs), seed, batch=bs)


def save_at(rank, epochs, **_):
    """At the start, where full rank ends, and at the end."""
    return SaveAt((0,)) | every_epoch(epochs // SHORTER, epochs // SHORTER)


def analyse(run, made):
    where = int(np.flatnonzero(run.saved_epoch.values > 0)[0])
    return chirp.analyse(run, made) | {"error_early": float(run.test_error.values[where])}


def errors(results, name="test_error", **point):
    """log10 of each run's error; infinite for a run that diverged."""
    part = results.select(**point)
    return np.array([np.log10(float(m[name])) if m.finite else np.inf for m in part.runs()])


def counted(results):
    """The product of what App. I.2 lists."""
    number = int(np.prod([len(values) for values in LISTED.values()]))
    return CheckResult(85 <= number <= 95, f"{number} combinations of {', '.join(LISTED)}", exact=True)


def matches_nyquist(results):
    """Sampling at Nyquist's rate has two samples per period where the chirp turns fastest."""
    tasks = {f: Chirp(f1=f, f2=f / 3, samples=n) for f, n in SAMPLES.items()}
    per = {f: (t.samples - 1) / 2 / t.highest for f, t in tasks.items()}
    text = ", ".join(f"({f}, {f // 3}): {v:.1f} samples per period" for f, v in per.items())
    return CheckResult(all(1.5 < v < 2.5 for v in per.values()), f"{text}; Nyquist's rate is 2", exact=True)


def fewer(results):
    """Trained parameters of the frozen nets of each low rank that App. I lists, against those of rank 1024."""
    trained = {r: count(chirp.chirp_net(FROZEN, r, DEPTH, WIDE, LEAKY), 1, 1)[1] for r in LISTED["rank"]}
    saved = {r: 100 * (1 - n / trained[WIDE]) for r, n in trained.items() if r < WIDE}
    words = {f"rank {r}": 94.5 <= v < 99.5 for r, v in saved.items()}  # 95 to 99 when rounded
    text = ", ".join(f"rank {r} {v:.1f} %" for r, v in saved.items())
    return replace(decided_by(words, f"fewer trained parameters than rank {WIDE}: {text}"), exact=True)


def same_density(results):
    per = [n / f for f, n in SAMPLES.items()]
    return CheckResult(np.ptp(per) < 1e-9, f"samples over frequency: {', '.join(f'{v:.1f}' for v in per)}", exact=True)


def lower(first, second, name="test_error", word="test error"):
    """The first kind of run has the lower error: by seeds that both have."""

    def check(results):
        f1 = min(results.values("f1"))
        a, b = errors(results, name, f1=f1, **first), errors(results, name, f1=f1, **second)
        if not len(a) or not len(b):
            return None
        gap = difference(b, a)
        text = f"{word} {_shown(a)} against {_shown(b)}; {gap[0]:+.2f} ± {gap[1]:.2f} decades"
        return decided_by({"error": above(*gap)}, text)

    return check


def _shown(logs):
    return f"{10 ** logs.mean():.1e} ({len(logs)} {'run' if len(logs) == 1 else 'runs'})"


def by_rank(name, sign, what):
    """A number falls (or rises) with the rank: the first and last rank differ beyond chance, for each kind of net."""

    def check(results):
        ranks = sorted(r for r in results.values("rank") if r < WIDE)
        point = dict(f1=min(results.values("f1")), bs=100, activation=LEAKY)
        words, texts = {}, []
        for net in (FROZEN, FREE):
            found = {r: [float(m[name]) for m in results.select(net=net, rank=r, **point).runs()] for r in ranks}
            if len(ranks) < 2 or not all(found.values()):
                return None
            first, last = (np.array(found[r]) for r in (ranks[0], ranks[-1]))
            mean, half = difference(last, first)
            words[net] = above(sign * mean, half)
            texts.append(f"{net}: " + ", ".join(f"rank {r} {np.mean(v):.3g}" for r, v in found.items()))
        return decided_by(words, f"{what}, mean over seeds; {'; '.join(texts)}")

    return check


def tables(results):
    rows, axes = [], ("net", "rank", "f1", "bs", "activation")
    points = sorted(
        {tuple(str(m[a].values) if a in ("net", "activation") else int(m[a]) for a in axes) for m in results.runs()}
    )
    for point in points:
        part = results.select(**dict(zip(axes, point, strict=True)))
        logs, early = errors(part), errors(part, "error_early")
        odd = mean_of([float(m.odd) for m in part.runs()])[0]
        fit = f"{int(np.sum(logs < np.log10(FITS)))} of {len(logs)}"
        rows.append((*point, fit, float(10 ** logs.mean()), float(10 ** early.mean()), odd))
    columns = (*axes, "runs that fit", "test error (geometric mean)", "after a sixteenth of the epochs", "odd share")
    return (Table("errors", "Test errors on chirps", columns, rows),)


def draw(results):
    figure, (left, right) = plt.subplots(1, 2, figsize=(WIDTH, 2.8))
    f1, ranks = min(results.values("f1")), sorted(results.values("rank"))
    for k, (net, colour) in enumerate(COLOURS.items()):
        runs = list(results.select(net=net, f1=f1, bs=100, activation=LEAKY).runs())
        long = [m for m in runs if int(m["rank"]) < WIDE]
        at = {r: i + 0.15 * (k - 1) for i, r in enumerate(ranks)}  # kinds of nets side by side
        early, end = ([at[int(m["rank"])] for m in part] for part in (runs, long))
        left.plot(end, [float(m.test_error) for m in long], "o", color=colour, mfc="none", label=net)
        left.plot(early, [float(m.error_early) for m in runs], "x", color=colour, ms=4,
                  label="after a sixteenth of the epochs" if net == FROZEN else None)  # fmt: skip
        right.plot(end, [float(m.odd) for m in long], "o", color=colour, mfc="none", label=net)
    left.axhline(FITS, color="0.6", ls=":", lw=0.8)
    left.set(ylabel="test error", yscale="log", title=f"chirp ({f1:g}, {f1 / 3:g})")
    right.set(ylabel="odd share of channels", ylim=(0, None), title="symmetry, at the end")
    for ax in (left, right):
        ax.set(xlabel="rank", xticks=range(len(ranks)), xticklabels=ranks, xlim=(-0.5, len(ranks) - 0.5))
    letters((left, right))
    figure.legend(*left.get_legend_handles_labels(), loc="outside lower center", ncols=5)
    return figure


AT = dict(rank=25, bs=100)
experiment = Experiment(
    title="Test errors on a chirp by rank, features frozen or trained",
    source="App. I",
    setting=setting,
    full=dict(rank=(10, 25, WIDE), net=COLOURS, f1=(36,), bs=(100,), activation=chirp.ACTIVATIONS,
              seed=range(5), width=(WIDE,), epochs=(1000,)),
    quick=dict(rank=(10, 25), net=COLOURS, f1=(6,), bs=(100,), activation=(LEAKY,), seed=range(3), width=(64,),
               epochs=(64,)),
    where=PART,
    observe=chirp.OBSERVED,
    save_at=save_at,
    analyse=analyse,
    draw=draw,
    drawn="One mark per run, the kinds of nets side by side: circles at the end, crosses after a sixteenth of "
    "the epochs, where full rank ends. Below the dotted line a net fits the target.",
    tables=tables,
    claims=(
        Claim("The low ranks of App. I train 95 to 99 % fewer parameters than rank 1024.", "M8 · Sec. 1, App. I",
              fewer, note="rank 100 is listed too, and trains 90 % fewer"),
        Claim("The number of samples scales with the frequency.", "M126 · App. I.1", same_density, built=True),
        Claim("The number of samples matches the Nyquist density.", "M126 · App. I.1", matches_nyquist,
              note="fourteen samples per period where the chirp turns fastest: seven times the Nyquist density"),
        Claim("There are roughly 90 configurations.", "M128 · App. I.2", counted,
              note="seven ranks, frozen or not, three frequencies and three batch sizes make 126; the paper does not "
              "say which were left out"),
        Claim("After a sixteenth of the epochs a frozen net of rank 25 has a lower test error than one of rank 1024.",
              "M6 · App. I, early",
              lower(dict(net=FROZEN, activation=LEAKY, **AT), dict(rank=WIDE, net=FROZEN), "error_early",
                    "test error after a sixteenth of the epochs")),
        Claim("A frozen net of rank 25 has a lower test error than a true MLP.", "M6 · ours",
              lower(dict(net=FROZEN, activation=LEAKY, **AT), dict(net=TRUE, activation=LEAKY, **AT))),
        Claim("A net of rank 25 with all maps trained has a lower test error than a true MLP of as many parameters.",
              "M6 · ours", lower(dict(net=FREE, activation=LEAKY, **AT), dict(net=TRUE, activation=LEAKY, **AT))),
        Claim("Leaky ReLU gives a lower test error than ReLU, frozen features.", "ours; M127 · Table 4",
              lower(dict(net=FROZEN, activation=LEAKY, **AT), dict(net=FROZEN, activation="ReLU", **AT))),
        Claim("The test error falls from rank 10 to rank 25.", "M6 · ours", by_rank("test_error", -1, "test error")),
        Claim("Channels are more symmetric at rank 10 than at rank 25.", "ours; M75 · Sec. 4.2",
              by_rank("odd", 1, "odd share")),
    ),
)  # fmt: skip
