"""Escape paper, Proposition 3.4: how many layers are nearly rank one, its stronger form, and the
budget by layer.

Three kinds of net with L0 < 0 on ‖θ‖² = L: the best direction found (not pruned), a one-neuron
critical point that need not be the best, and random nets. None is trained. The proposition counts the layers Zσ_0 …
Zσ_{L-1}; as a sum, Σ ln 1/(1 − ratio) ≤ 2 ln(‖X‖‖G‖/s), it is stronger and never empty. The exact
budget says where ln(‖X‖‖G‖/s) goes.
"""

import matplotlib.pyplot as plt
import numpy as np

from saddlescope.checks import always, share_text
from saddlescope.claims import Claim
from saddlescope.errors import number_of
from saddlescope.experiment import Experiment
from saddlescope.figures import BLUE, GREEN, ORANGE, RED, letters
from saddlescope.papers.escape._data import data_of
from saddlescope.papers.escape._draws import data_sets, every_run_of
from saddlescope.papers.escape._ends import fastest_end
from saddlescope.papers.escape._flows import drawn_weights
from saddlescope.theory.escape.bounds import most_layers_bound, slack, speed_budget, sum_form
from saddlescope.theory.escape.layer_ratios import layer_ratios
from saddlescope.theory.escape.localized import localized_loss
from saddlescope.theory.escape.one_neuron import one_neuron_direction, one_neuron_weights

MOST = 8
SHARES = (0.1, 0.25, 0.5, 0.75, 0.9)
TERMS = ("output", "norms", "alignment", "relu")
WORDS = {"output": "angle of outputs to G", "norms": "norms of weights", "alignment": "alignment", "relu": "ReLU"}
NETS = {"best": "fastest direction", "neuron": "one neuron", "random": "random net"}
SIZES = {"gauss": (3, 12, 2), "aligned": (4, 8, 3)}
WIDTH, RESTARTS = 8, 32


def measure(data, net, depth, seed):
    X, G = data_of(data, seed, *SIZES.get(data, ()))
    weights = {"best": best, "neuron": neuron, "random": random}[net](X, G, depth, seed)
    speed = -localized_loss(weights, X, G)
    ratios = layer_ratios(weights, X).activations[:-1]
    bounds = [(p, most_layers_bound(X, G, speed, depth, p)) for p in SHARES]
    lacking = [(1 - p) * depth - np.sum(ratios <= bound) for p, bound in bounds if bound < 1]
    total, limit = sum_form(weights, X, G)
    budget = speed_budget(weights, X, G)
    return {
        "speed": speed,
        "lacking": float(max(lacking, default=0)),
        "says": len(lacking),
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
    return fastest_end(X, G, depth, WIDTH, RESTARTS, seed).weights


def neuron(X, G, depth, seed):
    """A one-neuron critical point off the kinks: any, not the fastest."""
    u, y, _ = one_neuron_direction(X, G, np.random.default_rng(seed))
    return one_neuron_weights(u, y, depth, (3,) * (depth - 1))


def random(X, G, depth, seed):
    net = drawn_weights(np.random.default_rng(seed), X, len(G), depth, 8)
    net = [np.sqrt(depth) * w for w in net]
    return [*net[:-1], -np.sign(localized_loss(net, X, G)) * net[-1]]


def enough_layers(results):
    """Counted in nets where the bound is below 1 for some p: every ratio is below a bound of 1. Nets of one data set
    are one case."""
    said = results.where(results.measured.says.values > 0)
    n, all_nets = (r.measured.sizes["run"] for r in (said, results))
    if not n:
        return None
    enough, cases = said.measured.lacking.values <= 1e-9, int(said.measured.says.values.sum())
    sets = every_run_of(data_sets(said), enough)
    text = f"{int(sets.sum())} of {number_of(len(sets), 'data set')}, {int(enough.sum())} of {n} nets for p = "
    text += f"{', '.join(map(str, SHARES))}; its bound is below 1 in {cases} of {all_nets * len(SHARES)} cases"
    return always(int(sets.sum()), len(sets), f"{text}, in {all_nets - n} nets for no p")


def sum_holds(results):
    share = results.measured["sum"].values / results.measured.limit.values
    good = int(np.sum(share <= 1 + 1e-9))
    text = f"the sum is {np.median(share):.2g} of its bound in the median, {share.max():.2g} at most"
    return always(good, len(share), f"{share_text(good, len(share))}; {text}")


def budget_closes(results):
    gap, least = results.measured.budget_gap.values, results.measured.least_term.values
    good = int(np.sum((gap <= 1e-9) & (least >= -1e-9)))
    text = f"the terms add up to within {gap.max():.0e}; the least of them is {least.min():.1e}"
    return always(good, len(gap), f"{share_text(good, len(gap))}; {text}")


def draw(results):
    names = results.values("net")
    figure, axes = plt.subplots(1, len(names), figsize=(6.5, 3), sharey=True, squeeze=False)
    top = bottom = 0.0
    for ax, name in zip(axes[0], names, strict=True):
        run = max(results.select(net=name).runs(), key=lambda r: int(r.depth))
        depth, above, below = int(run.depth), np.zeros(MOST), np.zeros(MOST)
        for term, color in zip(TERMS, (RED, GREEN, BLUE, ORANGE), strict=True):
            values = np.roll(run[term].values, depth - 1) if term == "output" else run[term].values
            # A layer larger than 1 has a negative ln 1/‖W‖: it is drawn below zero, so that no bars overlap.
            ax.bar(
                np.arange(1, MOST + 1),
                values,
                bottom=np.where(values < 0, below, above),
                color=color,
                label=WORDS[term],
            )
            above, below = above + np.maximum(values, 0), below + np.minimum(values, 0)
        top, bottom = max(top, above.max()), min(bottom, below.min())
        ax.axhline(0, color="0.3", lw=0.6)
        ax.set(xlabel="layer ℓ", title=NETS[name], xlim=(0.4, depth + 0.6))
        ax.set_xticks(range(1, depth + 1))
    axes[0, 0].set_ylim(1.1 * bottom, 1.05 * top)
    axes[0, 0].set_ylabel("part of $\\ln(‖X‖‖G‖/s)$")
    figure.legend(*axes[0, 0].get_legend_handles_labels(), ncols=4, loc="outside lower center")
    letters(axes[0])
    return figure


experiment = Experiment(
    title="How many layers are nearly rank one: counted, as a sum, and as a budget",
    source="Proposition 3.4",
    measure=measure,
    full=dict(
        data=("circle8", "circle12", "gauss", "aligned"),
        net=("best", "neuron", "random"),
        depth=(2, 3, 4, 5, 6, 8),
        seed=range(4),
    ),
    quick=dict(data=("gauss", "aligned"), net=("best", "neuron", "random"), depth=(3, 5), seed=range(4)),
    where="net != 'neuron' or data == 'gauss' or data == 'aligned'",  # on circles they lie on kinks
    draw=draw,
    drawn="Where ln(‖X‖‖G‖/s) goes, layer by layer, in one net of each kind, the deepest: all parts add up to it. A "
    "layer larger than one has a negative part.",
    claims=(
        Claim(
            "At least (1 − p)L layers are within the bound, at the best direction.",
            "E54 · Proposition 3.4",
            enough_layers,
            {"net": "best"},
        ),
        Claim(
            "It holds for other weights of their own speed: one-neuron critical points and random nets, none trained.",
            "E55 · Section 3.2",
            enough_layers,
            {"net": ("neuron", "random")},
        ),
        Claim("Σ ln 1/(1 − ratio of Zσ_ℓ) ≤ 2 ln(‖X‖‖G‖/s).", "ours", sum_holds),
        Claim(
            "The budget by layer adds up to ln(‖X‖‖G‖/s), with no negative term (norms as one).",
            "ours",
            budget_closes,
            built=True,  # ln of a product that telescopes, for any weights
        ),
    ),
)
