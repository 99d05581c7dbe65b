"""Escape paper, Sections 1.2 and 5: the bottleneck of a trained net, layer by layer.

On the plateau after the first escape: ranks of weights and activations, the effect of ReLU, the
least rank to which a hidden layer can be cut without changing the outputs (a numerical bottleneck
rank), and balance between layers along the whole run.
"""

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.ticker import MaxNLocator

from saddlescope.checks import holds_in_share, share_text
from saddlescope.claims import Claim
from saddlescope.experiment import Experiment
from saddlescope.observables import (
    ActivationEffect,
    ActivationRanks,
    BottleneckRanks,
    LayerNorms,
    StrongImbalance,
    WeakBalance,
    WeightRanks,
)
from saddlescope.papers.escape._plateaus import RANK_ONE, on_rests, ratios, spaced, spectra
from saddlescope.papers.escape._rested import say_ratios, where_rested
from saddlescope.papers.escape._training import SPECTRA, Form, at_forms, on_named_data, require_data

DIGITS = Form("small", depth=6, width=50, scale=0.01, c=14, power=4, epochs=350)
FORMS = {
    "digits": DIGITS,
    "digits-small-steps": DIGITS._replace(c=3.5, epochs=1400),
    "mnist": Form("mnist", depth=6, width=100, scale=0.01, c=30, power=4, epochs=60),
}
setting, save_at = at_forms(FORMS)
INSIDE = 0.05  # of ‖Z‖²: what ReLU takes away from values that are nearly non-negative
LINEAR = 0.01  # of ‖Z‖²: a layer on which the ReLU is the identity
ACTIVE = 0.25  # of s₁: singular values of activations above it count
KEPT = 0.1  # of the squares that a layer has gained: steps are not small, so that balance drifts


def inside(run, rest):
    """ReLU changes next to nothing in the hidden layers from the third on."""
    return bool(np.all(run["activation_effect"].values[rest.at, 2:] < INSIDE))


def say_effect(results):
    return f"median ‖Zσ-Z‖²/‖Z‖² by layer: {_medians(results, 'activation_effect')}, allowed {INSIDE:g}"


def _medians(results, name):
    return _median_text([run[name].values[rest.at] for run, rest in on_rests(results)])


def _median_text(rows):
    return spaced(np.median(rows, axis=0), ".2g") if rows else "none"


def rank_one_end(run, rest):
    """Activations of the last three hidden layers have numerical rank one on the plateau."""
    return bool(np.all(run["activation_rank"].values[rest.at, -3:] == 1))


def not_from_the_start(run, rest):
    """Not all of them have it before training, as activations can, being non-negative."""
    return bool(np.any(run["activation_rank"].values[0, -3:] > 1))


def say_activation_ranks(results):
    before = _median_text([run["activation_rank"].values[0] for run, _ in on_rests(results)])
    text = f"median rank of activations by layer: {_medians(results, 'activation_rank')} on the plateau"
    return f"{text}, {before} before training; singular values above {ACTIVE:g} of the largest count"


def bottleneck_one(run, rest):
    return bool(run["bottleneck_rank"].values[rest.at].min() == 1)


def say_bottleneck(results):
    text = f"median least rank by layer: {_medians(results, 'bottleneck_rank')}"
    return f"{text}; outputs may change by a tenth"


def half_bottleneck(run, rest):
    """Wide at the input and narrow to the output: the first layer needs more than the last."""
    found = run["bottleneck_rank"].values[rest.at]
    return bool(found[0] > 1 and found[-1] == 1)


def low_rank_weights(run, rest):
    """Most layers have rank one, and those that have not come first."""
    found = ratios(spectra(run)[rest.at])
    high = np.flatnonzero(found > RANK_ONE)
    first = len(high) == 0 or high.max() < len(found) / 2
    return bool(first and len(high) < len(found) / 2)


def drift(run, until):
    """By layer: how far diag(WᵀW) - diag(WWᵀ) has moved since the start, over what the layer's
    squares have gained."""
    found = []
    for layer in range(1, run["layer_norm"].shape[1]):
        balance = run[f"weak_balance_{layer}"].values
        moved = np.abs(balance[until] - balance[0]).sum()
        norms = run["layer_norm"].values[:, layer - 1] ** 2
        found.append(moved / max(norms[until] - norms[0], 1e-30))
    return np.array(found)


def weakly_balanced(run, rest):
    return bool(np.all(drift(run, rest.at) < KEPT))


def say_drift(results):
    text = _median_text([drift(run, rest.at) for run, rest in on_rests(results)])
    return f"median drift by pair of layers: {text}, allowed {KEPT:g}"


def worst_drift(results, form):
    """{seed: largest drift over the layers} of the runs of one form that came to rest."""
    pairs = on_rests(results.select(form=form))
    return {int(run["seed"]): drift(run, rest.at).max() for run, rest in pairs}


def first_order(results):
    """A quarter of the step gives a quarter of the drift, within a factor of 1.6: four to the power
    1 ± 1/3 tells first order from none and from second."""
    large, small = (worst_drift(results, form) for form in ("digits", "digits-small-steps"))
    both = sorted(large.keys() & small.keys())
    if not both:
        return None
    factors = np.array([large[s] / small[s] for s in both])
    good = int(np.sum((factors > 2.5) & (factors < 6.4)))
    text = f"{share_text(good, len(both))} within 2.5 to 6.4; the drift falls by factors of {spaced(factors, '.2g')}"
    return holds_in_share(good, len(both), text)


def strongly_balanced(last):
    """Where ReLU is the identity the matrices themselves are balanced, W_{ℓ+1}ᵀW_{ℓ+1} ≈ W_ℓW_ℓᵀ:
    better than in the first layer, where it is not. With the pair of the output layer if `last`."""

    def test(run, rest):
        end = None if last else -1
        gaps = run["strong_imbalance"].values[rest.at]
        linear = run["activation_effect"].values[rest.at, :end] < LINEAR
        return bool(linear.any() and gaps[:end][linear].max() < gaps[0])

    return test


def say_strong(results):
    text = f"median relative imbalance by pair of layers: {_medians(results, 'strong_imbalance')}"
    return f"{text}; ReLU is the identity where it takes less than {LINEAR:g}"


PANELS = {
    "activation_effect": "effect of ReLU, $\\|Z^\\sigma - Z\\|^2/\\|Z\\|^2$",
    "activation_rank": "numerical rank of activations",
    "bottleneck_rank": "least rank that keeps the outputs",
    "strong_imbalance": "imbalance with the next layer",
}


def draw(results):
    run = next(iter(results.runs()))
    figure, axes = plt.subplots(2, 3, figsize=(9, 5.2))
    axes = axes.ravel()
    axes[0].plot(run["loss"].values)
    axes[0].set(ylabel="loss", title="first seed")
    curves = {"$s_2/s_1$ of the weights": ratios(spectra(run))}
    curves |= {title: run[name].values for name, title in PANELS.items()}
    for ax, (title, values) in zip(axes[1:], curves.items(), strict=True):
        for layer, curve in enumerate(values.T, 1):
            ax.plot(run.times, curve, label=f"layer {layer}", lw=1)
        ax.set(title=title)
    for ax in axes:
        ax.set_xlabel("epoch")
    for ax in axes[3:5]:
        ax.yaxis.set_major_locator(MaxNLocator(integer=True))
    axes[1].legend(fontsize=7)
    return figure


CLAIMS = (
    Claim(
        "Inside the bottleneck ReLU is nearly the identity.",
        "E6 · Section 1.2",
        where_rested(inside, say_effect, by="form"),
    ),
    Claim(
        "The plateau's function can be cut to rank one at some layer: its bottleneck rank is one.",
        "E7, E9 · Section 1.2",
        where_rested(bottleneck_one, say_bottleneck, by="form"),
    ),
    Claim(
        "It is a half-bottleneck: the first layer needs more than one dimension, the last one.",
        "E9 · Section 1.2",
        where_rested(half_bottleneck, say_bottleneck, by="form"),
    ),
    Claim(
        f"Activations of the last hidden layers become rank one (s₂/s₁ < {ACTIVE:g}) after the first escape.",
        "E9 · Section 1.2, Theorem 3.1",
        where_rested(
            rank_one_end,
            say_activation_ranks,
            by="form",
            premise=("these activations are not rank one before training", not_from_the_start),
        ),
        note="In the first form runs counted too in which these activations are rank one before training.",
    ),
    Claim(
        f"Most weight matrices are rank one (s₂/s₁ ≤ {RANK_ONE:g}), with a few of higher rank at the beginning.",
        "E5 · Section 1.2",
        where_rested(low_rank_weights, say_ratios, by="form"),
        note="In the first form s₂/s₁ < 0.25 counted as rank one.",
    ),
    Claim(
        "Weak balancedness is preserved: what goes out of a neuron minus what comes in.",
        "E85 · Section 5",
        where_rested(weakly_balanced, say_drift, by="form"),
        note="gradient flow preserves it; finite steps do not, in the first and last layers",
    ),
    Claim(
        "The drift of weak balancedness is of first order in the step: the flow has none.",
        "E85, ours · Section 5",
        first_order,
    ),
    Claim(
        "Hidden layers on which ReLU is the identity are strongly balanced, better than the first.",
        "E86 · Section 5",
        where_rested(strongly_balanced(last=True), say_strong, by="form"),
        note=(
            "The output layer grows by itself, as weak balancedness shows: the drift of finite steps. "
            "In the first form its pair was left out, without saying so."
        ),
    ),
    Claim(
        "The same holds without the pair of the output layer.",
        "ours",
        where_rested(strongly_balanced(last=False), say_strong, by="form"),
    ),
)


experiment = Experiment(
    title="The bottleneck of a ReLU net on the plateau after the first escape",
    source="Sections 1.2 and 5",
    setting=setting,
    save_at=save_at,
    observe=(
        SPECTRA,
        LayerNorms(),
        WeightRanks(0.25),
        ActivationRanks(ACTIVE),
        ActivationEffect(),
        BottleneckRanks(),
        WeakBalance(),
        StrongImbalance(),
    ),
    full=dict(form=tuple(FORMS), seed=range(12)),
    quick=dict(form=("digits",), seed=range(4)),
    where="form != 'mnist' or seed < 6",
    check_available=require_data(FORMS),
    draw=draw,
    claims=on_named_data(CLAIMS, FORMS),
)
