"""Escape paper, Section 5: linear nets visit saddles of rank 0, 1, 2, …, each the best fit of its rank.

Linear nets of three layers learn a teacher of rank three with singular values 3, 2 and 1, from small weights, with all
samples at every step. On each plateau: the numerical rank of every layer, and the level beside that of the best linear
map of that rank, Σ over i > k of σ_i²/N, with σ_i the singular values of the targets.
"""

import matplotlib.pyplot as plt
import numpy as np

from saddlescope.checks import in_most_runs
from saddlescope.claims import Claim
from saddlescope.experiment import Experiment
from saddlescope.figures import BLUE, ORANGE, SKY, WIDTH
from saddlescope.nets import BiasFreeMLP, Identity
from saddlescope.observables import WeightRanks
from saddlescope.optimisers import GradientDescent
from saddlescope.setting import Setting
from saddlescope.tasks import LinearTeacher
from saddlescope.training import every

RANK, INPUTS, OUTPUTS, STEPS = 3, 6, 5, 6000
STRENGTHS = (3.0, 2.0, 1.0)
COUNTED = 0.1  # of s₁: singular values above it count
LEARNED = 0.02  # of the loss at the start: below it the teacher is learned
WITHIN = 1e-3  # of the loss at the start: a plateau has a finite length


def setting(seed):
    rng = np.random.default_rng([seed, 3])
    left, right = (np.linalg.qr(rng.standard_normal((n, RANK)))[0] for n in (OUTPUTS, INPUTS))
    return Setting(
        task=LinearTeacher(left @ np.diag(STRENGTHS) @ right.T, np.eye(INPUTS), samples=200),
        net=BiasFreeMLP((20, 20), 1e-3, Identity()),
        optimiser=GradientDescent(0.02),
        steps=STEPS,
        seed=seed,
    )


def analyse(run, made):
    """Plateaus before the teacher is learned: their levels, the rank of every layer there; and the best levels."""
    found = [p for p in run.stages.plateaus if p.level > LEARNED * run["loss"].values[0]]
    at = [int(np.argmin(np.abs(run.times - p.at))) for p in found]
    return {
        "level": (("plateau",), np.array([p.level for p in found])),
        "rank_there": (("plateau", "layer"), run["weight_rank"].values[at]),
        "best_level": (("best",), best_levels(made.data())),
    }


def best_levels(data):
    """The loss of the best linear map of rank 0, 1, 2."""
    values = np.linalg.svd(data.y, compute_uv=False) ** 2 / len(data.y)
    return np.array([values[k:].sum() for k in range(RANK)])


def ranks_on(run):
    """The numerical rank of every layer on each plateau after the first."""
    return [tuple(row) for row in run["rank_there"].values[1:].tolist()]


def rank_by_rank(run):
    return ranks_on(run) == [(k,) * 3 for k in range(1, RANK)]


def at_levels(run):
    levels, best = run["level"].values, run["best_level"].values
    return len(levels) == RANK and bool(np.all(np.abs(levels - best) <= WITHIN * best[0]))


def say_ranks(results):
    rows = [", then ".join(" ".join(map(str, ranks)) for ranks in ranks_on(run)) for run in results.runs()]
    text = f"ranks of the three layers, plateau by plateau: {'; '.join(rows[:3])} (first runs)"
    return f"{text}; singular values above {COUNTED:g} of the largest count"


def say_levels(results):
    runs = [run for run in results.runs() if len(run["level"]) == RANK]
    gaps = [
        np.max(np.abs(run["level"].values - run["best_level"].values)) / float(run["best_level"][0]) for run in runs
    ]
    worst = f"{max(gaps):.2g}" if gaps else "unknown"
    return f"largest gap {worst} of the loss at the start, allowed {WITHIN:g}"


def draw(results):
    figure, ax = plt.subplots(figsize=(WIDTH, 2.8))
    for k, run in enumerate(results.runs()):
        ax.plot(run["loss"].values, color=SKY if k else BLUE, lw=0.6 if k else 1.4, zorder=2 if k else 3)
        if k == 0:
            for level in run["best_level"].values:
                ax.axhline(level, color=ORANGE, ls="--", lw=0.8)
    ax.set(xlabel="step", ylabel="loss", xlim=(0, STEPS))
    return figure


experiment = Experiment(
    title="Linear nets visit saddles of increasing rank",
    source="Section 5, conjecture 4",
    setting=setting,
    save_at=every(10, STEPS),
    observe=(WeightRanks(COUNTED),),
    analyse=analyse,
    keep=("loss",),
    full=dict(seed=range(20)),
    quick=dict(seed=range(5)),
    draw=draw,
    drawn="The loss of every run; the first is bold. Dashed: the best linear fits of rank 0, 1 and 2 to its data.",
    claims=(
        Claim(
            "On the k-th plateau after the origin every layer has rank k.",
            "E89 · Section 5, conjecture 4",
            in_most_runs(rank_by_rank, say_ranks),
        ),
        Claim(
            "Each plateau has the loss of the best fit of its rank.",
            "E89 · Section 5, conjecture 4",
            in_most_runs(at_levels, say_levels),
        ),
    ),
)
