"""Escape paper, Sections 1.1 and 1.2: where all layers have rank one in the first escape, and where the first has not.

Linear nets, nets with a smooth activation and shallow ReLU nets, on Gaussian data with three outputs, so that rank one
is not forced, and on circles with alternating gradients. There linear nets have no first-order escape, and several
neurons are equally fast. All ends of the search are judged as descent leaves them: polished where there is a ReLU, but
not pruned. Pruned nets have rank one in their last two layers, since Prop. 3.2 gives an optimum of that kind.
Near the origin a tanh is nearly the identity: its nets are searched at weights of a thousandth, 1000 tanh(z/1000).
That differs from z by z³/(3·10⁶), which is below what counts as an escape here, a speed of 1e-5.

Ends that are slower than weights that are known are left out: they are not the fastest direction.
"""

import jax.numpy as jnp
import matplotlib.pyplot as plt
import numpy as np

from saddlescope.checks import always, groups_by, share_text
from saddlescope.claims import Claim
from saddlescope.errors import number_of
from saddlescope.experiment import Experiment
from saddlescope.figures import BLUE, GREEN, ORANGE, RED, letters
from saddlescope.papers.escape._data import CIRCLES, data_of
from saddlescope.papers.escape._ends import fastest_end, known_speed
from saddlescope.theory.escape.layer_ratios import tail_ratio
from saddlescope.theory.escape.problem import problem_of
from saddlescope.theory.escape.search import TANGENT, descend, random_starts

WIDTH, STARTS, SIZES = 8, 32, (4, 15, 3)
SMOOTH = ("linear", "tanh")
WORDS = {"linear": "linear", "tanh": "tanh", "shallow": "ReLU, 2 layers", "deep": "ReLU, 3 layers"}
NETS = (*SMOOTH, "shallow", "deep")
STUCK = 1e-5  # a speed below this is no escape, with ‖X‖_op = ‖G‖_F = 1
CLOSE = 1e-6  # relative, of the speed of a linear or tanh net, whose ends are not polished, to its closed form
FAR = 0.05  # of the ratio of a layer that is not rank one: s₂/s₁ is 0.23, far from where a search might stop short
ONE = 1e-8  # of the ratio of a layer that counts as rank one: s₂/s₁ is 1e-4, as everywhere


def same(z):
    return z


def small_tanh(z):
    return 1000 * jnp.tanh(z / 1000)


def measure(net, data, seed):
    X, G = data_of(data, seed, *SIZES)
    problem, depth = problem_of(X, G), 2 if net == "shallow" else 3
    linear = float(np.linalg.norm(problem.G @ problem.X.T, 2))
    if net in SMOOTH:
        weights, speed = _smooth(problem, depth, net, seed)
        optimal = speed >= (1 - CLOSE) * linear
    else:
        end = fastest_end(X, G, depth, WIDTH, STARTS, seed)
        weights, speed = end.weights, end.speed / problem.scale
        optimal = end.reaches(known_speed(X, G, depth))
    ratios = [tail_ratio(w) for w in weights] if speed > STUCK else []
    return {
        "ratio": (("layer",), np.array(ratios + [0.0] * (3 - len(ratios)))),
        "speed": float(max(speed, 0.0)),
        "optimal": bool(optimal),
        "linear_speed": linear,
    }


def _smooth(problem, depth, net, seed):
    """The fastest end of a descent with this activation."""
    widths = [len(problem.X), *([WIDTH] * (depth - 1)), len(problem.G)]
    starts = random_starts(np.random.default_rng(seed), STARTS, widths)
    activation = {"linear": same, "tanh": small_tanh}[net]
    ends = descend(starts, problem.X, problem.G, TANGENT, activation)
    best = int(np.argmax(ends.speeds))
    return [w[best] for w in ends.weights], ends.speeds[best]


def escaped(results):
    return results.where(results.measured.speed.values > STUCK)


def fastest(results):
    """The ends that escape and are as fast as is known; and what was left out, in words."""
    part = escaped(results)
    kept = part.where(part.measured.optimal.values.astype(bool))
    n, escaping, total = (r.measured.sizes["run"] for r in (kept, part, results))
    draws = len({(run["data"].item(), int(run["seed"])) for run in kept.runs()})
    text = f"{total - escaping} of {number_of(total, 'run')} do not escape, {escaping - n} are slower than is known"
    return kept, f"{text}; the others have {number_of(draws, 'draw')} of data and angle"


def rank_one(first, by):
    """All layers from this one on have rank one, in every net that escapes."""

    def check(results):
        part, left_out = fastest(results)
        if not part.measured.sizes["run"]:
            return None
        worst = part.measured.ratio.values[:, first - 1 :].max(axis=1)
        good = worst <= ONE
        text = f"{share_text(int(good.sum()), good.size)}, unpruned ends; Σ_(i≥2) s_i²/Σ s_i² of a layer is at most "
        text += f"{worst.max():.1e}, allowed {ONE:g}; {left_out}"
        return always(good.sum(), good.size, text, groups_by(part, by, good))

    return check


def first_not_rank_one(results):
    part, left_out = fastest(results)
    if not part.measured.sizes["run"]:
        return None
    first = part.measured.ratio.values[:, 0]
    good = first > FAR
    text = f"{share_text(int(good.sum()), good.size)}; Σ_(i≥2) s_i²/Σ s_i² of W_1 is {first.min():.2g} to "
    text += f"{first.max():.2g}, asked above {FAR:g}; {left_out}"
    return always(good.sum(), good.size, text, groups_by(part, "data", good))


def linear_stuck(results):
    """Where GXᵀ = 0 linear nets and tanh nets do not escape at first order."""
    speeds = results.measured.speed.values
    good = speeds <= STUCK
    text = f"{share_text(int(good.sum()), good.size)}; largest speed {speeds.max():.1e}, allowed {STUCK:g}"
    return always(good.sum(), good.size, text)


def linear_speed(results):
    """A linear net's best speed is the largest singular value of GXᵀ, at any depth."""
    m = results.measured
    gap = np.abs(m.speed.values / m.linear_speed.values - 1)
    good = gap <= CLOSE
    text = f"{share_text(int(good.sum()), good.size)}; largest gap {gap.max():.1e}, allowed {CLOSE:g}"
    return always(good.sum(), good.size, text)


def draw(results):
    figure, axes = plt.subplots(1, 2, figsize=(6.5, 3.2), sharey=True)
    for ax, names in zip(axes, (("gauss",), CIRCLES), strict=True):
        for k, (net, colour) in enumerate(zip(NETS, (GREEN, ORANGE, BLUE, RED), strict=True)):
            part = escaped(results.select(net=net, data=names))
            for number, run in enumerate(part.runs()):
                layers = np.arange(1, 3 if net == "shallow" else 4)
                values = np.maximum(run.ratio.values[: len(layers)], 1e-17)
                label = None if number else WORDS[net]
                ax.semilogy(layers + 0.06 * (k - 1.5), values, "o-", color=colour, ms=3, lw=0.5, label=label)
        ax.axhline(ONE, color="0.5", ls="--", lw=0.8)
        ax.set(xlabel="layer", xticks=(1, 2, 3), title="Gaussian data" if names == ("gauss",) else "circles")
    most = max(axes, key=lambda ax: len(ax.get_legend_handles_labels()[0]))
    figure.legend(*most.get_legend_handles_labels(), ncols=4, loc="outside lower center")
    axes[0].set_ylabel(r"$\sum_{i\geq2} s_i^2 / \sum_i s_i^2$")
    letters(axes)
    return figure


experiment = Experiment(
    title="Rank one in every layer: linear, smooth and shallow nets, but not deep ReLU nets",
    source="Sections 1.1, 1.2",
    measure=measure,
    full=dict(net=NETS, data=("gauss", *CIRCLES), seed=range(6)),
    quick=dict(net=NETS, data=("gauss", "circle8"), seed=range(5)),
    draw=draw,
    drawn="How far each layer of the fastest net found is from rank one: one line per data set and draw. Dashed: "
    "what counts as rank one; zeros are drawn at 1e-17.",
    claims=(
        Claim(
            "In linear and smooth nets all layers have rank one in the fastest direction.",
            "E4 · Section 1.1",
            rank_one(1, "net"),
            {"net": SMOOTH},
        ),
        Claim(
            "In shallow ReLU nets all layers have rank one in the fastest direction.",
            "E4 · Section 1.1",
            rank_one(1, "data"),
            {"net": "shallow"},
            note="On circles several neurons are equally fast, and ends mix them. Some optimum always has rank one.",
        ),
        Claim(
            "In deep ReLU nets on circles the first layer does not have rank one.",
            "E4 · Section 1.2",
            first_not_rank_one,
            {"net": "deep", "data": CIRCLES},
        ),
        Claim(
            "In deep ReLU nets the layers after the first have rank one.",
            "E5 · Section 1.2",
            rank_one(2, "data"),
            {"net": "deep"},
            note="Some optimum always has this property at depth 3 (Prop. 3.2); the ends of a search need not.",
        ),
        Claim(
            "Control: a linear or tanh net has no first-order escape where GXᵀ = 0.",
            "ours",
            linear_stuck,
            {"net": SMOOTH, "data": CIRCLES},
            built=True,  # L0 of a linear net is Tr[XGᵀ W_3 W_2 W_1] = 0, and a tanh of a thousandth is nearly linear
        ),
        Claim(
            "Control: the speed of linear and tanh nets is the largest singular value of GXᵀ.",
            "ours",
            linear_speed,
            {"net": SMOOTH, "data": "gauss"},
        ),
    ),
)
