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
from saddlescope.figures import BLACK, BLUE, GREEN, ORANGE
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
DEPTH, RANK = 8, 20


def chirp_net(net, width):
    if net == "mlp":
        return MLP((round(np.sqrt(2 * width * RANK)),) * DEPTH)
    return low_rank(RANK, DEPTH, width, trainable={"frozen": "narrow", "all": "all"}[net])


def chirp_run(net, f1, f2, samples, epochs, seed, width):
    return Setting(
        task=Chirp(f1=f1, f2=f2, samples=samples),
        net=chirp_net(net, width),
        optimiser=Adam(lr=1e-3),
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


def say(results):
    words = []
    for net in results.values("net"):
        runs, good = list(results.select(net=net).runs()), fitting(results, net)
        mean, half = mean_of([mean_odd_share(m) for m in good]) if good else (np.nan, np.nan)
        start = np.mean([mean_odd_share(m, 0) for m in runs])
        share = "" if not good else f", odd share {mean:.3f}" + ("" if np.isnan(half) else f" ± {half:.3f}")
        words.append(f"{WORDS[net]}: {len(good)} of {len(runs)} fit{share} (untrained {start:.2f})")
    return "; ".join(words)


def tables(results):
    rows = []
    for net in results.values("net"):
        runs = list(results.select(net=net).runs())
        good = [m for m in runs if fits(m)] or runs
        start, end = (np.array([odd_shares(m, at) for m in good]) for at in (0, -1))
        for k in range(end.shape[1]):
            mean, half = mean_of(end[:, k])
            fit = f"{sum(map(fits, runs))} of {len(runs)}"
            rows.append((WORDS[net], k + 1, fit, float(start[:, k].mean()), mean, half))
    columns = ("net", "block", "runs that fit", "untrained", "trained", "± 95 %")
    return (Table("odd_share", "Odd share of the channels' energy by block", columns, rows),)


def draw(blocks):
    """Odd shares by block, and the partials of two blocks for each net's first run."""

    def drawn(results):
        nets = results.values("net")
        figure, axes = plt.subplots(len(nets), 1 + len(blocks), figsize=(4 + 3.4 * len(blocks), 2.6 * len(nets)),
                                    squeeze=False)  # fmt: skip
        for row, net in zip(axes, nets, strict=True):
            runs = list(results.select(net=net).runs())
            shares(row[0], runs, net)
            for ax, block in zip(row[1:], blocks, strict=True):
                f = runs[0][f"partial_{block}"].values[-1]
                ax.plot(np.linspace(-1, 1, len(f)), (f - f.mean(0))[:, :8] / np.maximum(f.std(0)[:8], 1e-9), lw=0.6)
                word = "fits" if fits(runs[0]) else "does not fit"
                ax.set(title=f"{WORDS[net]}, block {block + 1} ({word})", xlabel="x", ylabel="channels, scaled")
        figure.legend(*key(), loc="outside lower center", ncols=4, fontsize=8)
        return figure

    return drawn


def shares(ax, runs, net):
    for m in runs:
        block = np.arange(1, len(odd_shares(m)) + 1)
        ax.plot(block, odd_shares(m, 0), color="0.7", lw=0.8)
        ax.plot(block, odd_shares(m), color=COLOURS[net], ls="-" if fits(m) else ":", marker="o", ms=3, lw=1)
    ax.axhline(EVEN, color=BLACK, ls="--", lw=0.7)
    ax.set(xlabel="block", ylabel="odd share", ylim=(0, 1), title=WORDS[net])


def key():
    """What the lines of the odd shares mean, in every row."""
    lines = {
        "untrained": Line2D([], [], color="0.7", lw=0.8),
        "trained, fits": Line2D([], [], color=BLACK, marker="o", ms=3, lw=1),
        "trained, does not fit": Line2D([], [], color=BLACK, ls=":", marker="o", ms=3, lw=1),
        f"odd share {EVEN:g}: symmetric below": Line2D([], [], color=BLACK, ls="--", lw=0.7),
    }
    return list(lines.values()), list(lines)
