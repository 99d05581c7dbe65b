"""Escape paper, Proposition 3.3: nearly rank-one inputs make every layer nearly rank one at the
best direction.

Inputs uvᵀ + E with u, v ≥ 0 and ‖E‖_F = ε, random G scaled to ‖Gv‖‖u‖ = 1. The best direction is
searched from random starts, polished and not pruned; the three ratios of its layers stand beside
8‖G‖ε/(s* − ‖G‖ε). They are zero to rounding here, so that the best direction tests the bound
weakly. The same bound is applied to the sub-nets of these nets, from each hidden layer on, with the
ε that this layer has; it is next to nothing. The proof asks of a net only that it be as fast as the best one for uvᵀ is
here, ‖Gv‖‖u‖ − ‖G‖ε. So nets are moved away from the best one, in all layers or in one, until they
are just that fast: there the ratios are not zero, and ‖Gv‖‖u‖ takes the place of s* − ‖G‖ε.

A draw of u, v, G and E is one case: it counts for a bound only if the nets of all depths and all ε are within it.
"""

import matplotlib.pyplot as plt
import numpy as np

from saddlescope.checks import always
from saddlescope.claims import Claim
from saddlescope.errors import number_of
from saddlescope.experiment import Experiment
from saddlescope.figures import BLUE, RED, letters
from saddlescope.papers.escape._draws import every_run_of
from saddlescope.papers.escape._ends import fastest_end
from saddlescope.theory.escape.bounds import near_rank_one_bound, rank_one_speed
from saddlescope.theory.escape.layer_ratios import layer_ratios
from saddlescope.theory.escape.localized import layers_of, localized_loss

WIDTH, RESTARTS = 8, 32
ROUNDING = 1e-9  # of a ratio, which is a square: more than polishing leaves
SILENT = -2.0  # where the bound says nothing: a ratio less a bound below 1 is above −1


def measure(depth, eps, seed):
    rng = np.random.default_rng(seed)
    u, v = (np.abs(rng.standard_normal(n)) for n in (3, 8))
    u, v = u / np.linalg.norm(u), v / np.linalg.norm(v)
    G, E = rng.standard_normal((2, 8)), rng.standard_normal((3, 8))
    G = G / np.linalg.norm(G @ v)
    X = np.outer(u, v) + eps * E / np.linalg.norm(E)
    net, speed = fastest_end(X, G, depth, WIDTH, RESTARTS, seed)
    ratios = layer_ratios(net, X)
    bound = min(near_rank_one_bound(G, speed, eps), 1e6)
    largest = {
        "weights": float(ratios.weights.max()),
        "activations": float(ratios.activations[1:-1].max()),
        "relu": float(ratios.relu[:-1].max(initial=0)),
        "output_relu": float(ratios.relu[-1]),
    }
    exact = fastest_end(np.outer(u, v), G, depth, WIDTH, RESTARTS, seed)
    return {
        "speed": speed,
        "bound": bound,
        "says": bound < 1,
        **largest,
        **{f"{name}_over": value - bound for name, value in largest.items()},
        "moved_bound": 8 * np.linalg.norm(G) * eps,
        "moved": just_fast_enough(net, X, G, eps, rng),
        "later": later_layers(net, X, G, speed, ratios),
        "closed_gap": float(abs(exact.speed / rank_one_speed(u, v, G) - 1)),
    }


def just_fast_enough(net, X, G, eps, rng):
    """The largest ratio of nets moved away from the best until their speed is 1 − ‖G‖ε; ‖Gv‖‖u‖ = 1.

    All layers are moved at once, and each layer alone, along random weights."""
    away = [rng.standard_normal(w.shape) for w in net]
    choices = [range(len(net)), *([k] for k in range(len(net)))]
    return max(_largest_ratio(net, away, chosen, X, G, eps) for chosen in choices)


def _largest_ratio(net, away, chosen, X, G, eps):
    def moved(step):
        new = [w + step * a * (k in chosen) for k, (w, a) in enumerate(zip(net, away, strict=True))]
        return [w / np.linalg.norm(w) for w in new]

    low, high = 0.0, 1.0
    for _ in range(40):
        middle = (low + high) / 2
        fast = -localized_loss(moved(middle), X, G) >= 1 - np.linalg.norm(G) * eps
        low, high = (middle, high) if fast else (low, middle)
    ratios = layer_ratios(moved(low), X)
    return float(max(ratios.weights.max(), ratios.activations[1:-1].max(), ratios.relu[:-1].max(initial=0)))


def later_layers(net, X, G, speed, ratios):
    """Largest ratio of later layers, less the bound from a hidden layer ℓ₀; SILENT where it says nothing."""
    worst = SILENT
    for k, z in enumerate(layers_of(net, X).after[1:], start=1):
        eps = np.sqrt(ratios.activations[k]) * np.linalg.norm(z)
        bound = near_rank_one_bound(G, speed, eps)
        later = (
            ratios.weights[k:].max(),
            ratios.activations[k + 1 : -1].max(initial=0),
            ratios.relu[k:-1].max(initial=0),
        )
        if bound < 1:
            worst = max(worst, float(max(later) - bound))
    return worst


def within(name):
    def check(results):
        part = results.measured
        found, bound, over = (part[n].values for n in (name, "bound", f"{name}_over"))
        says = part.says.values.astype(bool)
        if not says.any():
            return None
        text = f"largest ratio {found[says].max():.1e}, smallest bound {bound[says].min():.1e}"
        return by_draw(part.seed.values[says], over[says] <= ROUNDING, text)

    return check


def by_draw(seeds, good, text):
    """A draw counts once, and against the claim if one of its nets does."""
    draws = every_run_of(seeds.tolist(), good)
    nets = f"{int(np.sum(good))} of {number_of(len(good), 'net')} with a bound below 1"
    return always(
        int(draws.sum()), len(draws), f"{int(draws.sum())} of {number_of(len(draws), 'draw')}, {nets}; {text}"
    )


def sub_nets(results):
    part = results.measured
    says = part.later.values != SILENT
    if not says.any():
        return None
    worst = part.later.values[says]
    return by_draw(part.seed.values[says], worst <= ROUNDING, f"largest ratio less its bound {worst.max():.2g}")


def all_fast_nets(results):
    part = results.measured
    says = part.moved_bound.values < 1
    if not says.any():
        return None
    share = part.moved.values[says] / part.moved_bound.values[says]
    text = f"largest ratio over the bound {share.min():.2g} to {share.max():.2g}"
    return by_draw(part.seed.values[says], share <= 1, text)


def closed_form(results):
    """Of each draw of u, v and G, at every depth; ε plays no part here."""
    gap = results.measured.closed_gap.values
    draws = every_run_of(results.measured.seed.values.tolist(), gap <= 1e-12)  # polished to rounding
    good = int(draws.sum())
    text = f"largest relative gap {gap.max():.1e}, allowed 1e-12"
    return always(good, len(draws), f"{good} of {number_of(len(draws), 'draw')} at all depths; {text}")


def draw(results):
    figure, (left, right) = plt.subplots(1, 2, figsize=(6.5, 3.2), sharex=True)
    part = results.measured
    for name, marker, label in (("weights", "o", "$W_\\ell$"), ("activations", "s", "$Z^\\sigma_\\ell$"),
                                ("relu", "^", "ReLU")):  # fmt: skip
        left.loglog(part.eps, np.maximum(part[name], 1e-20), marker, color=BLUE, mfc="none", ms=4, label=label)
    left.loglog(part.eps, part.bound, "x", color=RED, label="bound")
    left.set(ylabel="largest ratio over layers", title="best direction")
    right.loglog(part.eps, part.moved, "o", color=BLUE, mfc="none", ms=4, label="moved nets")
    right.loglog(part.eps, part.moved_bound, "x", color=RED, label="bound")
    right.set(title="nets just fast enough")
    for ax in (left, right):
        ax.axhline(1, color="0.5", lw=0.8)
        ax.set_xlabel("ε, the size of what is not rank one")
        ax.legend()
    letters((left, right))
    return figure


experiment = Experiment(
    title="Nearly rank-one inputs: every layer is nearly rank one",
    source="Proposition 3.3",
    measure=measure,
    full=dict(depth=(2, 3, 4, 5), eps=(1e-3, 3e-3, 1e-2, 3e-2, 1e-1), seed=range(5)),
    quick=dict(depth=(3, 4), eps=(1e-3, 1e-2), seed=range(4)),
    draw=draw,
    drawn="Largest ratio of a layer and its bound, one mark per draw and depth. (A) The fastest direction found: its "
    "weights, its activations and the effect of its ReLUs; zeros are drawn at 1e-20. (B) Nets that were moved "
    "away from it until they are just fast enough. Line: a bound above 1 says nothing.",
    claims=(
        Claim(
            "The ratios of W_ℓ are within the bound.",
            "E51 · Proposition 3.3",
            within("weights"),
        ),
        Claim(
            "The ratios of Zσ_ℓ are within the bound, ℓ < L.",
            "E51 · Proposition 3.3",
            within("activations"),
        ),
        Claim(
            "The effect of the ReLU is within the bound, ℓ < L.",
            "E51 · Proposition 3.3",
            within("relu"),
        ),
        Claim(
            "The effect of a ReLU at the output is within the bound.",
            "E51 · Proposition 3.3",
            within("output_relu"),
            note="The output has no ReLU, and some of its rows are negative.",
        ),
        Claim(
            "The ratios are within 8‖G‖ε/(‖Gv‖‖u‖) in every net as fast as ‖Gv‖‖u‖ − ‖G‖ε.",
            "ours",
            all_fast_nets,
        ),
        Claim("A hidden layer near rank one makes all later ones so.", "E52 · Section 3.2", sub_nets),
        Claim("On uvᵀ the best speed is ‖Gv‖‖u‖, at every depth ≥ 2.", "E53 · A.6", closed_form),
    ),
)
