"""Escape paper, Proposition 3.3: nearly rank-one inputs make every layer nearly rank one at the
best direction.

Inputs uvᵀ + E with u, v ≥ 0 and ‖E‖_F = ε, random G scaled to ‖Gv‖‖u‖ = 1. The best direction is
searched; the three ratios of its layers stand beside 8‖G‖ε/(s* − ‖G‖ε). The same bound is applied
to the sub-nets of these nets, from each hidden layer on, with the ε that this layer has. The proof
asks of a net only that it be as fast as the best one for uvᵀ is here, ‖Gv‖‖u‖ − ‖G‖ε: nets moved
from the best one until they are just that fast test the bound where the ratios are not zero, with
‖Gv‖‖u‖ in the place of s* − ‖G‖ε.
"""

import matplotlib.pyplot as plt
import numpy as np

from saddlescope.checks import always, share_text
from saddlescope.claims import Claim
from saddlescope.experiment import Experiment
from saddlescope.figures import BLUE, RED
from saddlescope.papers.escape._best import best_direction
from saddlescope.theory.escape.bounds import near_rank_one_bound, rank_one_speed
from saddlescope.theory.escape.layer_ratios import layer_ratios
from saddlescope.theory.escape.localized import layers_of, localized_loss


def measure(depth, eps, seed):
    rng = np.random.default_rng(seed)
    u, v = (np.abs(rng.standard_normal(n)) for n in (3, 8))
    u, v = u / np.linalg.norm(u), v / np.linalg.norm(v)
    G, E = rng.standard_normal((2, 8)), rng.standard_normal((3, 8))
    G = G / np.linalg.norm(G @ v)
    X = np.outer(u, v) + eps * E / np.linalg.norm(E)
    net = best_direction(X, G, depth, seed=seed)
    speed = -localized_loss(net, X, G)
    ratios = layer_ratios(net, X)
    exact = best_direction(np.outer(u, v), G, depth, seed=seed)
    return {
        "speed": speed,
        "bound": min(near_rank_one_bound(G, speed, eps), 1e6),
        "weights": float(ratios.weights.max()),
        "activations": float(ratios.activations[:-1].max()),
        "relu": float(ratios.relu[:-1].max(initial=0)),
        "output_relu": float(ratios.relu[-1]),
        **just_fast_enough(net, X, G, eps, rng),
        "later": later_layers(net, X, G, speed, ratios),
        "closed_gap": float(abs(-localized_loss(exact, np.outer(u, v), G) / rank_one_speed(u, v, G) - 1)),
    }


def just_fast_enough(net, X, G, eps, rng):
    """The largest ratio of W and Zσ over the bound 8‖G‖ε/(‖Gv‖‖u‖), in a net moved away from the
    best; ‖Gv‖‖u‖ = 1."""
    net, size = widened(net, 6), np.linalg.norm(G) * eps
    away = [rng.standard_normal(w.shape) for w in net]

    def moved(step):
        return [v / np.linalg.norm(v) for v in (w + step * a for w, a in zip(net, away, strict=True))]

    low, high = 0.0, 1.0
    for _ in range(40):
        middle = (low + high) / 2
        fast = -localized_loss(moved(middle), X, G) >= 1 - size
        low, high = (middle, high) if fast else (low, middle)
    ratios = layer_ratios(moved(low), X)
    largest = max(ratios.weights.max(), ratios.activations[:-1].max(), ratios.relu[:-1].max(initial=0))
    return {"moved": low, "moved_share": float(largest / (8 * size)), "moved_bound": 8 * size}


def widened(net, width):
    """The same net with hidden layers of this width or more: the new neurons are silent."""
    sizes = [net[0].shape[1], *(max(width, len(w)) for w in net[:-1]), len(net[-1])]
    shapes = zip(net, sizes[1:], sizes[:-1], strict=True)
    return [np.pad(w, ((0, b - w.shape[0]), (0, a - w.shape[1]))) for w, b, a in shapes]


def later_layers(net, X, G, speed, ratios):
    """Largest ratio of later layers over the bound from a hidden layer ℓ₀; −1 where it says
    nothing."""
    worst = -1.0
    for k, z in enumerate(layers_of(net, X).after[1:], start=1):
        eps = np.sqrt(ratios.activations[k]) * np.linalg.norm(z)
        bound = near_rank_one_bound(G, speed, eps)
        found = np.max(
            [
                ratios.weights[k:].max(),
                ratios.activations[k:-1].max(),
                ratios.relu[k:-1].max(initial=0),
            ]
        )
        if bound < 1:
            worst = max(worst, float(found / max(bound, 1e-6)))
    return worst


def within(name, what):
    def check(results):
        found, bound = results.measured[name].values, results.measured.bound.values
        says = bound < 1
        if not says.any():
            return None
        good = int(np.sum(found[says] <= bound[says] + 1e-6))  # 1e-6: what the search leaves
        text = f"{share_text(good, int(says.sum()))} with a bound below 1; {what} over it at most "
        return always(good, int(says.sum()), f"{text}{np.max(found[says] / bound[says]):.2g}")

    return check


def sub_nets(results):
    worst = results.measured.later.values
    good = int(np.sum(worst <= 1))
    text = f"largest ratio over its bound {worst.max():.2g}; {int(np.sum(worst >= 0))} nets have a bound below 1"
    return always(good, len(worst), f"{share_text(good, len(worst))}; {text}")


def all_fast_nets(results):
    part = results.measured
    says = part.moved_bound.values < 1
    share = part.moved_share.values[says]
    if not share.size:
        return None
    good = int(np.sum(share <= 1))
    text = f"largest ratio over the bound {share.min():.2g} to {share.max():.2g}"
    return always(good, len(share), f"{share_text(good, len(share))} with a bound below 1; {text}")


def closed_form(results):
    gap = results.measured.closed_gap.values
    good = int(np.sum(gap <= 1e-5))  # 1e-5: what the search leaves
    return always(
        good,
        len(gap),
        f"{share_text(good, len(gap))}; largest relative gap {gap.max():.1e}, allowed 1e-5",
    )


def draw(results):
    figure, ax = plt.subplots(figsize=(4.6, 3.4))
    part = results.measured
    for name, marker in (("weights", "o"), ("activations", "s"), ("relu", "^")):
        ax.loglog(
            part.eps,
            np.maximum(part[name], 1e-10),
            marker,
            color=BLUE,
            mfc="none",
            ms=4,
            label=name,
        )
    ax.loglog(part.eps, part.bound, "x", color=RED, label="bound")
    ax.axhline(1, color="0.5", lw=0.8)
    ax.set(xlabel="ε", ylabel="largest ratio over layers", title="inputs $uv^T + E$, ‖E‖ = ε")
    ax.legend(fontsize=7)
    return figure


experiment = Experiment(
    title="Nearly rank-one inputs: every layer is nearly rank one",
    source="Proposition 3.3",
    measure=measure,
    full=dict(depth=(2, 3, 4, 5), eps=(1e-3, 3e-3, 1e-2, 3e-2, 1e-1), seed=range(5)),
    quick=dict(depth=(3, 4), eps=(1e-3, 1e-2, 1e-1), seed=range(2)),
    draw=draw,
    claims=(
        Claim(
            "The ratios of W_ℓ are within the bound.",
            "E51 · Proposition 3.3",
            within("weights", "largest"),
        ),
        Claim(
            "The ratios of Zσ_ℓ are within the bound, ℓ < L.",
            "E51 · Proposition 3.3",
            within("activations", "largest"),
        ),
        Claim(
            "The effect of the ReLU is within the bound, ℓ < L.",
            "E51 · Proposition 3.3",
            within("relu", "largest"),
        ),
        Claim(
            "The effect of a ReLU at the output is within the bound.",
            "E51 · Proposition 3.3",
            within("output_relu", "effect"),
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
