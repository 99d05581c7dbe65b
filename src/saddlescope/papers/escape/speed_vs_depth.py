"""Escape paper, Proposition 3.2: the optimal speed does not fall with depth.

Every depth is searched from random starts alone: with starts lifted from one layer less the speed could not fall. On
Gaussian data s*(3) = s*(2) nearly always, so that they alone test little. On circles depth matters; for 6 and 10 points
depth 2 has no first-order escape at all. Depth 1 has s*(1) = ‖GXᵀ‖_F, and the proposition needs two layers.
"""

import matplotlib.pyplot as plt
import numpy as np

from saddlescope.checks import always, groups_by, share_text
from saddlescope.claims import CheckResult, Claim
from saddlescope.experiment import Experiment
from saddlescope.figures import BLUE, GREEN, ORANGE, PURPLE, RED, SKY
from saddlescope.papers.escape._data import CIRCLES, data_of
from saddlescope.tables import Table
from saddlescope.theory.escape.candidates import find_candidates
from saddlescope.theory.escape.collapse import deepen
from saddlescope.theory.escape.direction import RANK
from saddlescope.theory.escape.localized import localized_loss
from saddlescope.theory.escape.problem import problem_of

WIDTH, RESTARTS, MOST = 16, 128, 6
DATA = (*CIRCLES, "gauss", "classes")
SIZES = {"gauss": (2, 8, 1), "classes": (4, 15, 3)}
SHORT = 1e-6  # relative: polished speeds are exact to rounding, but a search may miss the optimum
HIGH = 2  # layers from here on have rank one, as far as we found


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
        lifted.append(_lifted_gap(best, problem))
    return {
        "speed": (("depth",), np.array(speeds)),
        "rank": (("deep", "layer"), np.array(ranks)),
        "lifted_gap": (("deep",), np.array(lifted)),
    }


def _rank(matrix):
    values = np.linalg.svd(matrix, compute_uv=False)
    return int(np.sum(values > RANK * values[0]))


def _lifted_gap(weights, problem):
    """Speed of the net of one layer more, less its own; 0 where there is no net."""
    if not weights:
        return 0.0
    deeper = deepen(weights, problem.X, problem.G)
    before, after = (-localized_loss(w, problem.X, problem.G) for w in (weights, deeper))
    return float(after - before)


def never_falls(results):
    """From depth 2 on."""
    speeds = results.measured.speed.values[:, 1:]
    falls = np.diff(speeds, axis=1) < -SHORT * speeds[:, 1:]
    good = np.array(~falls.any(axis=1))
    text = f"{share_text(int(good.sum()), good.size)}; largest fall {max(0.0, -np.diff(speeds, axis=1).min()):.1e}"
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
    gap = results.measured.lifted_gap.values.ravel()
    good = int(np.sum(gap >= -1e-12))
    return always(
        good, gap.size, f"{good} of {gap.size} nets; the deeper net is slower by at most {max(0, -gap.min()):.1e}"
    )


def flat_from_three(results):
    """s(L) = s(3) for L > 3: on these data the speed stops growing."""
    speeds = results.measured.speed.values[:, 2:]
    if speeds.shape[1] < 2:
        return None
    good = np.abs(speeds / speeds[:, :1] - 1).max(axis=1) <= SHORT
    return always(good.sum(), good.size, share_text(int(good.sum()), good.size), groups_by(results, "data", good))


def later_rank_one(results):
    """Layers 2 … L of the fastest nets have rank one."""
    ranks = results.measured["rank"].values
    good = np.array([np.all(r[:, HIGH - 1 :] <= 1) for r in ranks])
    first = [int(r[:, 0].max()) for r in ranks]
    text = f"{share_text(int(good.sum()), good.size)}; rank of W_1 up to {max(first)}"
    return always(good.sum(), good.size, text, groups_by(results, "data", good))


def converse(results):
    """Where layers 2 … 3 have rank one, the printed converse (L₀ = 1) says s(3) = s(1); s(3) = s(L₀ + 2) is right."""
    part = results.select(data="circle8")
    if not part.measured.sizes["run"]:
        return None
    speeds, ranks = part.measured.speed.values, part.measured["rank"].values
    applies = np.all(ranks[:, 1, 1:3] == 1, axis=1)
    printed = bool(np.all(np.abs(speeds[applies, 2] - speeds[applies, 0]) < SHORT))
    text = f"Example 1: W_2, W_3 have rank one at depth 3; s(1) = {speeds[0, 0]:.3g}, s(2) = {speeds[0, 1]:.6f}"
    return CheckResult(printed, f"{text}, s(3) = {speeds[0, 2]:.6f}")


def table(results):
    depths = range(1, results.measured.sizes["depth"] + 1)
    rows = [(str(run.data.values), int(run.seed), *map(float, run.speed.values)) for run in results.runs()]
    return [Table("speeds", "Best speed found by depth", ("data", "seed", *(f"L = {d}" for d in depths)), rows)]


def draw(results):
    figure, ax = plt.subplots(figsize=(5.4, 3.6))
    for name, colour in zip(results.values("data"), (BLUE, ORANGE, GREEN, RED, PURPLE, SKY), strict=False):
        for k, run in enumerate(results.select(data=name).runs()):
            depths = np.arange(1, len(run.speed) + 1)
            ax.plot(depths, run.speed.values, "o-", color=colour, ms=3, lw=0.8, label=None if k else name)
    ax.set(xlabel="depth L", ylabel="best speed $s(L)$", xticks=depths)
    ax.legend(fontsize=7)
    return figure


experiment = Experiment(
    title="The optimal escape speed does not fall with depth",
    source="Proposition 3.2",
    measure=measure,
    full=dict(data=DATA, most=(MOST,), seed=range(4)),
    quick=dict(data=("circle6", "circle8", "gauss"), most=(3,), seed=range(2)),
    draw=draw,
    tables=table,
    claims=(
        Claim("From depth 2 on the best speed does not fall with depth.", "E48 · Prop. 3.2", never_falls),
        Claim("The best speed does not fall from depth 1 to depth 2.", "E48 · Prop. 3.2", falls_from_one,
              note="A net of depth 1 has no ReLU: s*(1) = ‖GXᵀ‖_F. The proposition needs L ≥ 2."),
        Claim("The net of Prop. 3.2 with one layer more is no slower.", "E47 · Prop. 3.2", lifting_keeps),
        Claim("On circles with alternating gradients depth 3 is faster than depth 2.", "ours", depth_matters,
              {"data": CIRCLES}),
        Claim("From depth 3 on the best speed is constant.", "E80 · Section 5 (2)", flat_from_three),
        Claim("All layers but the first have rank one at the fastest direction.", "E5, E80 · Section 1.2, 5 (2)",
              later_rank_one),
        Claim("Rank-one layers after the L₀-th give s*(L) = s*(L₀).", "E82 · Section 5 (2)", converse,
              note="Rank-one layers after the L₀-th give s*(L) = s*(L₀ + 2): one hidden neuron must follow layer L₀."),
    ),
)  # fmt: skip
