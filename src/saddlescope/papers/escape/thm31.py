"""Escape paper, Theorem 3.1: low rank of the deeper layers at the best escape direction, its bound
beside the measured.

The fastest ends of searches on Example 1 and other circles, on Gaussian data, and on data so nearly
rank one that the bound is below 1 at once (its constant c is small). Elsewhere the bound says
nothing at these depths: it is below 1 only past layer 81 c², which is 115,000 on Example 1. The
corrected bound has ℓ − 1 for ℓ, and ℓ < L for two of the three ratios.

Ends are polished but not pruned, and each depth is searched from random starts alone. A pruned net
has rank one in its last two layers by Prop. 3.2, and a lifted one is as fast as the shallower net.
An end that is slower than certified weights is no optimum: it is left out and counted.

Runs of several depths on one data set are one case for the bounds. Only the data near rank one have a bound below 1,
and there the measured ratios are zero to rounding: they agree with the bound, but hardly test it.
"""

import matplotlib.pyplot as plt
import numpy as np

from saddlescope.checks import always, share_text
from saddlescope.claims import Claim
from saddlescope.errors import number_of
from saddlescope.experiment import Experiment
from saddlescope.figures import BLUE, ORANGE, RED, letters
from saddlescope.papers.escape._data import data_of
from saddlescope.papers.escape._draws import data_sets, every_run_of
from saddlescope.papers.escape._ends import SETTLED, fastest_end, known_speed
from saddlescope.papers.escape._theorem import appendix_bound, appendix_gap, earliest, filled, literal_ratio
from saddlescope.theory.escape.bounds import printed_theorem_bound, theorem_bound, theorem_constant
from saddlescope.theory.escape.layer_ratios import layer_ratios

DATA = ("circle8", "circle6", "circle10", "circle12", "gauss", "aligned")
NAMES = {f"circle{n}": f"circle of {n} points" for n in (6, 8, 10, 12)}
NAMES |= {"gauss": "Gaussian data", "aligned": "nearly rank-one data"}
SIZES = {"gauss": (3, 12, 2), "aligned": (4, 8, 3)}
WIDTH, RESTARTS = 8, 64


def measure(data, depth, seed):
    X, G = data_of(data, seed, *SIZES.get(data, ()))
    net, speed = end = fastest_end(X, G, depth, WIDTH, RESTARTS, seed)
    c, layers = theorem_constant(X, G, speed), np.arange(1, depth + 1)
    ratios = layer_ratios(net, X)
    return {
        "speed": speed,
        "optimal": end.reaches(known_speed(X, G, depth)),
        "constant": c,
        "weights": ("layer", filled(ratios.weights)),
        "activations": ("layer", filled(ratios.activations[1:])),
        "relu": ("layer", filled(ratios.relu)),
        "printed": ("layer", filled(np.minimum(printed_theorem_bound(layers, c), 1e6))),
        "corrected": ("layer", filled(np.minimum(theorem_bound(layers, c), 1e6))),
        "appendix_gap": appendix_gap(X, G, speed, c),
        **earliest(ratios.activations, X, G, speed, depth),
        "literal": ("layer", filled([literal_ratio(w, k) for k, w in enumerate(net, start=1)])),
    }


def bounded(name, bound, last):
    """A ratio is at most its bound where that is below 1; at layers before the last, or at the last
    alone. A data set counts once, and against the bound if one of its nets is above it."""

    def check(results):
        results, left = optima(results)
        found_in, within, tested, worst = [], [], 0, 0.0
        for key, run in zip(data_sets(results), results.runs(), strict=True):
            depth = int(run.depth)
            layers = slice(depth - 1, depth) if last else slice(0, depth - (name != "weights"))
            found, limit = run[name].values[layers], run[bound].values[layers]
            says = limit < 1
            if says.any():
                found_in.append(key)
                within.append(bool(np.all(found[says] <= limit[says] + SETTLED)))  # what the search leaves
                tested, worst = tested + int(says.sum()), max(worst, float(np.max(found[says] / limit[says])))
        if not within:
            return None
        sets, nets, all_nets = every_run_of(found_in, within), len(within), results.measured.sizes["run"]
        good, n = int(sets.sum()), len(sets)
        text = (
            f"{good} of {number_of(n, 'data set')} with a bound below 1, {sum(within)} of {nets} nets; {tested} layers"
        )
        text += f"; largest ratio over bound {worst:.3g}"
        return always(good, n, f"{text}; in {all_nets - nets} of {all_nets} nets it says nothing; {left}")

    return check


def optima(results):
    """The runs whose end is not known to be slower than the best, and how many others there are, in words."""
    part = results.where(results.measured.optimal.values.astype(bool))
    left = results.measured.sizes["run"] - part.measured.sizes["run"]
    return part, f"{left} slower ends left out"


def literal(results):
    """s₁/s₂ ≥ ℓ^(1/4), as the abstract has it, in every layer from the second on with two rows and columns."""
    part, left = optima(results)
    runs = [run for run in part.runs() if run.literal.values.max() >= 0]
    if not runs:
        return None
    most = np.array([run.literal.values.max() for run in runs])
    good, worst = int(np.sum(most < 1)), runs[int(np.argmax(most))]
    text = f"{share_text(good, len(most))} on {number_of(len(set(data_sets(part))), 'data set')}, unpruned ends; "
    text += f"largest ℓ^(1/4) s₂/s₁ {most.max():.2g} "
    return always(good, len(most), f"{text}({worst.data.item()}, L = {int(worst.depth)}); {left}")


def constant_falls(results):
    """c(L) does not grow from depth to depth. Each depth is searched by itself, so that it could."""
    table = results.measured
    keys = list(zip(table.data.values, table.seed.values, strict=True))
    rises = []
    for key in dict.fromkeys(keys):
        rows = sorted((i for i, k in enumerate(keys) if k == key), key=lambda i: table.depth.values[i])
        c = table.constant.values[rows]
        rises += [np.max(c[1:] / c[:-1])] if len(c) > 1 else []
    if not rises:
        return None
    good = int(np.sum(np.array(rises) <= 1 + 10 * SETTLED))  # c is steeper in the speed than 1/s
    name, of_first = keys[0][0], [i for i, key in enumerate(keys) if key == keys[0]]
    squares = ", ".join(f"{table.constant.values[i] ** 2:.4g} at L = {table.depth.values[i]}" for i in of_first)
    sets = number_of(len(set(data_sets(results))), "data set")
    text = f"{good} of {len(rises)} searches on {sets}; largest c(L + 1)/c(L) − 1: {max(rises) - 1:.1e}"
    return always(good, len(rises), f"{text}; c² on {name}: {squares}")


def sign(results):
    """As printed s* = min Tr[GᵀY] is negative, and its logarithm does not exist."""
    speed = results.measured.speed.values
    return always(
        int(np.sum(-speed > 0)),
        len(speed),
        f"min Tr[GᵀY] is {-speed.max():.3g} to {-speed.min():.3g}",
    )


def same_in_appendix(results):
    gap = results.measured.appendix_gap.values
    good = int(np.sum(gap <= 1e-9))
    return always(
        good,
        len(gap),
        f"{share_text(good, len(gap))}; largest relative gap {gap.max():.1e} for ℓ > c²",
    )


def without_premise(results):
    """Every W_ℓ, ℓ = 1 … L, is within the bound of A.8, which leaves out ℓ > c². No ratio is below a negative bound."""
    part, left = optima(results)
    if not part.measured.sizes["run"]:
        return None
    good, below = [], 0
    for run in part.runs():
        depth = int(run.depth)
        limit = appendix_bound(np.arange(1, depth + 1), float(run.constant))
        good.append(bool(np.all(run.weights.values[:depth] <= limit + SETTLED)))
        below += bool(np.any(limit < 0))
    c = part.measured.constant.values
    text = f"{share_text(sum(good), len(good))}; the bound is negative in some layer of {below} nets"
    return always(sum(good), len(good), f"{text}; c² is {c.min() ** 2:.2g} to {c.max() ** 2:.4g}; {left}")


def layer_before(results):
    """ℓ₀ ≤ ℓ, counted in nets with a layer ℓ for which Proposition 3.4 says something."""
    asked, late, empty = (results.measured[n].values for n in ("asked", "late", "empty"))
    if not asked.any():
        return None
    good, n = int(np.sum(late[asked > 0] == 0)), int(np.sum(asked > 0))
    text = f"ℓ₀ > ℓ for {late.sum()} of {asked.sum()} layers ℓ; for {empty.sum()} others 2 ln A/ℓ ≥ 1 says nothing"
    return always(good, n, f"{share_text(good, n)}; {text}")


def after_the_inputs(results):
    """The proof then uses that Zσ_{ℓ₀} ≥ 0, which X = Zσ_0 need not be."""
    found, asked = (results.measured[n].values for n in ("at_inputs", "asked"))
    if not asked.any():
        return None
    good, n = int(np.sum(found[asked > 0] == 0)), int(np.sum(asked > 0))
    text = f"ℓ₀ = 0, with negative entries of X, for {found.sum()} of {asked.sum()} layers ℓ"
    return always(good, n, f"{share_text(good, n)}; {text}")


def draw(results):
    names = results.values("data")
    columns = min(3, len(names))
    rows = -(-len(names) // columns)
    size = (6.5, 0.4 + 2.3 * rows)
    figure, axes = plt.subplots(rows, columns, figsize=size, sharex=True, sharey=True, squeeze=False)
    for ax, name in zip(axes.flat, names, strict=False):
        for run in results.select(data=name).runs():
            layers = np.arange(1, int(run.depth) + 1)
            for what, color in (("weights", BLUE), ("activations", ORANGE)):
                values = np.maximum(run[what].values[: len(layers)], 1e-17)
                ax.semilogy(layers, values, "o-", color=color, ms=2, lw=0.6)
            limit = run.corrected.values[: len(layers)]
            ax.semilogy(layers, np.where(limit < 1e6, limit, np.nan), "--", color=RED, lw=0.8)
        ax.axhline(1, color="0.5", lw=0.8)
        ax.set(title=NAMES[name], ylim=(3e-18, 3e6), xlabel="layer ℓ", ylabel="distance from rank one")
        ax.set_xticks(range(1, 1 + int(results.measured.depth.max())))
        ax.label_outer()
    for ax in axes.flat[len(names) :]:
        ax.set_visible(False)
    for style, color, label in (("o-", BLUE, "weights"), ("o-", ORANGE, "activations"), ("--", RED, "bound")):
        axes[0, 0].plot([], [], style, color=color, ms=2, label=label)
    figure.legend(*axes[0, 0].get_legend_handles_labels(), ncols=3, loc="outside lower center")
    letters(axes.flat[: len(names)])
    return figure


experiment = Experiment(
    title="Low rank of deeper layers at the best escape direction, and its bound",
    source="Theorem 3.1",
    measure=measure,
    full=dict(data=DATA, depth=(2, 3, 4, 5, 6, 8), seed=range(5)),  # four data sets decide what is always true
    quick=dict(data=("circle8", "aligned"), depth=(2, 3, 4), seed=range(4)),
    where="depth > 2 or data != 'circle6' and data != 'circle10'",  # there nothing escapes at depth 2
    draw=draw,
    drawn="Distance of weights and activations from rank one, Σ over i ≥ 2 of s² over all s², by layer, and the "
    "corrected bound: one line per draw and depth; zeros are drawn at 1e-17. A bound above 1 (grey line) says "
    "nothing.",
    claims=(
        Claim(
            "At the fastest direction that a search finds (no net is trained), s₁(W_ℓ) ≥ ℓ^(1/4) s₂(W_ℓ) for ℓ ≥ 2.",
            "E1 · Abstract",
            literal,
            note="Where several directions are equally fast an end may mix them.",
        ),
        Claim(
            "The bound as printed holds for W_ℓ.",
            "E40 · Theorem 3.1",
            bounded("weights", "printed", False),
        ),
        Claim("The corrected bound holds for W_ℓ.", "ours", bounded("weights", "corrected", False)),
        Claim(
            "The bound as printed holds for Zσ_ℓ, ℓ < L.",
            "E41 · Theorem 3.1",
            bounded("activations", "printed", False),
        ),
        Claim(
            "The bound as printed holds for the effect of the ReLU, ℓ < L.",
            "E42 · Theorem 3.1",
            bounded("relu", "printed", False),
        ),
        Claim(
            "The corrected bound holds for the effect of the ReLU, ℓ < L.",
            "ours",
            bounded("relu", "corrected", False),
        ),
        Claim(
            "The bound holds for the effect of a ReLU at the output, ℓ = L.",
            "E42 · Theorem 3.1",
            bounded("relu", "printed", True),
            note="The output has no ReLU and may be negative: the ratio there is up to 1.",
        ),
        Claim(
            "s* = min Tr[GᵀY] is positive, as log s* needs.",
            "E43 · Theorem 3.1",
            sign,
            note="The speed is minus this minimum, which is negative wherever a net escapes: no run is needed.",
        ),
        Claim(
            "Where ℓ > c², the bound of Theorem A.8 is that of the main text.",
            "E44 · A.8",
            same_in_appendix,
            built=True,  # one formula, written in two ways
        ),
        Claim(
            "Theorem A.8 holds for W_ℓ in all layers, as stated.",
            "E44 · A.8",
            without_premise,
            note="It leaves out ℓ > c². For ℓ < c² its bound is negative, and no ratio is.",
        ),
        Claim(
            "The earliest layer that Proposition 3.4 gives lies at or before ℓ, where it gives one.",
            "E46 · A.8",
            layer_before,
        ),
        Claim(
            "Its activations are not negative, as the proof needs.",
            "E46 · A.8",
            after_the_inputs,
            note="It may be the inputs themselves. The hidden layers 1 … ℓ − 1 serve, with ℓ − 1 for ℓ.",
        ),
        Claim("c does not grow with depth, each depth searched by itself.", "E45 · Section 3", constant_falls),
    ),
)
