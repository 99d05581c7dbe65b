"""Escape paper, Section 4: nets whose layers all have rank one are as fast as one neuron, for any data and depth.

The paper says that such nets compute one-neuron functions. Rows of mixed sign give two: Aσ(t) + Bσ(−t), with
|A| + |B| ≤ Π‖W_ℓ‖. The speed is convex in (A, B), so that the best is one neuron nevertheless: s*(2). Here every layer
is a product b aᵀ, and both factors descend, from 64 random starts; s*(2) comes from a search of depth 2.
"""

import jax
import matplotlib.pyplot as plt
import numpy as np

from saddlescope.checks import always, share_text
from saddlescope.claims import Claim
from saddlescope.experiment import Experiment
from saddlescope.figures import BLACK, BLUE
from saddlescope.papers.escape._data import data_of
from saddlescope.theory.escape.candidates import find_candidates
from saddlescope.theory.escape.localized import layers_of
from saddlescope.theory.escape.problem import problem_of
from saddlescope.theory.escape.search import TANGENT, descend, random_starts

STARTS, WIDTH, RESTARTS = 64, 4, 64
SHORT = 1e-4  # relative: where a descent with a falling step stops on a kink
SIZES = {"gauss": (2, 8, 1), "wide": (5, 20, 1), "classes": (4, 15, 3), "circle8": (2, 8, 1), "circle12": (2, 12, 1)}


def same(z):
    return z


def measure(data, depth, seed):
    problem = problem_of(*data_of(data, seed, *SIZES[data]))
    X, G = problem.X, problem.G
    factors = [len(X), *([1, WIDTH] * (depth - 1)), 1, len(G)]
    rng = np.random.default_rng([seed, depth])
    between = (same, jax.nn.relu) * (depth - 1) + (same,)
    ends = descend(random_starts(rng, STARTS, factors), X, G, TANGENT, between)
    shallow = find_candidates(X, G, 2, 16, RESTARTS, seed).speeds
    return {
        "rank_one": float(ends.speeds.max() * problem.scale),
        "shallow": float(shallow.max(initial=0.0) * problem.scale),
        "one_sided": one_sided(rng, X, depth),
    }


def one_sided(rng, X, depth):
    """Share of random rank-one nets that are one neuron: then x or −x gives zero, for every x."""
    widths = [len(X), *([WIDTH] * (depth - 1)), 1]
    found = []
    for _ in range(50):
        ends = [rng.standard_normal(n) for n in widths]
        other = [rng.standard_normal(n) for n in widths]
        weights = [np.outer(b, a) for a, b in zip(ends[:-1], other[1:], strict=True)]
        both = [layers_of(weights, sign * X).before[-1] for sign in (1, -1)]
        found.append(bool(np.all(np.minimum(np.abs(both[0]), np.abs(both[1])) < 1e-12)))
    return float(np.mean(found))


def never_faster(results):
    m = results.measured
    over = m.rank_one.values - m.shallow.values
    good = int(np.sum(over <= 1e-9))
    return always(good, len(over), f"{share_text(good, len(over))}; largest excess over s*(2): {over.max():.1e}")


def as_fast(results):
    m = results.measured
    short = 1 - m.rank_one.values / m.shallow.values
    good = int(np.sum(short <= SHORT))
    return always(
        good, len(short), f"{share_text(good, len(short))}; farthest below s*(2): {short.max():.1e}, relative"
    )


def one_neuron(results):
    shares = results.measured.one_sided.values
    good = int(np.sum(shares == 1))
    text = f"of random rank-one nets {shares.mean():.0%} are one neuron; the others answer to x and to −x"
    return always(good, len(shares), text)


def draw(results):
    figure, ax = plt.subplots(figsize=(3.8, 3.4))
    for run in results.runs():
        ax.plot(run.shallow, run.rank_one, "o", color=BLUE, mfc="none", ms=4)
    reach = 1.1 * float(results.measured.shallow.max())
    ax.plot([0, reach], [0, reach], color=BLACK, lw=0.8)
    ax.set(xlabel="$s^*(2)$", ylabel="best speed, all layers of rank one", aspect="equal")
    return figure


experiment = Experiment(
    title="Nets whose layers all have rank one are as fast as one neuron",
    source="Section 4",
    measure=measure,
    full=dict(data=SIZES, depth=(3, 4, 5), seed=range(5)),
    quick=dict(data=("gauss", "classes", "circle8"), depth=(3,), seed=range(2)),
    draw=draw,
    drawn="The best speed of nets whose layers all have rank one against the best speed with two layers: one circle "
    "per data set, depth and draw. Line: both are equal.",
    claims=(
        Claim("Rank-one layers give one-neuron functions.", "E64 · Section 4", one_neuron,
              note="Rows of mixed sign give Aσ(t) + Bσ(−t). The best speed is that of one neuron all the same."),
        Claim("No net with rank-one layers is faster than s*(2).", "E64, ours · Section 4", never_faster),
        Claim("Some net with rank-one layers is as fast as s*(2).", "ours", as_fast),
    ),
)  # fmt: skip
