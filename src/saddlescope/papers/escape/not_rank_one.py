"""Which data have a fastest escape direction that is not rank one, and how rare they are. Exact
speeds.

A family between Example 1 and Gaussian data. The points are those of a circle, each shaken by a
normal vector of size `shake`; G is (1 - mix) times the alternating signs plus mix times normal
numbers. The optimum at depth three is not rank one exactly where s*(3) > s*(2), see `exact_random`.
One share per shake and mix, with its interval.
"""

import matplotlib.pyplot as plt
import numpy as np

from saddlescope.checks import groups_by, holds_in_share, if_clear, share_text
from saddlescope.claims import Claim
from saddlescope.experiment import Experiment
from saddlescope.figures import letters
from saddlescope.statistics import same_share, wilson
from saddlescope.tables import Table
from saddlescope.theory.escape.certificates import EXACT, depth2_optimum, depth3_optimum
from saddlescope.theory.escape.localized import circle

SAME = 1e-7


def measure(points, shake, mix, seed):
    rng = np.random.default_rng([points, round(1000 * shake), round(1000 * mix), seed])  # no two runs share a draw
    X, G = circle(points)
    X = X + shake * rng.standard_normal(X.shape)
    G = (1 - mix) * G + mix * rng.standard_normal(G.shape)
    two, three = depth2_optimum(X, G), depth3_optimum(X, G)
    return {
        "two": two.speed, "three": three.speed, "certified": two.kind == three.kind == EXACT,
        "faster": three.speed > two.speed * (1 + SAME), "ratio": two.speed / three.speed if three.speed else 1.0,
    }  # fmt: skip


def faster(results):
    m = results.measured
    good = m.faster.values.astype(bool) & m.certified.values.astype(bool)
    text = f"{share_text(good.sum(), good.size)}; s*(2)/s*(3) in the median {np.median(m.ratio.values):.3f}"
    return holds_in_share(good.sum(), good.size, text, groups=groups_by(results, "points", good))


def as_fast(results):
    m = results.measured
    good = ~m.faster.values.astype(bool) & m.certified.values.astype(bool)
    text = f"{share_text(good.sum(), good.size)} rank one; s*(2)/s*(3) at least {m.ratio.values.min():.3f}"
    return holds_in_share(good.sum(), good.size, text, groups=groups_by(results, "points", good))


def rarer(axis):
    """The share falls along this axis, from its least to its largest value, the other at its least."""

    def check(results):
        m, other = results.measured, {"shake": "mix", "mix": "shake"}[axis]
        if len(results.values(axis)) < 2:
            return None
        least = m[other].values == min(results.values(other))
        ends = [m.faster.values[least & (m[axis].values == v)] for v in (min(m[axis].values), max(m[axis].values))]
        (many, k), (few, n) = ((int(e.sum()), len(e)) for e in ends)
        text = f"{share_text(many, k)} at the least {axis}, {share_text(few, n)} at the largest"
        return if_clear(many * n > few * k, not same_share(many, k, few, n), text)

    return check


def shares(results):
    """(points, shake, mix) → (runs that are not rank one, runs)."""
    m = results.measured
    for n in results.values("points"):
        for s in results.values("shake"):
            for x in results.values("mix"):
                here = m.faster.values[(m.points == n) & (m.shake == s) & (m.mix == x)]
                if len(here):
                    yield (n, s, x), (int(here.sum()), len(here))


def tables(results):
    rows = [
        (n, s, x, k, total, *(f"{100 * e:.0f}" for e in wilson(k, total))) for (n, s, x), (k, total) in shares(results)
    ]
    head = ("points", "shake", "mix", "not rank one", "draws", "from %", "to %")
    return (Table("not_rank_one", "How often the fastest direction is not rank one", head, tuple(rows)),)


def draw(results):
    numbers = results.values("points")
    figure, axes = plt.subplots(1, len(numbers), figsize=(6.5 if len(numbers) > 1 else 3.6, 2.5), squeeze=False)
    found = dict(shares(results))
    for ax, n in zip(axes[0], numbers, strict=True):
        shake, mix = results.values("shake"), results.values("mix")
        grid = np.array([[np.divide(*found.get((n, s, x), (np.nan, 1))) for s in shake] for x in mix])
        image = ax.imshow(100 * grid, origin="lower", vmin=0, vmax=100, cmap="viridis", aspect="auto")
        ax.set_xticks(range(len(shake)), [f"{s:g}" for s in shake])
        ax.set_yticks(range(len(mix)), [f"{x:g}" for x in mix])
        ax.set(xlabel="shake of the points", title=f"{n} points")
    axes[0, 0].set_ylabel("share of normal G")
    figure.colorbar(image, ax=axes, label="not rank one, % of draws")
    letters(axes[0])
    return figure


NEAR, FAR = {"shake": (0.02, 0.05), "mix": 0.0}, {"mix": 1.0}
experiment = Experiment(
    title="Data whose fastest escape direction is not rank one: a map",
    source="Section 4",
    measure=measure,
    full=dict(
        points=(6, 8, 10), shake=(0.02, 0.05, 0.1, 0.2, 0.4, 0.8), mix=(0.0, 0.1, 0.25, 0.5, 1.0), seed=range(20)
    ),
    quick=dict(points=(6,), shake=(0.05, 0.8), mix=(0.0, 1.0), seed=range(8)),
    draw=draw,
    drawn="Share of draws whose fastest direction is not rank one, by how far the points of a circle are shaken and "
    "how much normal noise is mixed into G.",
    tables=tables,
    claims=(
        Claim("Near the alternating circle the fastest direction is not rank one.", "E70 · footnote 2", faster, NEAR),
        Claim("With Gaussian G the fastest direction is rank one.", "E61 · Section 4", as_fast, FAR),
        Claim("Directions that are not rank one get rarer as the points are shaken.", "ours", rarer("shake")),
        Claim("Directions that are not rank one get rarer as G is mixed with noise.", "ours", rarer("mix")),
    ),
)  # fmt: skip
