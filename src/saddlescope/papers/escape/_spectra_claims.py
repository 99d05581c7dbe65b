"""The claims on singular values of trained nets, which the figures of MNIST, CIFAR-10 and the digits share."""

import numpy as np

from saddlescope.checks import holds_in_share
from saddlescope.claims import CheckResult, Claim
from saddlescope.errors import number_of
from saddlescope.papers.escape._plateaus import (
    DOMINANT,
    RANK_ONE,
    SPREAD,
    deep_layers,
    dominant_number,
    spaced,
)
from saddlescope.papers.escape._readings import NEVER, on_rests, ratios_on
from saddlescope.papers.escape._rested import of_these, say_ratios, where_rested
from saddlescope.papers.escape._training import on_named_data
from saddlescope.statistics import rank_correlation

GROWN = DOMINANT**2  # what a second value of `DOMINANT` of the first adds to Σ s²/s₁²


def two_saddles(results):
    """Runs come to rest below the origin and leave that too. One that is still at the origin, or
    still at rest, when its budget ends does not count: it has not been there long enough."""
    waits = np.array([bool(run.finite and _waits(run)) for run in results.runs()])
    text = f"{waits.sum()} of {number_of(waits.size, 'run')} still wait at a saddle when they end"
    if waits.all():
        return CheckResult(False, f"{text}; {say_levels(results)}", unclear=True)
    rest = results.where(~waits)
    good = [bool(run.finite and run["rested"]) for run in rest.runs()]
    text += f"; {of_these(sum(good), len(good), 'the other')} pass two saddles; {say_levels(results)}"
    return holds_in_share(sum(good), len(good), text)


def _waits(run):
    return not run["left"] if run["rested"] else run["wait"] == NEVER


def say_levels(results):
    words = [_lengths(run) for run in on_rests(results)]
    return "; ".join(words) if words else "no run came to rest"


def _lengths(run):
    waited, start, end, level = (float(run[name]) for name in ("wait", "rest_start", "rest_end", "rest_level"))
    more = "" if run["left"] else " or more"
    return f"{waited:.0f} epochs at the origin, {end - start:.0f}{more} at the loss {level:.2f}"


def one_dominant(run):
    return bool(np.all(ratios_on(run) < DOMINANT))


def pronounced(run):
    found = ratios_on(run)
    return bool(found[deep_layers(len(found))].max() < found[0])


def stronger_when_deeper(run):
    return falls_with_depth(ratios_on(run))


def falls_with_depth(found) -> bool:
    """s₂/s₁ falls from layer to layer, up to the spread of the draw: no layer lies more than that
    above any earlier one, the last lies more than that below the first, and ranks fall."""
    above = np.max(found - np.minimum.accumulate(found))
    return bool(above <= SPREAD and found[-1] < found[0] - SPREAD and _order(found) < 0)


def _order(found):
    return rank_correlation(np.arange(len(found)), found)


def say_order(results):
    found = [_order(ratios_on(run)) for run in on_rests(results)]
    order = f"rank correlation with the layer {np.median(found):.2f} (median)" if found else "no order"
    return f"{say_ratios(results)}; {order}; steps up to {SPREAD:g} count as none"


def second_dominant(run):
    """Half of the deeper layers or more have two values that stand out at the end, and one on the plateau."""
    then, now = (_deep(dominant_number(run[name].values)) for name in ("rest_values", "end_values"))
    return bool(np.mean(now == 2) >= 0.5 and np.mean(then == 1) >= 0.5)


def _deep(by_layer):
    return by_layer[deep_layers(len(by_layer))]


def say_dominant(results):
    """Which numbers of values stand out, and in how many runs."""
    rows = [_dominant_text(run) for run in on_rests(results)]
    counted = {row: rows.count(row) for row in rows}
    said = ", ".join(f"{row} ({number_of(n, 'run')})" for row, n in sorted(counted.items(), key=lambda kv: -kv[1]))
    return f"number of values that stand out by layer, plateau → end: {said}"


def _dominant_text(run):
    return " → ".join(spaced(dominant_number(run[name].values), "d") for name in ("rest_values", "end_values"))


def stable_rank(values):
    """Σ s²/s₁² of the singular values along the last axis."""
    return np.sum(values**2, axis=-1) / values[..., 0] ** 2


def rank_grows(run):
    """From the plateau to the end of the drop after it, the stable rank of every deeper layer grows."""
    then, now = (_deep(stable_rank(run[name].values)) for name in ("rest_values", "after_values"))
    return bool(np.all(now - then >= GROWN))


def say_stable(results):
    names = ("rest_values", "after_values", "end_values")
    rows = [[stable_rank(run[name].values) for name in names] for run in on_rests(results)]
    if not rows:
        return "no stable rank could be read"
    on, after, end = (spaced(row) for row in np.median(rows, axis=0))
    return f"median stable rank by layer: {on} on the plateau, {after} after the next drop, {end} at the end"


def rank_one_at_first(run):
    """Layers from the third on are rank one at the first saved instant of the plateau."""
    return bool(np.all(run["first_ratio"].values[2:] <= RANK_ONE))


def stays_rank_one(run):
    """Layers from the third on are rank one at every saved instant of the plateau."""
    return bool(np.all(run["most_ratio"].values[2:] <= RANK_ONE))


def say_during(results):
    runs = on_rests(results)
    if not runs:
        return "no plateau could be read"
    first, most = (np.median([run[name].values for run in runs], axis=0) for name in ("first_ratio", "most_ratio"))
    return f"median s₂/s₁ by layer: {spaced(first)} when it begins, {spaced(most)} at most until it ends"


def spectra_claims(figure, forms, meant):
    """The claims of one figure; `meant` is the data set that its sentences speak of."""
    return on_named_data(_claims(figure), forms, meant)


def _claims(figure):
    return (
        Claim(
            "Training passes two saddles, the origin and one of lower loss.",
            f"E56 · {figure}",
            two_saddles,
            note="Asked only of runs that no longer wait; in the first form the others counted against it.",
        ),
        Claim(
            f"After the first escape every layer has one dominant singular value (s₂/s₁ < {DOMINANT:g}).",
            f"E57 · {figure}",
            where_rested(one_dominant, say_ratios, by="form"),
            note="The first layer has several: its s₂/s₁ is about one half on MNIST, and near one on CIFAR-10.",
        ),
        Claim(
            "This is more pronounced in the deeper layers than in the first.",
            f"E58 · {figure}",
            where_rested(pronounced, say_ratios, by="form"),
        ),
        Claim(
            "Towards the end a second dominant singular value appears.",
            f"E59 · {figure}",
            where_rested(second_dominant, say_dominant, left=True),
            note="On CIFAR-10 three or four values stand out in the deeper layers at the end.",
        ),
        Claim(
            f"The rank of deeper layers grows at the second escape (stable rank, by {GROWN:g} or more).",
            f"E60 · {figure}",
            where_rested(rank_grows, say_stable, left=True),
            note=(
                "Before, any growth until the end counted; in the first form s₂/s₁ had to double. "
                "A bulk of small values, from the draw, counts less as s₁ grows."
            ),
        ),
        Claim(
            "The deeper a layer, the stronger its low-rank bias: s₂/s₁ falls with the layer.",
            f"E97 · {figure}",
            where_rested(stronger_when_deeper, say_order, by="form"),
            note="Before, each step alone was allowed the spread of the draw, so that slow growth passed.",
        ),
        Claim(
            f"Layers from the third on stay rank one (s₂/s₁ ≤ {RANK_ONE:g}) until the next saddle is left.",
            f"E83 · Section 5, {figure}",
            where_rested(
                stays_rank_one,
                say_during,
                left=True,
                premise=("these layers are rank one when it begins", rank_one_at_first),
            ),
            note="Before, s₂/s₁ < 0.5 was asked, also of runs that never left.",
        ),
    )
