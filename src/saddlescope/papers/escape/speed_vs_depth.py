"""Escape paper, Proposition 3.2: the optimal speed does not fall with depth.

Every depth is searched from random starts alone: with starts lifted from one layer less the speed could not fall. On
Gaussian data s*(3) = s*(2) nearly always, so that they alone test little. On circles depth matters; for 6 and 10 points
depth 2 has no first-order escape at all. Depth 1 has s*(1) = ‖GXᵀ‖_F, and the proposition needs two layers.

Nets are pruned, so that their last two layers have rank one for free (Prop. 3.2). Claims about ranks judge the layers
2 … L − 2 of nets of depth four and more.
"""

import matplotlib.pyplot as plt
import numpy as np

from saddlescope.checks import always, groups_by, share_text
from saddlescope.claims import Claim
from saddlescope.errors import number_of
from saddlescope.experiment import Experiment
from saddlescope.figures import BLUE, GREEN, ORANGE, PURPLE, RED, SKY
from saddlescope.papers.escape._data import CIRCLES, data_of
from saddlescope.papers.escape._draws import data_sets
from saddlescope.tables import Table
from saddlescope.theory.escape.candidates import find_candidates
from saddlescope.theory.escape.collapse import deepen
from saddlescope.theory.escape.direction import RANK
from saddlescope.theory.escape.localized import localized_loss
from saddlescope.theory.escape.problem import problem_of

WIDTH, RESTARTS, MOST = 16, 64, 6
DATA = (*CIRCLES, "gauss", "classes")
NAMES = {f"circle{n}": f"circle of {n} points" for n in (6, 8, 10, 12)}
NAMES |= {"gauss": "Gaussian", "classes": "Gaussian, 3 outputs"}
SIZES = {"gauss": (2, 8, 1), "classes": (4, 15, 3)}
SHORT = 1e-6  # relative: polished speeds are exact to rounding, but a search may miss the optimum
MIDDLE = 4  # the least depth with a layer after the first that pruning leaves as it is


def measure(data, most, seed):
    """s(1) … s(most) of one data set, the ranks of the fastest nets, and what Prop. 3.2 makes of each."""
    X, G = data_of(data, seed, *SIZES.get(data, ()))
    problem = problem_of(X, G)
    speeds, ranks, lifted = [np.linalg.norm(G @ X.T)], [], []
    for depth in range(2, most + 1):
        found = find_candidates(problem.X, problem.G, depth, WIDTH, RESTARTS, seed, lift=False)
        speeds.append(found.speeds.max(initial=0.0) * problem.scale)
        best = found.weights[0] if found.weights else []
        ranks.append([_rank(w) for w in best] + [0] * (most - len(best)))
        lifted.append(_lifted_loss(best, problem))
    return {
        "speed": (("depth",), np.array(speeds)),
        "rank": (("deep", "layer"), np.array(ranks)),
        "lifted_loss": (("deep",), np.array(lifted)),
    }


def _rank(matrix):
    values = np.linalg.svd(matrix, compute_uv=False)
    return int(np.sum(values > RANK * values[0]))


def _lifted_loss(weights, problem):
    """By how much the net of one layer more is slower; 0 where there is no net."""
    if not weights:
        return 0.0
    deeper = deepen(weights, problem.X, problem.G)
    before, after = (-localized_loss(w, problem.X, problem.G) for w in (weights, deeper))
    return float(before - after)


def never_falls(results):
    """From depth 2 on."""
    speeds = results.measured.speed.values[:, 1:]
    falls = np.diff(speeds, axis=1) < -SHORT * speeds[:, 1:]
    good = np.array(~falls.any(axis=1))
    text = f"{share_text(int(good.sum()), good.size)} on {number_of(len(set(data_sets(results))), 'data set')}; "
    text += f"largest fall {max(0.0, -np.diff(speeds, axis=1).min()):.1e}"
    return always(good.sum(), good.size, text, groups_by(results, "data", good))


def falls_from_one(results):
    """s(1) ≤ s(2), as the printed proposition says of every depth."""
    speeds = results.measured.speed.values
    good = speeds[:, 1] >= speeds[:, 0] - 1e-9  # on circles s(1) is 0 to rounding
    text = f"{share_text(int(good.sum()), good.size)} have s(2) ≥ s(1) = ‖GXᵀ‖_F"
    return always(good.sum(), good.size, text, groups_by(results, "data", good))


def depth_matters(results):
    """Depth 3 is faster than depth 2 on the circles."""
    speeds = results.measured.speed.values
    good = speeds[:, 2] > speeds[:, 1] * (1 + 1e-3)
    return always(good.sum(), good.size, share_text(int(good.sum()), good.size), groups_by(results, "data", good))


def lifting_keeps(results):
    """Of every net of a run, at all its depths."""
    there = results.measured["rank"].values[:, :, 0] > 0  # (runs, depths): where there is a net
    if not there.any():
        return None
    gap = np.where(there, results.measured.lifted_loss.values, 0.0)
    good = np.all(gap <= 1e-12, axis=1)[there.any(axis=1)]
    text = f"{share_text(int(good.sum()), good.size)}, {there.sum()} nets"
    return always(good.sum(), good.size, f"{text}; the deeper net is slower by at most {max(0, gap.max()):.1e}")


def flat_from_three(results):
    """s(L) = s(3) for L > 3: on these data the speed stops growing."""
    speeds = results.measured.speed.values[:, 2:]
    if speeds.shape[1] < 2:
        return None
    good = np.abs(speeds / speeds[:, :1] - 1).max(axis=1) <= SHORT
    return always(good.sum(), good.size, share_text(int(good.sum()), good.size), groups_by(results, "data", good))


def middle_ranks(results):
    """(runs, deep): the largest rank of the layers 2 … L − 2, for each depth L ≥ 4; 0 where nothing escapes."""
    ranks = results.measured["rank"].values
    depths = range(MIDDLE, ranks.shape[2] + 1)
    return np.stack([ranks[:, depth - 2, 1 : depth - 2].max(axis=1) for depth in depths], axis=1)


def middle_rank_one(results):
    """Layers 2 … L − 2 of the fastest nets have rank one, for every depth from four on."""
    if results.measured.sizes["layer"] < MIDDLE:
        return None
    found = middle_ranks(results)
    part, found = results.where(np.all(found > 0, axis=1)), found[np.all(found > 0, axis=1)]
    if not len(found):
        return None
    good = np.all(found == 1, axis=1)
    first = int(part.measured["rank"].values[:, :, 0].max())
    text = f"{share_text(int(good.sum()), good.size)}; layers 2 … L − 2 at depths {MIDDLE} to "
    text += f"{results.measured.sizes['layer']} have ranks up to {found.max()}, W_1 up to {first}"
    return always(good.sum(), good.size, text, groups_by(part, "data", good))


def converse(results):
    """Where layers 2 … 3 have rank one, the printed converse (L₀ = 1) says s(3) = s(1); s(3) = s(L₀ + 2) is right."""
    speeds, ranks = results.measured.speed.values, results.measured["rank"].values
    applies = np.all(ranks[:, 1, 1:3] == 1, axis=1)
    if not applies.any():
        return None
    good = np.abs(speeds[applies, 2] - speeds[applies, 0]) < SHORT
    one, two, three = speeds[applies][0, :3]
    text = f"{share_text(int(good.sum()), good.size)} of Example 1 with W_2, W_3 of rank one at depth 3; "
    return always(good.sum(), good.size, f"{text}s(1) = {one:.1e}, s(2) = {two:.6f}, s(3) = {three:.6f}")


def table(results):
    depths = range(1, results.measured.sizes["depth"] + 1)
    rows = [(str(run.data.values), int(run.seed), *map(float, run.speed.values)) for run in results.runs()]
    return [Table("speeds", "Best speed found by depth", ("data", "seed", *(f"L = {d}" for d in depths)), rows)]


def draw(results):
    figure, ax = plt.subplots(figsize=(6.5, 2.8))
    for name, colour in zip(results.values("data"), (BLUE, ORANGE, GREEN, RED, PURPLE, SKY), strict=False):
        for k, run in enumerate(results.select(data=name).runs()):
            depths = np.arange(1, len(run.speed) + 1)
            ax.plot(depths, run.speed.values, "o-", color=colour, ms=3, lw=0.8, label=None if k else NAMES[name])
    ax.set(xlabel="depth L", ylabel="best speed found, $s(L)$", xticks=depths)
    figure.legend(loc="outside right center")
    return figure


experiment = Experiment(
    title="The optimal escape speed does not fall with depth",
    source="Proposition 3.2",
    measure=measure,
    full=dict(data=DATA, most=(MOST,), seed=range(4)),
    quick=dict(data=("circle8", "gauss"), most=(4,), seed=range(2)),
    draw=draw,
    drawn="The best speed that a search finds at each depth: one line per draw.",
    tables=table,
    claims=(
        Claim("From depth 2 on the best speed found does not fall with depth.", "E48 · Prop. 3.2", never_falls),
        Claim(
            "The best speed does not fall from depth 1 to depth 2.",
            "E48 · Prop. 3.2",
            falls_from_one,
            note="A net of depth 1 has no ReLU: s*(1) = ‖GXᵀ‖_F. The proposition needs L ≥ 2.",
        ),
        Claim("The net of Prop. 3.2 with one layer more is no slower.", "E47 · Prop. 3.2", lifting_keeps),
        Claim(
            "On circles with alternating gradients depth 3 is faster than depth 2.",
            "ours",
            depth_matters,
            {"data": CIRCLES},
        ),
        Claim("From depth 3 on the best speed found is constant.", "E80 · Section 5 (2)", flat_from_three),
        Claim(
            "At depths from four on, layers 2 … L − 2 of the fastest net found have rank one.",
            "E5, E80 · Section 1.2, 5 (2)",
            middle_rank_one,
            note="The last two layers have rank one for free (Prop. 3.2) and are not judged.",
        ),
        Claim(
            "Rank-one layers after the L₀-th give s*(L) = s*(L₀).",
            "E82 · Section 5 (2)",
            converse,
            {"data": "circle8"},
            note="Rank-one layers after the L₀-th give s*(L) = s*(L₀ + 2): one hidden neuron must follow layer L₀.",
        ),
    ),
)
