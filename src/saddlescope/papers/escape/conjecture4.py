"""Escape paper, Section 5, conjecture 4: is the plateau after the first escape the best fit of bottleneck rank one?

Four layers on the small digits. Beside each run stand nets whose layers from the second on are products of factors, of
rank one or two: three from random starts with Adam, of which the best counts, and one from the plateau's own weights,
cut to that rank, by the run's rule at a tenth of its rate (at its full rate the factors overshoot, and leave the
plateau upwards). A level reached by such a net says what the best is *at most*. The unit is the first drop, from the
origin to the plateau: a tenth of it counts as none. From weights of 1e-3, as in `rank_growth`, no run of three had a
second plateau; from 2e-4 the first lasts hundreds of epochs.

A net of rank one has outputs a·φ(x) with one vector a. The class of the k-th largest a has a probability of at most
1/k where φ > 0, and of 1/(11 - k) where φ < 0. So its loss is at least ln(120)/5 = 0.96 for ten equal classes.
"""

from collections.abc import Mapping

import matplotlib.pyplot as plt
import numpy as np

from saddlescope.checks import holds_in_share, share_text
from saddlescope.claims import CheckResult, Claim
from saddlescope.experiment import Experiment
from saddlescope.figures import BLUE, GREEN, ORANGE
from saddlescope.initials import given_weights
from saddlescope.nets import LowRankMLP
from saddlescope.observables import Parameters
from saddlescope.optimisers import Adam, NormScaledDescent
from saddlescope.papers.escape._plateaus import rests
from saddlescope.papers.escape._training import SPECTRA, Form
from saddlescope.training import every_epoch

FORM = Form("small", depth=4, width=100, scale=2e-4, c=1.5, power=2, epochs=900)
STARTS, EPOCHS, LAST = 3, 150, 5  # random starts of a fit; their epochs; epochs whose mean is the level
NONE = 0.1  # of the first drop
SLOWER = 10  # a step of both factors moves their product by about twice its size, 4, times as far
RANKS = (1, 2)


def setting(seed):
    return FORM.setting(seed)


def save_at(seed):
    return every_epoch(4, FORM.epochs)


def follow(run, made):
    """Nets of bounded rank: from random starts, and from each of the first two plateaus."""
    found = {f"fit{k}-{n}": fit(made, k, n) for k in RANKS for n in range(STARTS)}
    return found | {f"near{k}": near(run, made, rest, k) for k, rest in zip(RANKS, rests(run), strict=False)}


def low_rank_net(rank):
    return LowRankMLP((FORM.width,) * (FORM.depth - 1), rank, 0.1)


def fit(made, rank, start):
    seed = 1000 * (1 + start) + made.init_seed
    return made.replace(net=low_rank_net(rank), optimiser=Adam(3e-3), batch=100, epochs=EPOCHS, init_seed=seed)


def near(run, made, rest, rank):
    """The plateau's weights, cut to this rank from the second layer on, trained on as before."""
    weights = {"W1": run["param_W1"].values[rest.at]}
    for j in range(2, FORM.depth + 1):
        left, values, right = np.linalg.svd(run[f"param_W{j}"].values[rest.at], full_matrices=False)
        root = np.sqrt(values[:rank])
        weights |= {f"A{j}": left[:, :rank] * root, f"B{j}": root[:, None] * right[:rank]}
    slow = NormScaledDescent(made.optimiser.lr / SLOWER, made.optimiser.power)
    return made.replace(net=low_rank_net(rank), optimiser=slow, initial=given_weights(weights), epochs=EPOCHS)


def analyse(runs, settings):
    """Levels: origin, the first two plateaus, and the nets of bounded rank; 0 where there is none."""
    runs = runs if isinstance(runs, Mapping) else {"": runs}
    levels = [rest.level for rest in rests(runs[""])][:2]
    ends = {name: float(np.mean(run["loss"].values[-LAST:])) for name, run in runs.items()}
    found = {"start": float(runs[""]["loss"].values[0]), "end": ends[""]}
    for k in RANKS:
        found[f"level{k}"] = levels[k - 1] if len(levels) >= k else 0.0
        found[f"fit{k}"] = min(value for name, value in ends.items() if name.startswith(f"fit{k}"))
        found[f"near{k}"] = ends.get(f"near{k}", 0.0)
    return found


def gap_is_none(level, other):
    """The gap between a plateau and a constrained net, over the first drop."""

    def check(results):
        m = results.measured
        there = (m.level1.values > 0) & (m[level].values > 0) & (m[other].values > 0)
        if not there.any():
            return CheckResult(False, f"none of {there.size} runs has this plateau", unclear=True)
        gap = ((m[level] - m[other]) / (m.start - m.level1)).values[there]
        good = np.abs(gap) <= NONE
        text = (
            f"{share_text(int(good.sum()), good.size)}; the plateau at {np.median(m[level].values[there]):.3f}, the net"
        )
        text += f" of bounded rank at most at {np.median(m[other].values[there]):.3f} (medians)"
        text += f"; gap over the first drop {gap.min():.2f} to {gap.max():.2f}; {there.size - there.sum()} runs without"
        return holds_in_share(good.sum(), good.size, text)

    return check


def draw(results):
    m = results.measured
    figure, ax = plt.subplots(figsize=(5.4, 3.6))
    seeds = np.arange(m.sizes["run"])
    for k, colour in zip(RANKS, (BLUE, ORANGE), strict=True):
        for name, mark, label in (
            ("level", "_", "plateau"),
            ("near", "v", "from it"),
            ("fit", "o", "from random starts"),
        ):
            values = np.where(m[f"{name}{k}"].values > 0, m[f"{name}{k}"].values, np.nan)
            ax.plot(seeds, values, mark, color=colour, ms=12 if mark == "_" else 4, label=f"rank {k}: {label}")
    ax.plot(seeds, m.end, "x", color=GREEN, label="end of the run")
    ax.axhline(float(m.start[0]), color="0.5", lw=0.8, ls="--")
    ax.set(xlabel="run", ylabel="loss", xticks=seeds)
    ax.legend(fontsize=6, loc="center left", bbox_to_anchor=(1, 0.5))
    return figure


experiment = Experiment(
    title="The level of a plateau against the best net of bottleneck rank one or two",
    source="Sections 1.1 and 5, conjecture 4",
    setting=setting,
    save_at=save_at,
    observe=(SPECTRA, Parameters()),
    follow=follow,
    analyse=analyse,
    full=dict(seed=range(8)),
    quick=dict(seed=range(3)),
    draw=draw,
    claims=(
        Claim(
            "The first plateau is locally optimal given its sparsity: descent in rank one does not leave it.",
            "E3 · Section 1.1",
            gap_is_none("level1", "near1"),
        ),
        Claim(
            "Its level is that of the best net whose layers from the second on have rank one.",
            "E3, E88 · Section 5, conjecture 4",
            gap_is_none("level1", "fit1"),
        ),
        Claim(
            "The second plateau is locally optimal in rank two.",
            "E10, E88 · Section 5, conjecture 4",
            gap_is_none("level2", "near2"),
        ),
        Claim(
            "The level of the second plateau is that of the best net of rank two.",
            "E10, E88 · Section 5, conjecture 4",
            gap_is_none("level2", "fit2"),
        ),
    ),
)
