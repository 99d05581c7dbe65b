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
from saddlescope.figures import BLUE, GREEN, ORANGE, PURPLE, RED, SKY, WIDTH, letters
from saddlescope.observables import (
    ActivationEffect,
    ActivationRanks,
    BottleneckRanks,
    LayerNorms,
    StrongImbalance,
    WeakBalance,
)
from saddlescope.papers.escape._plateaus import RANK_ONE, first_rest, ratios, spaced
from saddlescope.papers.escape._readings import LOSS, on_rests, ratios_on, reading
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


BY_LAYER = ("activation_effect", "activation_rank", "bottleneck_rank", "strong_imbalance")


def analyse(run, made):
    """The stays of a run; by layer, what is read before training, on the plateau and along the run; and drifts."""
    found, rest = reading(run), first_rest(run)
    found |= {f"{name}_along": (("instant", "hidden"), run[name].values) for name in BY_LAYER}
    before = ("activation_rank", "bottleneck_rank")
    found |= {f"{name}_before": (("hidden",), run[name].values[0]) for name in before}
    if rest is None:
        return found
    found |= {name: (("hidden",), run[name].values[rest.at]) for name in BY_LAYER}
    at = {"drift": rest.at, "first_drift": rest.during[0]}
    return found | {name: (("hidden",), drift(run, until)) for name, until in at.items()}


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


def inside(run):
    """ReLU changes next to nothing in the hidden layers from the third on."""
    return bool(np.all(run["activation_effect"].values[2:] < INSIDE))


def say_effect(results):
    return f"median ‖Zσ-Z‖²/‖Z‖² by layer: {_medians(results, 'activation_effect')}, allowed {INSIDE:g}"


def _medians(results, name):
    rows = [run[name].values for run in on_rests(results)]
    return spaced(np.median(rows, axis=0), ".2g") if rows else "none"


def rank_one_end(run):
    """Activations of the last three hidden layers have numerical rank one on the plateau."""
    return bool(np.all(run["activation_rank"].values[-3:] == 1))


def not_from_the_start(run):
    """Not all of them have it before training, as activations can, being non-negative."""
    return bool(np.any(run["activation_rank_before"].values[-3:] > 1))


def say_activation_ranks(results):
    on, before = (_medians(results, name) for name in ("activation_rank", "activation_rank_before"))
    text = f"median rank of activations by layer: {on} on the plateau, {before} before training"
    return f"{text}; singular values above {ACTIVE:g} of the largest count"


def bottleneck_one(run):
    """Some layer can be cut to rank one, and none could before training."""
    return bool(run["bottleneck_rank"].values.min() == 1 < run["bottleneck_rank_before"].values.min())


def say_bottleneck(results):
    on, before = (_medians(results, name) for name in ("bottleneck_rank", "bottleneck_rank_before"))
    text = f"median least rank by layer: {on} on the plateau, {before} before training"
    return f"{text}; outputs may change by a tenth"


def half_bottleneck(run):
    """Wide at the input and narrow to the output: the first layer needs more than the last."""
    found = run["bottleneck_rank"].values
    return bool(found[0] > 1 and found[-1] == 1)


def low_rank_weights(run):
    """Most layers have rank one, and those that have not come first."""
    found = ratios_on(run)
    high = np.flatnonzero(found > RANK_ONE)
    first = len(high) == 0 or high.max() < len(found) / 2
    return bool(first and len(high) < len(found) / 2)


def weakly_balanced(run):
    return bool(np.all(run["drift"].values < KEPT))


def say_drift(results):
    return f"median drift by pair of layers: {_medians(results, 'drift')}, allowed {KEPT:g}"


def first_order(results):
    """A quarter of the step gives a quarter of the drift, within a factor of 1.6: four to the power
    1 ± 1/3 tells first order from none and from second. Both are read where the plateau begins."""
    large, small = (_worst(results, form) for form in ("digits", "digits-small-steps"))
    both = sorted(large.keys() & small.keys())
    if not both:
        return None
    factors = np.array([large[s] / small[s] for s in both])
    good = int(np.sum((factors > 2.5) & (factors < 6.4)))
    text = f"{share_text(good, len(both))} within 2.5 to 6.4; the drift falls by factors of {spaced(factors, '.2g')}"
    return holds_in_share(good, len(both), text)


def _worst(results, form):
    """{seed: largest drift over the layers} of the runs of one form that came to rest."""
    return {int(run["seed"]): run["first_drift"].values.max() for run in on_rests(results.select(form=form))}


def strongly_balanced(last):
    """Where ReLU is the identity the matrices themselves are balanced, W_{ℓ+1}ᵀW_{ℓ+1} ≈ W_ℓW_ℓᵀ:
    better than in the first layer, where it is not. With the pair of the output layer if `last`."""

    def test(run):
        end = None if last else -1
        gaps, linear = run["strong_imbalance"].values[:end], run["activation_effect"].values[:end] < LINEAR
        return bool(linear.any() and gaps[linear].max() < gaps[0])

    return test


def say_strong(results):
    text = f"median relative imbalance by pair of layers: {_medians(results, 'strong_imbalance')}"
    return f"{text}; ReLU is the identity where it takes less than {LINEAR:g}"


PANELS = {
    "activation_effect": "effect of the ReLU",
    "activation_rank": "rank of activations",
    "bottleneck_rank": "rank that keeps the outputs",
    "strong_imbalance": "imbalance with the next layer",
}
COLOURS = (BLUE, SKY, GREEN, ORANGE, RED, PURPLE)


def draw(results):
    run = next(iter(results.runs()))
    figure, axes = plt.subplots(2, 3, figsize=(WIDTH, 4), sharex=True)
    axes = axes.ravel()
    axes[0].plot(run["loss"].values, color="0.3")
    axes[0].set(title="loss")
    curves = {"$s_2/s_1$ of the weights": ratios(run["spectra"].values)}
    curves |= {title: run[f"{name}_along"].values for name, title in PANELS.items()}
    for ax, (title, values) in zip(axes[1:], curves.items(), strict=True):
        for layer, (curve, colour) in enumerate(zip(values.T, COLOURS, strict=False), 1):
            ax.plot(run["times"].values, curve, label=f"layer {layer}", lw=1, color=colour)
        ax.set(title=title)
    for ax in axes[3:]:
        ax.set_xlabel("epoch")
    for ax in axes[3:5]:
        ax.yaxis.set_major_locator(MaxNLocator(integer=True))
    figure.legend(*axes[1].get_legend_handles_labels(), ncols=6, loc="outside lower center")
    letters(axes)
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
        "Finite steps too preserve weak balancedness: what goes out of a neuron minus what comes in.",
        "E85, ours · Section 5",
        where_rested(weakly_balanced, say_drift, by="form"),
        note="The paper speaks of gradient flow, which preserves it. Steps do not, in the first and last layers.",
    ),
    Claim(
        "The drift of weak balancedness is of first order in the step: the flow has none.",
        "E85, ours · Section 5",
        first_order,
        note="Before, it was read where the loss moves least, which is early on some plateaus and late on others.",
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
        ActivationRanks(ACTIVE),
        ActivationEffect(),
        BottleneckRanks(),
        WeakBalance(),
        StrongImbalance(),
    ),
    analyse=analyse,
    keep=LOSS,
    full=dict(form=tuple(FORMS), seed=range(12)),
    quick=dict(form=("digits",), seed=range(4)),
    where="form != 'mnist' or seed < 6",
    check_available=require_data(FORMS),
    draw=draw,
    drawn="One run, layer by layer. (A) The loss. (B) s₂/s₁ of the weights. (C) ‖Zσ − Z‖²/‖Z‖², what the ReLU takes "
    "away. (D) Singular values of activations above a quarter of the largest. (E) The least rank to which a "
    "layer can be cut while the outputs change by at most a tenth. (F) ‖W_{ℓ+1}ᵀW_{ℓ+1} − W_ℓW_ℓᵀ‖ over the "
    "sizes of both.",
    claims=on_named_data(CLAIMS, FORMS),
)
