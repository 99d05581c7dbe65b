"""Mean-field paper, Fig. 8 and 9: are channels symmetric with frozen features, and not without them?

The target is even. The number is the odd part's share of a channel's energy, mean over the second
half of the hidden blocks: 0 for an even channel, ½ for one without symmetry. Only nets that fit are
compared. So the deep nets have the chirp (9, 3), which they can fit in 1,000 epochs; a frozen one
of rank 15 has a test error of 0.1 at (18, 6). The paper's (144, 48) is fitted by neither net
(`valleys.symmetry`), and `valleys.fig5` has (36, 12). Nets: Fig. 9a as it is (four layers, three
bottlenecks, r = 8, (36, 12), N = 2,000, 5,000 epochs); Fig. 9b–c (eight bottlenecks, r = 15,
frozen); Fig. 8 (eight, r = 20, all maps trained); and a true MLP. All have ReLU, which Fig. 9
names. A spike is the largest distance of a channel from its mean, in deviations. The paper says
"SGD" in the text and Adam in Table 2; this is Adam. Five seeds.
"""

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.lines import Line2D

from saddlescope.checks import decided_by, holds_in_share
from saddlescope.claims import CheckResult, Claim
from saddlescope.experiment import Experiment
from saddlescope.figures import BLACK, BLUE, GREEN, ORANGE, SKY, WIDTH, letters
from saddlescope.papers.meanfield import _chirp as chirp
from saddlescope.papers.meanfield._chirp import EVEN, FREE, FROZEN, TRUE, fits, fitting
from saddlescope.papers.meanfield._numbers import above
from saddlescope.statistics import apart, mean_of
from saddlescope.tables import Table
from saddlescope.training import SaveAt

SHALLOW, DEEP, WITHOUT, FULL = "Fig. 9a, frozen", "Fig. 9b–c, frozen", "Fig. 8, all trained", "MLP"
NETS = {SHALLOW: (FROZEN, 8, 3), DEEP: (FROZEN, 15, 8), WITHOUT: (FREE, 20, 8), FULL: (TRUE, 20, 8)}
COLOURS = {SHALLOW: SKY, DEEP: BLUE, WITHOUT: ORANGE, FULL: GREEN}


def setting(net, activation, seed, f1, width, samples, epochs):
    """Fig. 9a has four times the frequency, twice the samples and five times the epochs of the deep nets."""
    made = chirp.chirp_net(*NETS[net], width, activation)
    if net == SHALLOW:
        return chirp.chirp_run(made, 4 * f1, 2 * samples, 5 * epochs, seed)
    return chirp.chirp_run(made, f1, samples, epochs, seed)


def odd(runs):
    return np.array([float(m.odd) for m in runs])


def said(results):
    words = []
    for net in results.values("net"):
        runs, good = list(results.select(net=net).runs()), fitting(results, net=net)
        share = "" if not good else f", odd share {_shown(mean_of(odd(good)))}"
        untrained = np.mean([float(m.odd_untrained) for m in runs])
        words.append(f"{net}: {len(good)} of {len(runs)} fit{share} (untrained {untrained:.2f})")
    return "; ".join(words)


def _shown(mean_half):
    mean, half = mean_half
    return f"{mean:.3f}" + ("" if np.isnan(half) else f" ± {half:.3f}")


def in_most(test, *nets):
    """test(odd share) is true of most runs that fit, for each activation."""

    def check(results):
        part = results.select(net=nets)
        runs = [m for m in part.runs() if fits(m)]
        if not part.measured.sizes["run"]:
            return None
        if not runs:
            return CheckResult(False, f"no run fits; {said(part)}", unclear=True)
        good = [bool(test(float(m.odd))) for m in runs]
        kinds = np.array([str(m.activation.values) for m in runs])
        groups = {a: (int(np.sum(np.array(good)[kinds == a])), int(np.sum(kinds == a))) for a in np.unique(kinds)}
        return holds_in_share(
            sum(good), len(good), f"{sum(good)} of {len(good)} runs that fit; {said(part)}", groups=groups
        )

    return check


def less(a, b, of, word):
    """The mean of a number over the runs that fit is lower for one net; overlapping intervals cannot tell."""

    def check(results):
        if {a, b} - {*results.values("net")}:
            return None
        words, texts = {}, []
        for act in results.values("activation"):
            values = {n: np.array([float(m[of]) for m in fitting(results, net=n, activation=act)]) for n in (a, b)}
            if min(map(len, values.values())) < 2:
                words[act] = "cannot tell"
                texts.append(f"{act}: " + ", ".join(f"{len(v)} runs of {n} fit" for n, v in values.items()))
                continue
            means = {n: mean_of(v) for n, v in values.items()}
            clear = apart(*means.values())
            words[act] = above(means[b][0] - means[a][0], 0.0) if clear else "cannot tell"
            texts.append(f"{act}: " + ", ".join(f"{n} {_shown(m)}" for n, m in means.items()))
        return decided_by(words, f"{word}; {'; '.join(texts)}")

    return check


def more_symmetric_than_drawn(results):
    runs = [m for m in results.runs() if fits(m)]
    if not runs:
        return None
    good = np.array([float(m.odd) < float(m.odd_untrained) for m in runs])
    nets = np.array([str(m.net.values) for m in runs])
    groups = {net: (good[nets == net].sum(), np.sum(nets == net)) for net in np.unique(nets)}
    means = np.mean([(float(m.odd_untrained), float(m.odd)) for m in runs], axis=0)
    text = f"{good.sum()} of {len(runs)} runs that fit; mean odd share {means[0]:.3f} → {means[1]:.3f}"
    return holds_in_share(good.sum(), len(runs), text, groups=groups)


def tables(results):
    rows = []
    for net in results.values("net"):
        for act in results.values("activation"):
            part = results.select(net=net, activation=act)
            if not part.measured.sizes["run"]:
                continue
            good = fitting(part)
            share, peak = (mean_of([float(m[n]) for m in good]) if good else (np.nan,) * 2 for n in ("odd", "spike"))
            error = float(np.median(part.measured.test_error.values))
            rows.append((net, act, f"{len(good)} of {part.measured.sizes['run']}", error, *share, *peak))
    columns = ("net", "activation", "runs that fit", "median test error", "odd share", "± 95 %", "spike", "± 95 % ")
    return (Table("symmetry", "Odd share and spikes of the channels of runs that fit", columns, rows),)


def draw(results):
    activations, nets = results.values("activation"), results.values("net")
    figure, axes = plt.subplots(len(nets), 1 + len(activations), figsize=(WIDTH, 0.5 + 1.5 * len(nets)), squeeze=False)
    for row, net in zip(axes, nets, strict=True):
        for act, dash in zip(activations, ("-", "--"), strict=False):
            for m in results.select(net=net, activation=act).runs():
                block = np.arange(1, m.sizes["block"] + 1)
                row[0].plot(block, m.odd_by_block_untrained, color="0.75", lw=0.6, ls=dash)
                row[0].plot(
                    block, m.odd_by_block, color=COLOURS[net], ls=dash, lw=0.9, marker="o" if fits(m) else "x", ms=3
                )
        row[0].axhline(EVEN, color=BLACK, ls=":", lw=0.7)
        depth = NETS[net][2]
        row[0].set(ylabel="odd share", ylim=(0, 1), xlabel="block", xticks=range(1, depth + 1), title=net)
        for ax, act in zip(row[1:], activations, strict=True):
            runs = list(results.select(net=net, activation=act).runs())
            _show_channels(ax, runs[0] if runs else None, f"last hidden block, {act}")
    letters(axes.flat)
    figure.legend(*_key(activations), loc="outside lower center", ncols=4)
    return figure


def _show_channels(ax, run, title):
    ax.set(xlabel="x", ylabel="channels, scaled")
    if run is None:
        return
    f = run.channels.values
    ax.plot(np.linspace(-1, 1, len(f)), (f - f.mean(0)) / np.maximum(f.std(0), 1e-9), lw=0.5)
    ax.set_title(f"{title}, first seed, {'fits' if fits(run) else 'does not fit'}")


def _key(activations):
    lines = {
        "untrained": Line2D([], [], color="0.75", lw=0.8),
        "trained, fits": Line2D([], [], color=BLACK, marker="o", ms=3, lw=1),
        "trained, does not fit": Line2D([], [], color=BLACK, marker="x", ms=3, lw=1),
        f"odd share {EVEN:g}: symmetric below": Line2D([], [], color=BLACK, ls=":", lw=0.7),
    }
    if len(activations) > 1:
        lines |= {act: Line2D([], [], color=BLACK, ls=dash) for act, dash in zip(activations, ("-", "--"), strict=True)}
    return list(lines.values()), list(lines)


ALL = "training makes the channels of every net symmetric that fits this even target, from block to block"
PLACE = "at (9, 3) in place of (144, 48)"
experiment = Experiment(
    title="Symmetry and spikes of channels: frozen features, all maps trained, MLP",
    source="Fig. 8 and 9",
    setting=setting,
    full=dict(net=NETS, activation=("ReLU",), seed=range(5), f1=(9,), width=(1024,), samples=(1000,),
              epochs=(1000,)),
    quick=dict(net=NETS, activation=("ReLU",), seed=range(3), f1=(1,), width=(48,), samples=(500,), epochs=(100,)),
    observe=chirp.OBSERVED,
    save_at=SaveAt((0,)),
    analyse=chirp.analyse,
    draw=draw,
    drawn="Left: the odd share of channels by hidden block, one line per run. Right: eight channels of the last "
    "hidden block of the first seed, each less its mean and over its deviation.",
    tables=tables,
    claims=(
        Claim("On a chirp that it can fit, the channels of the net without frozen features are asymmetric.",
              f"M72 · Fig. 8, {PLACE}", in_most(lambda s: s > EVEN, WITHOUT), note=ALL),
        Claim("With frozen features channels are symmetric, in the net of Fig. 9a.", "M73 · Fig. 9a",
              in_most(lambda s: s < EVEN, SHALLOW)),
        Claim("With frozen features channels are symmetric, in the net of Fig. 9b–c on a chirp that it can fit.",
              f"M73 · Fig. 9b–c, {PLACE}", in_most(lambda s: s < EVEN, DEEP)),
        Claim("On a chirp that both fit, channels with frozen features have larger spikes than with all maps trained.",
              f"M73 · Fig. 9, {PLACE}", less(WITHOUT, DEEP, "spike", "largest distance from the mean, in deviations")),
        Claim("On a chirp that both fit, the net with frozen features is more symmetric than with all maps trained.",
              f"M73 · Sec. 4.2, {PLACE}", less(DEEP, WITHOUT, "odd", "odd share"), note=ALL),
        Claim("On a chirp that they can fit, full-rank nets show asymmetric structures.", f"M74 · Sec. 4.2, {PLACE}",
              in_most(lambda s: s > EVEN, FULL), note=ALL),
        Claim("On a chirp that both fit, the low-rank net with frozen features is more symmetric than an MLP.",
              f"M74 · Sec. 4.2, {PLACE}", less(DEEP, FULL, "odd", "odd share")),
        Claim("Channels of trained nets are more symmetric than they were drawn.", "M74 · ours",
              more_symmetric_than_drawn),
    ),
)  # fmt: skip
