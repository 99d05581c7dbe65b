"""Escape paper, Proposition 3.4: how many layers are nearly rank one, its stronger form, and the
budget by layer.

Three kinds of net with L0 < 0 on ‖θ‖² = L: the best direction found, a one-neuron
critical point that need not be the best, and random nets. The proposition counts the layers Zσ_0 …
Zσ_{L-1}; as a sum, Σ ln 1/(1 − ratio) ≤ 2 ln(‖X‖‖G‖/s), it is stronger and never empty. The exact
budget says where ln(‖X‖‖G‖/s) goes.
"""

import matplotlib.pyplot as plt
import numpy as np

from saddlescope.checks import always, share_text
from saddlescope.claims import Claim
from saddlescope.experiment import Experiment
from saddlescope.figures import BLUE, GREEN, ORANGE, RED
from saddlescope.papers.escape._best import best_direction, data_of
from saddlescope.papers.escape._flows import drawn_weights
from saddlescope.theory.escape.bounds import most_layers_bound, slack, speed_budget, sum_form
from saddlescope.theory.escape.layer_ratios import layer_ratios
from saddlescope.theory.escape.localized import localized_loss
from saddlescope.theory.escape.one_neuron import one_neuron_direction, one_neuron_weights

MOST = 8
SHARES = (0.1, 0.25, 0.5, 0.75, 0.9)
TERMS = ("output", "norms", "alignment", "relu")


def measure(data, net, depth, seed):
    X, G = data_of(data, seed)
    weights = {"best": best, "neuron": neuron, "random": random}[net](X, G, depth, seed)
    speed = -localized_loss(weights, X, G)
    ratios = layer_ratios(weights, X).activations[:-1]
    low = [np.sum(ratios <= most_layers_bound(X, G, speed, depth, p)) - (1 - p) * depth for p in SHARES]
    says = [most_layers_bound(X, G, speed, depth, p) < 1 for p in SHARES]
    total, limit = sum_form(weights, X, G)
    budget = speed_budget(weights, X, G)
    return {
        "speed": speed,
        "spare": float(min(low)),
        "says": int(sum(says)),
        "sum": total,
        "limit": limit,
        "budget_gap": float(abs(sum(v.sum() for v in budget.values()) - np.log(slack(X, G, speed)))),
        "least_term": float(
            min(
                budget["alignment"].min(),
                budget["relu"].min(),
                budget["norms"].sum(),
                *budget["output"],
            )
        ),
        "first_low": float(np.argmin(ratios) / depth),
        **{name: ("layer", np.append(budget[name], np.zeros(MOST - len(budget[name])))) for name in TERMS},
    }


def best(X, G, depth, seed):
    return best_direction(X, G, depth, seed=seed)


def neuron(X, G, depth, seed):
    """A one-neuron critical point off the kinks: any, not the fastest."""
    u, y, _ = one_neuron_direction(X, G, np.random.default_rng(seed))
    return one_neuron_weights(u, y, depth, (3,) * (depth - 1))


def random(X, G, depth, seed):
    net = drawn_weights(np.random.default_rng(seed), X, len(G), depth, 8)
    net = [np.sqrt(depth) * w for w in net]
    return [*net[:-1], -np.sign(localized_loss(net, X, G)) * net[-1]]


def enough_layers(results):
    spare, says = results.measured.spare.values, results.measured.says.values
    good = int(np.sum(spare >= -1e-9))
    text = f"for p = {', '.join(map(str, SHARES))}; its bound is below 1 in {int(np.sum(says))} of "
    return always(good, len(spare), f"{share_text(good, len(spare))} {text}{len(says) * len(SHARES)} cases")


def sum_holds(results):
    share = results.measured["sum"].values / results.measured.limit.values
    good = int(np.sum(share <= 1 + 1e-9))
    text = f"the sum is {np.median(share):.2g} of its bound in the median, {share.max():.2g} at most"
    return always(good, len(share), f"{share_text(good, len(share))}; {text}")


def budget_closes(results):
    gap, least = results.measured.budget_gap.values, results.measured.least_term.values
    good = int(np.sum((gap <= 1e-9) & (least >= -1e-6)))
    text = f"sum to {gap.max():.0e}, least term {least.min():.1e}"
    return always(good, len(gap), f"{share_text(good, len(gap))}; {text}")


def draw(results):
    names = results.values("net")
    figure, axes = plt.subplots(1, len(names), figsize=(2.8 * len(names), 3), sharey=True, squeeze=False)
    for ax, name in zip(axes[0], names, strict=True):
        part = results.select(net=name)
        run = max(part.runs(), key=lambda r: int(r.depth))
        depth, below = int(run.depth), np.zeros(MOST)
        for term, color in zip(TERMS, (RED, GREEN, BLUE, ORANGE), strict=True):
            values = np.roll(run[term].values, depth - 1) if term == "output" else run[term].values
            ax.bar(np.arange(1, MOST + 1), values, bottom=below, color=color, label=term)
            below = below + values
        ax.set(xlabel="layer", title=f"{name}: {run.data.item()}", xlim=(0.4, depth + 0.6))
    axes[0, 0].set_ylabel("share of ln(‖X‖‖G‖/s)")
    axes[0, 0].legend(fontsize=7)
    return figure


experiment = Experiment(
    title="How many layers are nearly rank one: counted, as a sum, and as a budget",
    source="Proposition 3.4",
    measure=measure,
    full=dict(
        data=("circle8", "circle12", "gaussian", "aligned"),
        net=("best", "neuron", "random"),
        depth=(2, 3, 4, 5, 6, 8),
        seed=range(4),
    ),
    quick=dict(data=("gaussian", "aligned"), net=("best", "neuron", "random"), depth=(3, 5), seed=range(2)),
    where="net != 'neuron' or data == 'gaussian' or data == 'aligned'",  # on circles they lie on kinks
    draw=draw,
    claims=(
        Claim(
            "At least (1 − p)L layers are within the bound, at the best direction.",
            "E54 · Proposition 3.4",
            enough_layers,
            {"net": "best"},
        ),
        Claim(
            "It holds for any weights of that speed.",
            "E55 · Section 3.2",
            enough_layers,
            {"net": ("neuron", "random")},
        ),
        Claim("Σ ln 1/(1 − ratio of Zσ_ℓ) ≤ 2 ln(‖X‖‖G‖/s).", "ours", sum_holds),
        Claim(
            "The budget by layer adds up to ln(‖X‖‖G‖/s), with no negative term (norms as one).",
            "ours",
            budget_closes,
        ),
    ),
)
