"""Escape paper, Section 5: rank-one balanced linear nets stay so, at every step of gradient descent.

Nets of four layers W_ℓ = s u_ℓ u_{ℓ-1}ᵀ learn a linear teacher. Balanced means that layers share the vectors u_ℓ.
Beside the linear net: the same with ReLU and non-negative u_ℓ, where the gates of all neurons agree. Two controls must
fail: unbalanced linear layers u_ℓ v_{ℓ-1}ᵀ, and ReLU with u_ℓ of mixed signs, for which Zσ has rank two.
"""

import matplotlib.pyplot as plt
import numpy as np

from saddlescope.checks import always, groups_by, share_text
from saddlescope.claims import Claim
from saddlescope.experiment import Experiment
from saddlescope.figures import BLUE, GREEN, ORANGE, RED
from saddlescope.initials import given_weights
from saddlescope.nets import BiasFreeMLP, Identity, ReLU
from saddlescope.observables import SingularValues
from saddlescope.optimisers import GradientDescent
from saddlescope.setting import Setting
from saddlescope.tasks import LinearTeacher
from saddlescope.training import every

KINDS = ("linear", "relu", "linear-unbalanced", "relu-mixed")
DEPTH, WIDTH, INPUTS, OUTPUTS, STEPS = 4, 12, 5, 3, 2000
STRENGTH = 0.7  # of every layer at the start
EXACT, BROKEN = 1e-12, 1e-2


def setting(kind, seed):
    rng = np.random.default_rng([seed, 7])
    teacher = rng.standard_normal((OUTPUTS, INPUTS))
    return Setting(
        task=LinearTeacher(teacher, np.eye(INPUTS), samples=100),
        net=BiasFreeMLP((WIDTH,) * (DEPTH - 1), 1.0, ReLU() if kind.startswith("relu") else Identity()),
        optimiser=GradientDescent(0.02),
        steps=STEPS,
        initial=given_weights({f"W{j}": w for j, w in enumerate(start(kind, rng), 1)}),
        seed=seed,
    )


def start(kind, rng):
    """The four matrices, of rank one and norm `STRENGTH`."""
    vectors = [_unit(rng, size) for size in (INPUTS, *[WIDTH] * (DEPTH - 1), OUTPUTS)]
    if kind == "relu":
        vectors[1:-1] = [np.abs(v) for v in vectors[1:-1]]
    rows = [_unit(rng, len(v)) for v in vectors] if kind == "linear-unbalanced" else vectors
    return [STRENGTH * np.outer(vectors[j + 1], rows[j]) for j in range(DEPTH)]


def _unit(rng, size):
    drawn = rng.standard_normal(size)
    return drawn / np.linalg.norm(drawn)


def analyse(run, made):
    """The largest s₂/s₁ of a layer, along the run and over all of it; and by how much the loss falls."""
    found = [run[f"singular_values_W{j}"].values for j in range(1, DEPTH + 1)]
    along = np.max([v[:, 1] / v[:, 0] for v in found], axis=0)
    return {
        "worst": float(along.max()),
        "fall": float(1 - run["loss"].values[-1] / run["loss"].values[0]),
        "times": (("instant",), np.asarray(run.times, float)),
        "along": (("instant",), along),
    }


def judged(test):
    def check(results):
        worst, fall = (results.measured[name].values for name in ("worst", "fall"))
        good = test(worst)
        text = f"{share_text(int(good.sum()), good.size)}; largest s₂/s₁ {worst.min():.1e} to {worst.max():.1e}"
        text += f"; the loss falls by {min(fall):.0%} to {max(fall):.0%}"
        return always(good.sum(), good.size, text, groups_by(results, "kind", good))

    return check


NAMES = {
    "linear": "linear, balanced",
    "relu": "ReLU, non-negative vectors",
    "linear-unbalanced": "linear, unbalanced",
    "relu-mixed": "ReLU, mixed signs",
}


def draw(results):
    figure, ax = plt.subplots(figsize=(6.5, 2.8))
    for kind, colour in zip(KINDS, (BLUE, GREEN, ORANGE, RED), strict=True):
        for k, run in enumerate(results.select(kind=kind).runs()):
            label = None if k else NAMES[kind]
            ax.semilogy(run["times"], np.maximum(run["along"], 1e-18), color=colour, label=label, lw=0.7)
    ax.set(xlabel="step", ylabel="largest $s_2/s_1$ of a layer", xlim=(0, STEPS))
    figure.legend(ncols=4, loc="outside lower center")
    return figure


experiment = Experiment(
    title="Rank-one balanced nets are invariant under gradient descent",
    source="Section 5",
    setting=setting,
    save_at=every(100, STEPS),
    observe=(SingularValues(),),
    analyse=analyse,
    full=dict(kind=KINDS, seed=range(20)),
    quick=dict(kind=KINDS, seed=range(4)),
    draw=draw,
    drawn="One line per run: the largest s₂/s₁ over the four layers. Rounding leaves 1e-15 of a matrix of rank one.",
    claims=(
        Claim(
            "A rank-one balanced linear net stays rank one in every layer.",
            "E84 · Section 5",
            judged(lambda worst: worst <= EXACT),
            {"kind": "linear"},
        ),
        Claim(
            "So does a ReLU net, if the vectors between its layers are non-negative.",
            "ours",
            judged(lambda worst: worst <= EXACT),
            {"kind": "relu"},
        ),
        Claim(
            "Controls: an unbalanced linear net and a ReLU net with mixed signs do not.",
            "ours",
            judged(lambda worst: worst >= BROKEN),
            {"kind": ("linear-unbalanced", "relu-mixed")},
        ),
    ),
)
