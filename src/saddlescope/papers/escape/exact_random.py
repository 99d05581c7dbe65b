"""Escape paper, Section 4 and Proposition 3.2 on random data: exact best speeds, nothing searched.

Gaussian points and Gaussian G, few enough for certificates. s*(2) is also the best speed of nets
with rank-one layers only, at any depth: such nets compute Aσ(t) + Bσ(-t) with |A| + |B| ≤ 1. So the
optimum at depth three is exactly rank one where s*(3) = s*(2), and nothing rank one reaches it
where s*(3) > s*(2). A closed set of weight vectors decides all depths at once: where it exists for
s = s*(3), depth gains nothing beyond three.
"""

import matplotlib.pyplot as plt
import numpy as np

from saddlescope.checks import always, groups_by, holds_in_share, share_text
from saddlescope.claims import Claim
from saddlescope.experiment import Experiment
from saddlescope.figures import BLUE, ORANGE, letters
from saddlescope.statistics import wilson
from saddlescope.theory.escape.certificates import EXACT, all_depths_optimum, depth2_optimum, depth3_optimum

GAINS = 1e6  # where depth two has no first-order escape
SAME = 1e-7  # relative: certificates close to 1e-9 of ‖X‖‖G‖, which is up to ten times the speed


def measure(inputs, points, seed):
    rng = np.random.default_rng([inputs, points, seed])
    X, G = rng.standard_normal((inputs, points)), rng.standard_normal((1, points))
    two, three, deep = depth2_optimum(X, G), depth3_optimum(X, G), all_depths_optimum(X, G)
    return {
        "two": two.speed, "three": three.speed, "gain": three.speed / two.speed - 1 if two.speed else GAINS,
        "certified": two.kind == three.kind == EXACT, "gap": three.gap,
        "settled": deep.kind == EXACT, "deep_room": deep.bound / three.speed - 1,
        "neurons": len(three.weights[0]) if three.weights else 0,
    }  # fmt: skip


def never_slower(results):
    m = results.measured
    good = m.certified.values.astype(bool) & (m.three.values >= (1 - SAME) * m.two.values)
    text = f"{share_text(good.sum(), good.size)}; gain {m.gain.values.min():.1e} to {m.gain.values.max():.3g}"
    return always(good.sum(), good.size, text)


def rank_one(results):
    m = results.measured
    good = (m.gain.values <= SAME) & m.certified.values.astype(bool)
    text = f"{share_text(good.sum(), good.size)}, certified; s*(3)/s*(2) − 1 is at most {m.gain.values.max():.3g}"
    return holds_in_share(good.sum(), good.size, text, groups=groups_by(results, "points", good))


def settled(results):
    m = results.measured
    good = m.settled.values.astype(bool) & (m.deep_room.values <= SAME)
    left = m.deep_room.values[~good]
    text = f"{share_text(good.sum(), good.size)}; else the bound is above s*(3) by {left.max(initial=0):.2g} at most"
    return holds_in_share(good.sum(), good.size, text)


def draw(results):
    m = results.measured
    figure, (left, right) = plt.subplots(1, 2, figsize=(6.5, 2.8))
    faster, points = m.gain.values > SAME, results.values("points")
    left.plot(m.two[~faster], m.three[~faster], "o", color=BLUE, ms=3, mfc="none", label="rank one")
    if faster.any():
        left.plot(m.two[faster], m.three[faster], "^", color=ORANGE, ms=4, label="not rank one")
    left.set(xlabel="$s^*(2)$", ylabel="$s^*(3)$", title="exact best speeds")
    left.legend()
    for shift, inputs, colour in zip((-0.1, 0.1), results.values("inputs"), (BLUE, ORANGE), strict=False):
        for k, n in enumerate(points):
            here = faster[(m.inputs == inputs) & (m.points == n)]
            low, high = wilson(here.sum(), len(here))
            right.plot([n + shift] * 2, [100 * low, 100 * high], color=colour, lw=1)
            right.plot(n + shift, 100 * here.mean(), "o", color=colour, label=None if k else f"{inputs} inputs")
    right.set(xlabel="points", xticks=points, ylabel="% of draws (95 % interval)", ylim=(-1, 101))
    right.margins(x=0.15)
    right.set_title("draws whose optimum is not rank one")
    right.legend()
    letters((left, right))
    return figure


experiment = Experiment(
    title="Exact best speeds of random data: depth rarely matters",
    source="Section 4, Proposition 3.2",
    measure=measure,
    full=dict(inputs=(2, 3), points=(4, 6, 8, 10), seed=range(40)),
    quick=dict(inputs=(2,), points=(4, 6), seed=range(8)),
    draw=draw,
    drawn="(A) Exact best speeds with two and three layers, one mark per draw. (B) Share of draws whose optimum is "
    "not rank one, with 95 % intervals.",
    claims=(
        Claim("The optimal speed does not fall from depth two to depth three.", "E48 · Proposition 3.2", never_slower),
        Claim("On simple data the optimal escape direction is often exactly rank one.", "E61 · Section 4", rank_one),
        Claim("On most such data nothing is gained beyond depth three: s*(L) = s*(3) is proved.", "E80 · conjecture 2",
              settled),
    ),
)  # fmt: skip
