"""Escape paper, Theorem 3.1: low rank of the deeper layers at the best escape direction, its bound
beside the measured.

The best directions found on Example 1 and other circles, on Gaussian data, and on data so nearly
rank one that the bound is below 1 at once (its constant c is small). Elsewhere the bound says
nothing at these depths: it is below 1 only past layer 81 c², which is 115,000 on Example 1. The
corrected bound has ℓ − 1 for ℓ, and ℓ < L for two of the three ratios.
"""

import matplotlib.pyplot as plt
import numpy as np

from saddlescope.checks import always, share_text
from saddlescope.claims import Claim
from saddlescope.experiment import Experiment
from saddlescope.figures import BLUE, ORANGE, RED
from saddlescope.papers.escape._best import best_direction, data_of
from saddlescope.theory.escape.bounds import (
    printed_theorem_bound,
    slack,
    theorem_bound,
    theorem_constant,
)
from saddlescope.theory.escape.layer_ratios import layer_ratios
from saddlescope.theory.escape.localized import localized_loss

DATA = ("circle8", "circle6", "circle10", "circle12", "gaussian", "aligned")
MOST = 8  # layers: shorter nets are filled up with NONE
NONE = -1.0


def measure(data, depth, seed):
    X, G = data_of(data, seed)
    net = best_direction(X, G, depth, seed=seed)
    speed = -localized_loss(net, X, G)
    c, layers = theorem_constant(X, G, speed), np.arange(1, depth + 1)
    ratios = layer_ratios(net, X)
    values = [np.linalg.svd(w, compute_uv=False) for w in net]
    first = np.array([s[0] / s[1] if len(s) > 1 and s[1] > 1e-4 * s[0] else 1e4 for s in values])
    return {
        "speed": speed,
        "constant": c,
        "weights": ("layer", filled(ratios.weights)),
        "activations": ("layer", filled(ratios.activations[1:])),
        "relu": ("layer", filled(ratios.relu)),
        "printed": ("layer", filled(np.minimum(printed_theorem_bound(layers, c), 1e6))),
        "corrected": ("layer", filled(np.minimum(theorem_bound(layers, c), 1e6))),
        "appendix_gap": appendix_gap(X, G, speed, c),
        **earliest(ratios.activations, X, G, speed, depth),
        "literal": ("layer", filled(first / layers**0.25)),
    }


def appendix_gap(X, G, speed, c):
    """Theorem A.8 writes 8c'/(s* − c'/√ℓ)/√ℓ with c' = √2 ‖X‖‖G‖ √ln A: relative gap to the main
    text, past c²."""
    layers = np.ceil(c**2) + np.arange(1, 100)
    own = np.sqrt(2) * np.linalg.norm(X) * np.linalg.norm(G) * np.sqrt(np.log(slack(X, G, speed)))
    appendix = 8 * own / (speed - own / np.sqrt(layers)) / np.sqrt(layers)
    return float(np.max(np.abs(appendix / printed_theorem_bound(layers, c) - 1)))


def earliest(ratios, X, G, speed, depth):
    """The earliest layer ℓ₀ within 2 ln A/ℓ, for each ℓ < L: whether ℓ₀ ≤ ℓ, and how often it is 0
    while X < 0 somewhere."""
    limit = 2 * np.log(slack(X, G, speed))
    low = [np.flatnonzero(ratios[:-1] <= limit / m) for m in range(1, depth)]
    first = [int(k[0]) if len(k) else depth for k in low]
    late = sum(f > m for m, f in enumerate(first, start=1))
    return {
        "late": late,
        "at_inputs": int(np.sum(np.array(first) == 0) * bool(np.any(X < 0))),
        "asked": depth - 1,
    }


def filled(values):
    return np.append(values, np.full(MOST - len(values), NONE))


def bounded(name, bound, last):
    """A ratio is at most its bound where that is below 1; at layers before the last, or at the last
    alone."""

    def check(results):
        good = n = tested = 0
        worst = 0.0
        for run in results.runs():
            depth = int(run.depth)
            layers = slice(depth - 1, depth) if last else slice(0, depth - (name != "weights"))
            found, limit = run[name].values[layers], run[bound].values[layers]
            says = limit < 1
            if says.any():
                n, tested = n + 1, tested + int(says.sum())
                good += bool(np.all(found[says] <= limit[says] + 1e-6))  # 1e-6: what the search leaves
                worst = max(worst, float(np.max(found[says] / limit[says])))
        if not n:
            return None
        all_runs = results.measured.sizes["run"]
        text = f"{share_text(good, n)}, {tested} layers with a bound below 1; largest ratio over bound {worst:.3g}"
        return always(good, n, f"{text}; in {all_runs - n} of {all_runs} nets it says nothing")

    return check


def literal(results):
    """s₁/s₂ ≥ ℓ^(1/4) in every layer, as the abstract has it."""
    least = np.array([run.literal.values[: int(run.depth)].min() for run in results.runs()])
    good = int(np.sum(least >= 1 - 1e-3))
    names = [f"{run.data.item()} L = {int(run.depth)}" for run in results.runs()]
    low = int(np.argmin(least))
    return always(
        good,
        len(least),
        f"{share_text(good, len(least))}; least s₁/(s₂ ℓ^(1/4)) {least[low]:.3f} ({names[low]})",
    )


def constant_falls(results):
    """c(L) does not grow from depth to depth."""
    table = results.measured
    keys = list(zip(table.data.values, table.seed.values, strict=True))
    rises = []
    for key in dict.fromkeys(keys):
        rows = [i for i, k in enumerate(keys) if k == key]
        c = table.constant.values[sorted(rows, key=lambda i: table.depth.values[i])]
        rises.append(np.max(c[1:] / c[:-1]) if len(c) > 1 else 0.0)
    if max(rises) == 0:
        return None
    good = int(np.sum(np.array(rises) <= 1 + 1e-4))
    first = table.constant.values[0]
    text = f"{good} of {len(rises)} data sets; largest c(L + 1)/c(L) {max(rises):.5f}; c² = {first**2:.0f} on the first"
    return always(good, len(rises), text)


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
    good = int(np.sum(gap <= 1e-6))
    return always(
        good,
        len(gap),
        f"{share_text(good, len(gap))}; largest relative gap {gap.max():.1e} for ℓ > c²",
    )


def layer_before(results):
    late = results.measured.late.values
    good = int(np.sum(late == 0))
    return always(good, len(late), f"{share_text(good, len(late))}; late in {int(late.sum())} layers")


def after_the_inputs(results):
    """The proof then uses that Zσ_{ℓ₀} ≥ 0, which X = Zσ_0 need not be."""
    found, asked = (results.measured[n].values for n in ("at_inputs", "asked"))
    good = int(np.sum(found == 0))
    text = f"ℓ₀ = 0, with negative entries of X, for {int(found.sum())} of {int(asked.sum())} layers ℓ"
    return always(good, len(found), f"{share_text(good, len(found))}; {text}")


def draw(results):
    names = results.values("data")
    figure, axes = plt.subplots(1, len(names), figsize=(2.2 * len(names), 2.9), sharey=True, squeeze=False)
    for ax, name in zip(axes[0], names, strict=True):
        for run in results.select(data=name).runs():
            depth = int(run.depth)
            layers = np.arange(1, depth + 1)
            for what, color in (("weights", BLUE), ("activations", ORANGE)):
                ax.semilogy(
                    layers,
                    np.maximum(run[what].values[:depth], 1e-10),
                    "o-",
                    color=color,
                    ms=2,
                    lw=0.6,
                )
            ax.semilogy(layers, np.minimum(run.corrected.values[:depth], 1e6), "--", color=RED, lw=0.8)
        ax.axhline(1, color="0.5", lw=0.8)
        ax.set(xlabel="layer", title=name)
    axes[0, 0].set_ylabel("distance from rank one")
    axes[0, 0].plot([], [], "o-", color=BLUE, label="weights")
    axes[0, 0].plot([], [], "o-", color=ORANGE, label="activations")
    axes[0, 0].plot([], [], "--", color=RED, label="corrected bound")
    axes[0, 0].legend(fontsize=6)
    return figure


experiment = Experiment(
    title="Low rank of deeper layers at the best escape direction, and its bound",
    source="Theorem 3.1",
    measure=measure,
    full=dict(data=DATA, depth=(2, 3, 4, 5, 6, 8), seed=range(3)),
    quick=dict(data=("circle8", "gaussian", "aligned"), depth=(2, 3, 4), seed=range(2)),
    where="depth > 2 or data != 'circle6' and data != 'circle10'",  # there nothing escapes at depth 2
    draw=draw,
    claims=(
        Claim(
            "s₁(W_ℓ) is at least ℓ^(1/4) times any other singular value.",
            "E1 · Abstract",
            literal,
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
            note="The speed is minus this minimum.",
        ),
        Claim("Theorem A.8 states the same bound.", "E44 · A.8", same_in_appendix),
        Claim(
            "The earliest layer that Proposition 3.4 gives lies at or before ℓ.",
            "E46 · A.8",
            layer_before,
        ),
        Claim(
            "Its activations are not negative, as the proof needs.",
            "E46 · A.8",
            after_the_inputs,
            note="It may be the inputs themselves. The hidden layers 1 … ℓ − 1 serve, with ℓ − 1 for ℓ.",
        ),
        Claim("c does not grow with depth.", "E45 · Section 3", constant_falls),
    ),
)
