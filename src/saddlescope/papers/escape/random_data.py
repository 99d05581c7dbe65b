"""Escape paper, Section 4: on simple data the optimal direction is often exactly rank one. How often, on Gaussian data?

For each draw: the fastest direction at depth 3 that a search finds, with its ranks, beside the fastest at depth 2.
Where the two speeds agree some optimum has rank one in every layer.
"""

import matplotlib.pyplot as plt
import numpy as np

from saddlescope.checks import always, groups_by, holds_in_share, share_text
from saddlescope.claims import Claim
from saddlescope.experiment import Experiment
from saddlescope.figures import BLUE, ORANGE
from saddlescope.papers.escape._data import data_of
from saddlescope.statistics import wilson
from saddlescope.tables import Table
from saddlescope.theory.escape.candidates import find_candidates
from saddlescope.theory.escape.direction import describe
from saddlescope.theory.escape.problem import problem_of

WIDTH, RESTARTS = 16, 64
SAME = 1e-7  # relative: both speeds are polished to rounding
NONE = -1.0  # no direction of positive speed


def measure(inputs, points, outputs, seed):
    problem = problem_of(*data_of("gauss", seed, inputs, points, outputs))
    X, G = problem.X, problem.G
    shallow = find_candidates(X, G, 2, WIDTH, RESTARTS, seed).speeds.max(initial=0.0)
    deep = find_candidates(X, G, 3, WIDTH, RESTARTS, seed)
    if not deep.weights:
        return {"gain": NONE, "first": 0, "later": 0, "residual": 0.0, "ratio2": NONE}
    best = describe(deep.weights[0], X, G)
    gap = [_gap(w, k) for k, w in enumerate(best.weights, 1)]
    return {
        "gain": float(best.speed / shallow - 1) if shallow else np.inf,
        "first": best.ranks[0],
        "later": max(best.ranks[1:]),
        "residual": best.residual,
        "ratio2": float(min(gap)),
    }


def _gap(matrix, layer):
    """s₁/s₂ over ℓ^{1/4}, at most 1e6: the abstract says that it is at least one."""
    values = np.append(np.linalg.svd(matrix, compute_uv=False), 0.0)
    return min(values[0] / max(values[1], 1e-300) / layer**0.25, 1e6)


def is_rank_one(results):
    m = results.measured
    good = (m["first"].values <= 1) & (m.later.values <= 1)
    return holds_in_share(good.sum(), good.size, share_text(int(good.sum()), good.size), groups=_sizes(results, good))


def _sizes(results, good):
    return groups_by(results, "points", good)


def depth_gains_nothing(results):
    gain = results.measured.gain.values
    good = np.abs(gain) <= SAME
    text = f"{share_text(int(good.sum()), good.size)} have s(3) = s(2); largest gain {gain.max():.1%}"
    return holds_in_share(good.sum(), good.size, text, groups=_sizes(results, good))


def later_layers(results):
    later = results.measured.later.values
    good = later <= 1
    return always(good.sum(), good.size, f"{share_text(int(good.sum()), good.size)}; largest rank {later.max()}")


def abstract_ratio(results):
    ratio = results.measured.ratio2.values
    good = ratio >= 1 - 1e-9
    least = f"least s₁/(s₂ ℓ^(1/4)) {ratio.min():.3g}"
    return always(good.sum(), good.size, f"{share_text(int(good.sum()), good.size)}; {least}")


def stationary(results):
    residual = results.measured.residual.values
    good = residual <= 1e-6
    return always(good.sum(), good.size, f"{share_text(int(good.sum()), good.size)}; largest {residual.max():.1e}")


def by_size(results):
    """(inputs, points, outputs) → draws whose fastest direction has rank one, and all."""
    found: dict[tuple[int, int, int], list[bool]] = {}
    for run in results.runs():
        key = int(run.inputs), int(run.points), int(run.outputs)
        found.setdefault(key, []).append(bool(run["first"] <= 1 and run.later <= 1))
    return found


def table(results):
    rows = [(*size, sum(good), len(good)) for size, good in by_size(results).items()]
    return [
        Table(
            "rank_one",
            "Draws whose fastest direction has rank one",
            ("inputs", "points", "outputs", "rank one", "draws"),
            rows,
        )
    ]


def draw(results):
    figure, (left, right) = plt.subplots(1, 2, figsize=(8.6, 3.4))
    for k, good in enumerate(by_size(results).values()):
        low, high = wilson(sum(good), len(good))
        left.plot([k, k], [low, high], color=BLUE)
        left.plot(k, np.mean(good), "o", color=BLUE, ms=4)
    left.set(xticks=range(len(by_size(results))), ylim=(-0.02, 1.02), ylabel="share of rank one in every layer")
    left.set_xticklabels(["{}, {}, {}".format(*size) for size in by_size(results)], rotation=60, fontsize=7)
    left.set_xlabel("inputs, points, outputs")
    gain = np.sort(np.maximum(results.measured.gain.values, 1e-16))
    right.semilogy(gain, ".", color=ORANGE)
    right.set(xlabel="draw, sorted", ylabel="$s(3)/s(2) - 1$", title="what a third layer gains")
    return figure


experiment = Experiment(
    title="On Gaussian data the optimal escape direction is nearly always rank one",
    source="Section 4",
    measure=measure,
    full=dict(inputs=(2, 3, 5), points=(6, 12), outputs=(1, 3), seed=range(10)),
    quick=dict(inputs=(2,), points=(6, 12), outputs=(1,), seed=range(3)),
    draw=draw,
    tables=table,
    claims=(
        Claim("On simple data the optimal direction is often exactly rank one.", "E61 · Section 4", is_rank_one),
        Claim("A third layer gains nothing on most Gaussian data.", "ours", depth_gains_nothing),
        Claim("Layers after the first have rank one.", "E80 · Section 5 (2)", later_layers),
        Claim("s₁(W_ℓ) is at least ℓ^(1/4) times any other singular value.", "E1 · Abstract", abstract_ratio),
        Claim("The directions found are stationary in Clarke's sense.", "E25 · Def. 2.1", stationary),
    ),
)  # fmt: skip
