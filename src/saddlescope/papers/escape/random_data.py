"""Escape paper, Section 4: on simple data the optimal direction is often exactly rank one. How often, on Gaussian data?

For each draw: the fastest direction at depth 3 that a search finds, beside the fastest at depth 2. Where the two speeds
agree some optimum has rank one in every layer. Ranks are read off the fastest end of a search of its own, which
is polished but not pruned: Prop. 3.2 gives an optimum whose last two layers have rank one, so that pruned nets always
do. Draws without a direction, and ends that are slower than the best speed known, are left out and counted.
"""

import matplotlib.pyplot as plt
import numpy as np

from saddlescope.checks import always, groups_by, holds_in_share, share_text
from saddlescope.claims import ALWAYS, MOST, Claim
from saddlescope.experiment import Experiment
from saddlescope.figures import BLUE, ORANGE, letters
from saddlescope.papers.escape._data import data_of
from saddlescope.papers.escape._ends import fastest_end, is_rank_one, second_value
from saddlescope.statistics import wilson
from saddlescope.tables import Table
from saddlescope.theory.escape.candidates import find_candidates
from saddlescope.theory.escape.direction import describe
from saddlescope.theory.escape.problem import problem_of

DEPTH, WIDTH, RESTARTS = 3, 16, 64
SAME = 1e-7  # relative: both speeds are polished to rounding
NOTHING = {"escapes": False, "settled": False, "gain": 0.0, "residual": 0.0, "second": ("layer", np.zeros(DEPTH))}


def measure(inputs, points, outputs, seed):
    data = data_of("gauss", seed, inputs, points, outputs)
    problem = problem_of(*data)
    shallow, deep = (find_candidates(problem.X, problem.G, d, WIDTH, RESTARTS, seed) for d in (2, DEPTH))
    if not deep.weights:
        return NOTHING
    end = fastest_end(*data, DEPTH, WIDTH, RESTARTS, seed)
    two, three = shallow.speeds.max(initial=0.0), deep.speeds[0]
    settled = end.reaches(three * problem.scale)
    return {
        "escapes": True,
        "settled": settled,
        "gain": float(three / two - 1) if two else np.inf,
        "residual": describe(deep.weights[0], problem.X, problem.G).residual,
        "second": ("layer", np.array([second_value(w) for w in end.weights] if settled else np.zeros(DEPTH))),
    }


def escaping(results):
    return results.where(results.measured.escapes.values.astype(bool))


def judged(results):
    """Draws with a direction whose end is as fast as the best net known, and what was left out, in words."""
    part = results.where(results.measured.settled.values.astype(bool))
    all_draws, kept = (r.measured.sizes["run"] for r in (results, part))
    without = all_draws - escaping(results).measured.sizes["run"]
    return part, f"left out: {without} draws without a direction, {all_draws - without - kept} slower ends"


def rank_one_layers(first, share=MOST):
    """Of an unpruned end all layers from this one on have rank one."""

    def check(results):
        part, left = judged(results)
        if not part.measured.sizes["run"]:
            return None
        second = part.measured.second.values[:, first - 1 :].max(axis=1)
        good = is_rank_one(second)
        text = f"{share_text(int(good.sum()), good.size)}, unpruned ends; largest s₂/s₁ {second.max():.1e}; {left}"
        return holds_in_share(good.sum(), good.size, text, share, groups_by(part, "points", good))

    return check


def depth_gains_nothing(results):
    part = escaping(results)
    if not part.measured.sizes["run"]:
        return None
    gain = part.measured.gain.values
    good = np.abs(gain) <= SAME
    text = f"{share_text(int(good.sum()), good.size)} have s(3) = s(2); largest gain {gain.max():.1%}"
    return holds_in_share(good.sum(), good.size, text, groups=groups_by(part, "points", good))


def abstract_ratio(results):
    """s₁ ≥ ℓ^{1/4} s₂ for ℓ = 2, 3; for ℓ = 1 it is true of every matrix."""
    part, left = judged(results)
    if not part.measured.sizes["run"]:
        return None
    scaled = part.measured.second.values[:, 1:] * np.arange(2, DEPTH + 1) ** 0.25
    good = scaled.max(axis=1) < 1
    text = f"{share_text(int(good.sum()), good.size)}, unpruned ends; largest ℓ^(1/4) s₂/s₁ {scaled.max():.1e}; {left}"
    return always(good.sum(), good.size, text)


def stationary(results):
    residual = escaping(results).measured.residual.values
    if not residual.size:
        return None
    good = residual <= 1e-6
    text = f"{share_text(int(good.sum()), good.size)}; largest residual {residual.max():.1e}, allowed 1e-6"
    return always(good.sum(), good.size, text)


def by_size(results):
    """(inputs, points, outputs) → draws whose fastest end has rank one in every layer, and all that were judged."""
    found: dict[tuple[int, int, int], list[bool]] = {}
    for run in judged(results)[0].runs():
        key = int(run.inputs), int(run.points), int(run.outputs)
        found.setdefault(key, []).append(bool(is_rank_one(run.second.values.max())))
    return found


def table(results):
    rows = [(*size, sum(good), len(good)) for size, good in by_size(results).items()]
    head = ("inputs", "points", "outputs", "rank one", "draws")
    return [Table("rank_one", "Draws whose fastest direction has rank one", head, rows)]


def draw(results):
    figure, (left, right) = plt.subplots(1, 2, figsize=(6.5, 3))
    found = by_size(results)
    for k, good in enumerate(found.values()):
        low, high = wilson(sum(good), len(good))
        left.plot([k, k], [low, high], color=BLUE)
        left.plot(k, np.mean(good), "o", color=BLUE, ms=4)
    left.set(xticks=range(len(found)), ylim=(-0.02, 1.02), ylabel="share of draws (95 % interval)")
    left.set_xticklabels(["{}, {}, {}".format(*size) for size in found], rotation=60)
    left.set(xlabel="inputs, points, outputs", title="rank one in every layer")
    gain = np.sort(np.maximum(escaping(results).measured.gain.values, 1e-16))
    right.semilogy(np.arange(1, len(gain) + 1), gain, ".", color=ORANGE)
    right.axhline(SAME, color="0.5", ls="--", lw=0.8)
    right.set(xlabel="draw, sorted", ylabel="$s(3)/s(2) - 1$", ylim=(3e-17, max(1.0, 2 * gain.max(initial=0))))
    right.set_title("what a third layer gains")
    letters((left, right))
    return figure


experiment = Experiment(
    title="On Gaussian data the optimal escape direction is nearly always rank one",
    source="Section 4",
    measure=measure,
    full=dict(inputs=(2, 3, 5), points=(6, 12), outputs=(1, 3), seed=range(10)),
    quick=dict(inputs=(2,), points=(6,), outputs=(3,), seed=range(6)),
    draw=draw,
    drawn="(A) Share of draws whose fastest direction is rank one in every layer, with 95 % intervals. (B) What a "
    "third layer gains in speed, one dot per draw; below the dashed line it is nothing, and zeros are drawn at "
    "1e-16.",
    tables=table,
    claims=(
        Claim(
            "On Gaussian data the fastest direction found is often exactly rank one (s₂/s₁ ≤ 1e-4 in every layer).",
            "E61 · Section 4",
            rank_one_layers(1),
        ),
        Claim("A third layer gains nothing on most Gaussian data.", "ours", depth_gains_nothing),
        Claim(
            "Layers 2 and 3 of the fastest direction found have rank one (s₂/s₁ ≤ 1e-4).",
            "E80 · Section 5 (2)",
            rank_one_layers(2, ALWAYS),
            note="Prop. 3.2 gives an optimum with this property; the ends of a search need not be that one.",
        ),
        Claim(
            "At the fastest direction that a search finds (no net is trained), s₁(W_ℓ) ≥ ℓ^(1/4) s₂(W_ℓ) for ℓ ≥ 2.",
            "E1 · Abstract",
            abstract_ratio,
        ),
        Claim("The directions found are stationary in Clarke's sense.", "E25 · Def. 2.1", stationary),
    ),
)
