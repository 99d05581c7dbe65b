"""Escape paper, Sections 1.1 and 1.2: where all layers have rank one in the first escape, and where the first has not.

Linear nets, nets with a smooth activation and shallow ReLU nets, on Gaussian data with three outputs, so that rank one
is not forced. Deep ReLU nets on circles with alternating gradients, where linear nets have no first-order escape.
Near the origin a tanh is nearly the identity: its nets are searched at weights of a thousandth, 1000 tanh(z/1000).
That differs from z by z³/(3·10⁶), which is below what counts as an escape here, a speed of 1e-5.
"""

import jax.numpy as jnp
import matplotlib.pyplot as plt
import numpy as np

from saddlescope.checks import always, groups_by, share_text
from saddlescope.claims import Claim
from saddlescope.experiment import Experiment
from saddlescope.figures import BLUE, GREEN, ORANGE, RED
from saddlescope.papers.escape._data import CIRCLES, data_of
from saddlescope.theory.escape.candidates import find_candidates
from saddlescope.theory.escape.layer_ratios import relu_effects, tail_ratio
from saddlescope.theory.escape.localized import layers_of
from saddlescope.theory.escape.problem import problem_of
from saddlescope.theory.escape.search import TANGENT, descend, random_starts

WIDTH, STARTS = 8, 64
SMOOTH = ("linear", "tanh")
NETS = ("linear", "tanh", "shallow", "deep")
STUCK = 1e-5  # a speed below this is no escape, with ‖X‖_op = ‖G‖_F = 1
ONE = 1e-4  # of the ratio of a layer that counts as rank one


def same(z):
    return z


def small_tanh(z):
    return 1000 * jnp.tanh(z / 1000)


def measure(net, data, seed):
    problem = problem_of(*data_of(data, seed, 4, 15, 3))
    depth = 2 if net == "shallow" else 3
    weights, speed = _smooth(problem, depth, net, seed) if net in SMOOTH else _relu(problem, depth, seed)
    ratios = [tail_ratio(w) for w in weights] if speed > STUCK else []
    effects = relu_effects(layers_of(weights, problem.X).before[:-1]) if ratios and net not in SMOOTH else ()
    return {
        "ratio": (("layer",), np.array(ratios + [0.0] * (3 - len(ratios)))),
        "speed": float(max(speed, 0.0)),
        "linear_speed": float(np.linalg.norm(problem.G @ problem.X.T, 2)),
        "relu": float(effects[-1]) if effects else 0.0,
    }


def _smooth(problem, depth, net, seed):
    """The fastest end of a descent with this activation."""
    widths = [len(problem.X), *([WIDTH] * (depth - 1)), len(problem.G)]
    starts = random_starts(np.random.default_rng(seed), STARTS, widths)
    activation = {"linear": same, "tanh": small_tanh}[net]
    ends = descend(starts, problem.X, problem.G, TANGENT, activation)
    best = int(np.argmax(ends.speeds))
    return [w[best] for w in ends.weights], ends.speeds[best]


def _relu(problem, depth, seed):
    found = find_candidates(problem.X, problem.G, depth, 16, STARTS, seed)
    return (found.weights[0], found.speeds[0]) if found.weights else ([], 0.0)


def all_rank_one(results):
    escaped = results.where(results.measured.speed.values > STUCK)
    if not escaped.measured.sizes["run"]:
        return None
    worst = escaped.measured.ratio.values.max(axis=1)
    good = worst <= ONE
    text = f"{share_text(int(good.sum()), good.size)}; largest ratio of a layer {worst.max():.1e}"
    return always(good.sum(), good.size, text, groups_by(escaped, "net", good))


def first_not_rank_one(results):
    first, later = results.measured.ratio.values[:, 0], results.measured.ratio.values[:, 1:].max(axis=1)
    good = (first > 0.05) & (later <= ONE)
    text = f"{share_text(int(good.sum()), good.size)}; ratio of W_1 {first.min():.2g} to {first.max():.2g}"
    return always(
        good.sum(), good.size, f"{text}, of later layers at most {later.max():.1e}", groups_by(results, "data", good)
    )


def linear_stuck(results):
    """Where GXᵀ = 0 linear nets and tanh nets do not escape at first order."""
    speeds = results.measured.speed.values
    good = speeds <= STUCK
    return always(good.sum(), good.size, f"{share_text(int(good.sum()), good.size)}; largest speed {speeds.max():.1e}")


def known_speed(results):
    """A linear net's best speed is the largest singular value of GXᵀ, at any depth."""
    m = results.measured
    gap = np.abs(m.speed.values / m.linear_speed.values - 1)
    good = gap <= 1e-4
    return always(good.sum(), good.size, f"{share_text(int(good.sum()), good.size)}; largest gap {gap.max():.1e}")


def draw(results):
    figure, ax = plt.subplots(figsize=(5.6, 3.4))
    for net, colour in zip(NETS, (GREEN, ORANGE, BLUE, RED), strict=True):
        for k, run in enumerate(results.select(net=net).runs()):
            if run.speed > STUCK:
                layers = np.arange(1, 3 if net == "shallow" else 4)
                values = np.maximum(run.ratio.values[: len(layers)], 1e-12)
                ax.semilogy(
                    layers + 0.03 * NETS.index(net), values, "o-", color=colour, ms=3, lw=0.5, label=None if k else net
                )
    ax.axhline(ONE, color="0.5", ls="--", lw=0.8)
    ax.set(xlabel="layer", ylabel=r"$\sum_{i\geq2} s_i^2 / \sum s_i^2$", xticks=(1, 2, 3))
    ax.legend(fontsize=7)
    return figure


experiment = Experiment(
    title="Rank one in every layer: linear, smooth and shallow nets, but not deep ReLU nets",
    source="Sections 1.1, 1.2",
    measure=measure,
    full=dict(net=NETS, data=("gauss", *CIRCLES), seed=range(5)),
    quick=dict(net=NETS, data=("gauss", "circle6", "circle8"), seed=range(2)),
    draw=draw,
    claims=(
        Claim("In linear nets, smooth nets and shallow ReLU nets all layers have rank one.", "E4 · Section 1.1",
              all_rank_one, {"net": ("linear", "tanh", "shallow")}),
        Claim("In deep ReLU nets on circles the first layer has not rank one, and later layers have.",
              "E4, E5 · Section 1.2", first_not_rank_one, {"net": "deep", "data": CIRCLES}),
        Claim("Control: a linear or tanh net has no first-order escape where GXᵀ = 0.", "ours", linear_stuck,
              {"net": SMOOTH, "data": CIRCLES}),
        Claim("Control: the speed of linear and tanh nets is the largest singular value of GXᵀ.", "ours", known_speed,
              {"net": SMOOTH, "data": "gauss"}),
    ),
)  # fmt: skip
