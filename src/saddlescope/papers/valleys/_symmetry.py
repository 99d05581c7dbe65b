"""Symmetry of channels on the chirp cos(f₁πx²) - 0.8 cos(f₂πx²): Fig. 5 and App. C.9.

Three nets of 8 hidden layers: `frozen` is the paper's low-rank net, `all` trains its rank → width
maps too (what the paper calls full-rank: fixWb = False), `mlp` is a true full-rank MLP, of about as
many parameters as `all`. The number is the odd part's share of a channel's energy: 0 for an even
function, ½ for one without symmetry, 1 for an odd one.
"""

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.lines import Line2D

from saddlescope.checks import mean_odd_share, odd_shares
from saddlescope.figures import BLACK, BLUE, GREEN, ORANGE, WIDTH, letters
from saddlescope.nets import MLP, low_rank
from saddlescope.observables import ChannelPartials, SymmetryDefect, TestError
from saddlescope.optimisers import Adam, StepDecay
from saddlescope.papers.valleys._outcomes import WORKED
from saddlescope.setting import Setting
from saddlescope.statistics import mean_of
from saddlescope.tables import Table
from saddlescope.tasks import Chirp

EVEN = 0.05  # an odd share below this counts as symmetric
COLOURS = {"frozen": BLUE, "all": ORANGE, "mlp": GREEN}
WORDS = {"frozen": "low-rank, frozen", "all": "all maps trained", "mlp": "true MLP"}
DEPTH, RANK, SHOWN = 8, 20, 8
DRAWN = (
    "Lines with dots are runs, the mean over the channels of each hidden block. Channels are those of the first seed, "
    "each less its mean and over its deviation, as functions of x."
)


def chirp_net(net, width):
    if net == "mlp":
        return MLP((round(np.sqrt(2 * width * RANK)),) * DEPTH)
    return low_rank(RANK, DEPTH, width, trainable={"frozen": "narrow", "all": "all"}[net])


def chirp_run(net, f1, f2, samples, epochs, seed, width):
    return Setting(
        task=Chirp(f1=f1, f2=f2, samples=samples),
        net=chirp_net(net, width),
        optimiser=Adam(lr=1e-3, clip=1.0),
        schedule=StepDecay(0.9, every=100),
        batch=100, epochs=epochs, precision="float32", seed=seed,
    )  # fmt: skip


def observe(blocks):
    return SymmetryDefect(), TestError(1000), ChannelPartials(blocks=blocks, points=500)


def fits(run):
    return bool(run.finite and run.test_error.values[-1] < WORKED)


def fitting(results, net):
    """The runs of a net that fit the target; only these are compared."""
    return [m for m in results.select(net=net).runs() if fits(m)]


def say(results, *nets):
    """How many runs of each kind of net fit each chirp, and their odd shares."""
    words = []
    for net, part in ((n, p) for n in nets or results.values("net") for p in chirps(results.select(net=n))):
        runs, good = list(part.runs()), fitting(part, net)
        mean, half = mean_of([mean_odd_share(m) for m in good]) if good else (np.nan, np.nan)
        start = np.mean([mean_odd_share(m, 0) for m in runs])
        share = "" if not good else f", odd share {mean:.3f}" + ("" if np.isnan(half) else f" ± {half:.3f}")
        words.append(f"{WORDS[net]}{chirp(part)}: {len(good)} of {len(runs)} fit{share} (untrained {start:.2f})")
    return "; ".join(words)


def chirps(results):
    """The results of each chirp, where there are several."""
    several = results.values("f1") if "f1" in results.measured.coords else ()
    return [results.select(f1=f1) for f1 in several] or [results]


def chirp(results) -> str:
    """The chirp of these runs, in words; nothing where there is one for all."""
    if "f1" not in results.measured.coords:
        return ""
    f1 = results.values("f1")[0]
    return f", ({f1}, {f1 // 3})"


def tables(results):
    rows = []
    for net, part in ((n, p) for n in results.values("net") for p in chirps(results.select(net=n))):
        runs = list(part.runs())
        good = [m for m in runs if fits(m)] or runs
        start, end = (np.array([odd_shares(m, at) for m in good]) for at in (0, -1))
        for k in range(end.shape[1]):
            mean, half = mean_of(end[:, k])
            fit = f"{sum(map(fits, runs))} of {len(runs)}"
            rows.append((f"{WORDS[net]}{chirp(part)}", k + 1, fit, float(start[:, k].mean()), mean, half))
    columns = ("net", "block", "runs that fit", "untrained", "trained", "± 95 %")
    return (Table("odd_share", "Odd share of the channels' energy by block", columns, rows),)


def draw(blocks):
    """For each kind of net the odd shares by block on every chirp, and the channels of two blocks of its first run."""

    def drawn(results):
        nets, parts = results.values("net"), chirps(results)
        figure, axes = plt.subplots(len(nets), len(parts) + len(blocks), figsize=(WIDTH, 0.6 + 1.6 * len(nets)),
                                    squeeze=False)  # fmt: skip
        for row, net in zip(axes, nets, strict=True):
            for ax, part in zip(row, parts, strict=False):
                shares(ax, list(part.select(net=net).runs()), net, f"{WORDS[net]}{chirp(part)}")
            for ax, block in zip(row[len(parts) :], blocks, strict=True):
                channels(ax, next(iter(parts[0].select(net=net).runs())), block)
        letters([ax for ax in axes.flat if ax.axison])
        for ax in axes[-1]:
            ax.set_xlabel("block" if ax in axes[-1][: len(parts)] else "x")
        figure.legend(*key(), loc="outside lower center", ncols=3)
        return figure

    return drawn


def shares(ax, runs, net, title):
    if not runs:
        return ax.set_axis_off()
    for m in runs:
        block = np.arange(1, len(odd_shares(m)) + 1)
        ax.plot(block, odd_shares(m, 0), color="0.7", lw=0.6)
        ax.plot(block, odd_shares(m), color=COLOURS[net], ls="-" if fits(m) else ":", marker="o", ms=2, lw=0.8)
    ax.axhline(EVEN, color=BLACK, ls="--", lw=0.7)
    ax.set(ylabel="odd share", ylim=(0, 1), xticks=range(2, DEPTH + 1, 2))
    return ax.set_title(title)


def channels(ax, run, block):
    """The first eight channels, of one mean and size."""
    f = run[f"partial_{block}"].values[-1][:, :SHOWN]
    shades = plt.colormaps["viridis"](np.linspace(0, 0.9, f.shape[1]))
    for channel, shade in zip(((f - f.mean(0)) / np.maximum(f.std(0), 1e-9)).T, shades, strict=True):
        ax.plot(np.linspace(-1, 1, len(f)), channel, lw=0.6, color=shade)
    ax.set(ylabel="channels, scaled", xticks=(-1, 0, 1))
    ax.set_title(f"block {block + 1}, {'fits' if fits(run) else 'does not fit'}")


def key():
    """What the lines of the odd shares mean, in every row."""
    lines = {
        "untrained": Line2D([], [], color="0.7", lw=0.8),
        "trained, fits": Line2D([], [], color=BLACK, marker="o", ms=3, lw=1),
        "trained, does not fit": Line2D([], [], color=BLACK, ls=":", marker="o", ms=3, lw=1),
        f"odd share {EVEN:g}: symmetric below": Line2D([], [], color=BLACK, ls="--", lw=0.7),
        "first eight channels, from the first (dark) to the eighth": Line2D([], [], color="#3b528b", lw=0.8),
    }
    return list(lines.values()), list(lines)
