"""Valleys paper, App. A.1 and C.5: under which initialisation do as many runs work as the paper
counts?

The rank-5 sweep at factors 1 and 2 (50 and 100 runs; the paper: 34 and 27 worked) under each
initialisation. The paper names the μ-parameterisation (C of deviation 1/n, learning at rate 1/n).
Without clipping the mean-field one is the same; clipped to norm 1, as here, it is not, since its
gradient of C is n times smaller.
"""

import matplotlib.pyplot as plt
import numpy as np

from saddlescope.checks import decided_by, if_clear
from saddlescope.claims import UNCLEAR, Claim
from saddlescope.experiment import Experiment
from saddlescope.figures import BLUE, GREEN, ORANGE, PURPLE, WIDTH, letters
from saddlescope.papers.valleys import _baseline as base
from saddlescope.papers.valleys._protocol import INIT_WORDS, INITS, valleys
from saddlescope.papers.valleys._runs import SLOW, cannot_refute
from saddlescope.statistics import same_share
from saddlescope.tables import AGREES, Table, agreeing, shown

PUBLISHED = {1: 34, 2: 27}
RUNS = {1: 50, 2: 100}
NO_BASE = "relative to a base width of 1024 μP is the ordinary draw, and the paper names no base"


def setting(init, factor, base, bs, L, seed):
    return valleys(factor, base * factor, bs, L, rank=5, seed=seed, init=init)


def counts(results):
    """One row per initialisation and factor. Published numbers only beside whole sweeps of a
    factor.
    """
    rows = []
    for (init, factor), part in base.groups(results, init=INITS, factor=PUBLISHED):
        n = part.measured.sizes["run"]
        whole = n == RUNS[factor] * len(base.seeds_of(part))
        rows.append((init, factor, n, *base.count_row(part, "worked", PUBLISHED[factor] if whole else None)))
    return Table("counts", "Rank 5: worked runs by initialisation", ("initialisation", "factor", "runs", *AGREES), rows)


def agrees(part):
    """Whether the published count lies in an interval that tells."""
    published = PUBLISHED[part.values("factor")[0]]
    _, low, high = base.counts_of(part, "worked")
    inside = low <= published <= high
    return UNCLEAR if inside and not base.tells(published, low, high) else inside


def fits(init):
    def check(results):
        table = counts(results.select(init=init))
        if agreeing(table)[1] < len(PUBLISHED):
            return None
        text = "; ".join(f"factor {row[1]}: {row[3]} published, {shown(row[4])} ours, {row[5]}" for row in table.rows)
        found = {f"factor {factor}": agrees(results.select(init=init, factor=factor)) for factor in PUBLISHED}
        return decided_by(found, text)

    return check


def fewer_than_uniform(init):
    """Under this draw a smaller share of runs works than under the uniform one."""

    def check(results):
        share = {i: base.column(results.select(init=i), "outcome") == "worked" for i in (init, "uniform")}
        if not all(map(len, share.values())):
            return None
        text = "; ".join(f"{i}: {int(v.sum())} of {len(v)}" for i, v in share.items())
        chance = same_share(*(int(k) for v in share.values() for k in (v.sum(), v.size)), level=0.05)
        return if_clear(share[init].mean() < share["uniform"].mean(), not chance, f"worked, {text}")

    return check


def draw(results):
    factors = results.values("factor")
    figure, axes = plt.subplots(1, len(factors), figsize=(WIDTH, 2.9), sharey=True, squeeze=False)
    for ax, factor in zip(axes[0], factors, strict=True):
        for init, colour, mark in zip(INITS, (BLUE, ORANGE, GREEN, PURPLE), "os^D", strict=True):
            part = results.select(init=init, factor=factor)
            depths = sorted(part.values("L"))
            share = [np.mean(base.ended(part.select(L=L)) == "worked") for L in depths]
            ax.plot(depths, share, color=colour, marker=mark, ms=5, label=INIT_WORDS[init])
        mean = PUBLISHED[factor] / RUNS[factor]
        ax.axhline(mean, color="0.5", ls="--", lw=0.9, label="paper, all depths")
        ax.set(xlabel="depth L", title=f"{factor} cosine{'s' * (factor > 1)}, rank 5", xticks=range(1, 2 * factor + 1))
    axes[0, 0].set_ylabel("share of runs that worked")
    letters(axes[0])
    figure.legend(*axes[0, 0].get_legend_handles_labels(), loc="outside lower center", ncols=5)
    return figure


experiment = Experiment(
    title="Number of runs that work under four initialisations, and the paper's counts",
    source="App. A.1, C.1, C.5",
    setting=setting,
    full=dict(init=INITS, factor=(1, 2), base=base.BASES, bs=base.BATCHES, L=range(1, 5), seed=range(5)),
    quick=dict(init=INITS, factor=(1,), base=(64,), bs=(4,), L=(1, 2), seed=range(1)),
    where=base.AMONG,
    observe=base.OBSERVE,
    predict=base.PREDICT,
    analyse=base.analyse,
    draw=draw,
    drawn="Marks are shares of all runs of a depth: five seeds of every number of samples and batch size.",
    tables=lambda results: (counts(results),),
    claims=(
        Claim("The nets are μ-parameterised (relative to a width of 1): drawn so, as many "
              "runs work as the paper counts.",
              "V47 · A.1, C.1", cannot_refute(fits("mup"), NO_BASE), note=SLOW),
        Claim("Under the mean-field draw the counts are the paper's.", "ours", fits("mean-field"), note=SLOW),
        Claim("Under μP fewer runs work than under the uniform draw.", "ours", fewer_than_uniform("mup")),
        Claim("Under the uniform draw the counts are the paper's.", "ours", fits("uniform")),
        Claim("Under the Gaussian draw the counts are the paper's.", "ours", fits("gaussian"),
              note="more runs work than the paper counts, above all deep ones"),
    ),
)  # fmt: skip
