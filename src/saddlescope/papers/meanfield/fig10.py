"""Mean-field paper, Fig. 10: densities of the trained weights w₁ and w₂ at epochs 0 and 50.

The caption says w₂, symmetric at epoch 50, and no more of the run. Two runs are made: that of Fig.
5 (depth 2, rank 15, cos(8πx), 5,000 samples, descent at .01, batch 160), whose loss does not move
in 50 epochs; and that of Fig. 2 (rank 10, cos(2πx), batch 4), which has learned by then. w₁ are the
weights into the first bottleneck, w₂ those into the second; both are drawn uniform on ±1/√width.
Symmetry is tested by Butler (1969): √n sup|F(x) + F(-x) - 1| lies below 2.81 in 99 % of draws of n
independent weights of a symmetric law. Fig. 10 shows the law of one net; `meanfield.fig10_limit`
has the limit's density beside nets of several widths. 20 seeds.
"""

import matplotlib.pyplot as plt
import numpy as np

from saddlescope.checks import groups_by, holds_in_share
from saddlescope.claims import Claim
from saddlescope.experiment import Experiment
from saddlescope.figures import BLUE, ORANGE, WIDTH, letters
from saddlescope.nets import low_rank
from saddlescope.observables import FullLoss, Parameters
from saddlescope.optimisers import GradientDescent
from saddlescope.setting import Setting
from saddlescope.statistics import mean_of
from saddlescope.tables import Table
from saddlescope.tasks import cosine
from saddlescope.training import SaveAt

EPOCHS, BINS = 50, 60
RUNS = {"Fig. 5's run": (4, 15, 160), "Fig. 2's run": (1, 10, 4)}  # frequency, rank, batch
LAYERS = {"w1": "C0", "w2": "C1"}
SYMMETRIC = 2.81  # exceeded by 1 % of symmetric draws: P(sup|Brownian motion| > x) ≈ 4 (1 - Φ(x))


def setting(net, seed, width, samples):
    frequency, rank, batch = RUNS[net]
    return Setting(
        task=cosine(frequency, samples),
        net=low_rank(rank, 2, width),
        optimiser=GradientDescent(0.01, clip=1.0),
        batch=batch,
        epochs=EPOCHS,
        precision="float32",
        seed=seed,
    )


def butler(w):
    """√n sup_x |F(x) + F(-x) - 1|: how far a sample is from symmetric about 0."""
    order = np.argsort(np.abs(w))[::-1]
    return float(np.abs(np.cumsum(np.sign(w[order]))).max() / np.sqrt(len(w)))


def skewness(w):
    return float(np.mean((w - w.mean()) ** 3) / w.std() ** 3)


def kolmogorov(a, b):
    """sup_x |F_a(x) − F_b(x)| of two samples."""
    at = np.concatenate([a, b])
    below = [np.searchsorted(np.sort(w), at, side="right") / len(w) for w in (a, b)]
    return float(np.abs(below[0] - below[1]).max())


def analyse(run, made):
    """Densities on a common grid, distances from symmetry, and how far the weights have moved."""
    limit = 2.5 / np.sqrt(made.net.widths[0])  # of the largest drawn weight
    edges = np.linspace(-limit, limit, BINS + 1)
    found = {"loss_then": float(run.full_loss.values[-1]), "loss_first": float(run.full_loss.values[0])}
    for name, leaf in LAYERS.items():
        first, last = (run[f"param_{leaf}"].values[i].ravel().astype(float) for i in (0, -1))
        for word, w in (("first", first), ("last", last)):
            counted = np.histogram(w, edges, density=True)[0]
            found |= {f"{name}_{word}": (("bin",), counted), f"{name}_butler_{word}": butler(w)}
            found[f"{name}_skewness_{word}"] = skewness(w)
        found[f"{name}_moved"] = float(np.linalg.norm(last - first) / np.linalg.norm(first))
        found[f"{name}_ks"] = kolmogorov(first, last)
        found[f"{name}_count"] = len(first)
    return found | {"edges": (("edge",), edges)}


def binned_butler(counted, n):
    """Butler's statistic of each histogram of n weights, by the edges of its bins, which are even about 0."""
    law = np.cumsum(counted, axis=1) / counted.sum(axis=1, keepdims=True)
    return np.sqrt(n) * np.abs(law[:, :-1] + law[:, -2::-1] - 1).max(axis=1)


def symmetric(name):
    """In most runs Butler's statistic is one that a symmetric law could give: of all weights, and of the density that
    is drawn."""

    def check(results):
        m = results.measured
        drawn = binned_butler(m[f"{name}_last"].values, m[f"{name}_count"].values)
        good = (m[f"{name}_butler_last"].values < SYMMETRIC) & (drawn < SYMMETRIC)
        text = f"{good.sum()} of {good.size} runs; {_said(results, name)}"
        return holds_in_share(good.sum(), good.size, text, groups=groups_by(results, "net", good))

    return check


def changed(name):
    """In most runs the two empirical laws differ by more than independent draws of one law would (1 %)."""

    def check(results):
        m = results.measured
        good = m[f"{name}_ks"].values > 1.63 * np.sqrt(2 / m[f"{name}_count"].values)
        text = f"{good.sum()} of {good.size} runs; {_said(results, name)}"
        return holds_in_share(good.sum(), good.size, text, groups=groups_by(results, "net", good))

    return check


def _said(results, name):
    words = []
    for run in results.values("net"):
        m = results.select(net=run).measured
        mean = {what: float(m[f"{name}_{what}"].mean()) for what in ("butler_first", "butler_last", "moved", "ks")}
        skew = mean_of(m[f"{name}_skewness_last"].values)
        words.append(
            f"{run}: skewness {skew[0]:.3f} ± {skew[1]:.3f}, Butler's statistic {mean['butler_last']:.1f} "
            f"(untrained {mean['butler_first']:.1f}), weights moved by {mean['moved']:.0%} of their size, "
            f"Kolmogorov distance from the untrained {mean['ks']:.3f}"
        )
    return "; ".join(words)


def tables(results):
    rows = []
    for run in results.values("net"):
        m = results.select(net=run).measured
        for name in LAYERS:
            values = [m[f"{name}_{what}"].values for what in ("skewness_last", "butler_last", "moved", "ks")]
            rows.append((run, name, m.sizes["run"], float(m.loss_then.mean()), *(float(v.mean()) for v in values)))
    columns = (
        "run",
        "weights",
        "seeds",
        "loss",
        "skewness",
        "Butler's statistic",
        "relative move",
        "Kolmogorov distance",
    )
    return (Table("weights", f"Trained weights at epoch {EPOCHS}, mean over seeds", columns, rows),)


def draw(results):
    names = results.values("net")
    figure, axes = plt.subplots(len(names), 2, figsize=(WIDTH, 2 * len(names)), squeeze=False)
    for row, run in zip(axes, names, strict=True):
        m = results.select(net=run).measured
        x = (m.edges.values[0][1:] + m.edges.values[0][:-1]) / 2
        for ax, (name, _) in zip(row, LAYERS.items(), strict=True):
            for word, colour, label in (("first", BLUE, "epoch 0"), ("last", ORANGE, f"epoch {EPOCHS}")):
                density = m[f"{name}_{word}"].values
                ax.plot(x, density.mean(axis=0), color=colour, lw=1.2, label=label)
                ax.fill_between(x, density.min(axis=0), density.max(axis=0), color=colour, alpha=0.25, lw=0)
            ax.set(xlabel=f"weight $w_{name[1]}$", title=f"{run}, loss then {float(m.loss_then.mean()):.2g}")
            ax.locator_params(axis="x", nbins=5)
        row[0].set_ylabel("density")
    letters(axes.flat)
    figure.legend(*axes[0, 0].get_legend_handles_labels(), loc="outside lower center", ncols=2)
    return figure


PLATEAU = "the run of Fig. 5 has not left the loss of the best constant by epoch 50; its weights moved by a hundredth"
experiment = Experiment(
    title="Densities of trained weights at epochs 0 and 50",
    source="Fig. 10",
    setting=setting,
    full=dict(net=RUNS, seed=range(20), width=(1024,), samples=(5000,)),
    quick=dict(net=RUNS, seed=range(5), width=(256,), samples=(1000,)),
    observe=(Parameters(only=tuple(LAYERS.values())), FullLoss()),
    save_at=SaveAt((0,)),
    analyse=analyse,
    draw=draw,
    drawn="Lines are densities of all weights of a layer, mean over seeds; bands reach from the least to the "
    "largest over seeds.",
    tables=tables,
    claims=(
        Claim("At epoch 50 the density of w₂ is symmetric.", "M77 · Fig. 10, which names no run", symmetric("w2")),
        Claim("At epoch 50 the density of w₁ is symmetric.", "M77 · ours", symmetric("w1")),
        Claim("By epoch 50 training has changed the density of w₂.", "M77 · ours", changed("w2"), note=PLATEAU),
        Claim("By epoch 50 training has changed the density of w₁.", "M77 · ours", changed("w1"), note=PLATEAU),
    ),
)  # fmt: skip
