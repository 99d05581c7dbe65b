"""The claims on singular values of trained nets, which the figures of MNIST, CIFAR-10 and the digits share."""

import numpy as np

from saddlescope.claims import CheckResult, Claim
from saddlescope.errors import number_of
from saddlescope.papers.escape._plateaus import (
    DOMINANT,
    RANK_ONE,
    SPREAD,
    deep_layers,
    dominant_number,
    ratios,
    spaced,
)
from saddlescope.papers.escape._readings import NEVER, on_rests, ratios_on
from saddlescope.papers.escape._rested import if_open_agree, of_these, say_ratios, where_rested
from saddlescope.papers.escape._training import on_named_data
from saddlescope.statistics import rank_correlation


def two_saddles(results):
    """Runs come to rest below the origin and leave that too. One that is still at the origin, or
    still at rest, when its budget ends does not count: it has not been there long enough. Those at
    rest may pass yet, so that they may not be needed for the word."""
    waits = np.array([bool(run.finite and _waits(run)) for run in results.runs()])
    at_rest = sum(waits[k] and bool(run["rested"]) for k, run in enumerate(results.runs()))
    text = f"{waits.sum()} of {number_of(waits.size, 'run')} still wait at a saddle when they end"
    if waits.all():
        return CheckResult(False, f"{text}; {say_levels(results)}", unclear=True)
    rest = results.where(~waits)
    good = [bool(run.finite and run["rested"]) for run in rest.runs()]
    text += f"; {of_these(sum(good), len(good), 'the other')} pass two saddles; {say_levels(results)}"
    return if_open_agree(sum(good), len(good), at_rest, text)


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
    """s₂/s₁ of each deeper layer is below that of the first by more than the spread of the draw."""
    found = ratios_on(run)
    return bool(_deep(found).max() < found[0] - SPREAD)


def say_pronounced(results):
    """The ratios, and how far the layers between the first and the deeper ones are from these."""
    rows = [ratios_on(run) for run in on_rests(results)]
    text = f"{say_ratios(results)}; asked more than {SPREAD:g} below the first"
    if not rows:
        return text
    between = np.median([np.mean(row[1 : len(row) // 2]) - np.mean(_deep(row)) for row in rows])
    return f"{text}; the layers between lie {between:.2f} above the deeper ones (median)"


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
    """From the plateau to the end of the drop after it, more values come to stand out in half of the deeper layers
    or more. A layer in which none stands out on the plateau has no such rank."""
    then, now = (_deep(dominant_number(run[name].values)) for name in ("rest_values", "after_values"))
    return bool(np.mean((then > 0) & (now > then)) >= 0.5)


def say_rank(results):
    names = ("rest_values", "after_values")
    rows = [[dominant_number(run[name].values) for name in names] for run in on_rests(results)]
    if not rows:
        return "no rank could be read"
    on, after = (spaced(row, "g") for row in np.median(rows, axis=0))
    return f"median number of values that stand out by layer: {on} on the plateau, {after} after; {say_stable(results)}"


def say_stable(results):
    names = ("rest_values", "after_values", "end_values")
    rows = [[stable_rank(run[name].values) for name in names] for run in on_rests(results)]
    if not rows:
        return "no stable rank could be read"
    on, after, end = (spaced(row) for row in np.median(rows, axis=0))
    return f"median stable rank by layer: {on} on the plateau, {after} after the next drop, {end} at the end"


def rank_one_layers(run):
    """Which layers from the third on are rank one where the loss moves least on the plateau."""
    return 2 + np.flatnonzero(ratios_on(run)[2:] <= RANK_ONE)


def later_ratios(run):
    """The largest s₂/s₁ by layer from there to the end of the plateau."""
    times = run["times"].values
    on = (times >= float(run["rest_time"])) & (times <= float(run["rest_end"]))
    return ratios(run["spectra"].values[on]).max(axis=0)


def stays_rank_one(results):
    """In most runs these layers are rank one until the plateau is left. A run in which one is not so any more counts
    against it whether it has left or not; one that has kept them but has not left is still open."""
    rests = [run for run in results.runs() if not run.finite or run["rested"]]
    there = [run for run in rests if not run.finite or rank_one_layers(run).size]
    text = f"{len(rests)} of {number_of(results.measured.sizes['run'], 'run')} have come to rest after the first escape"
    text += f"; some layer from the third on is rank one there in {len(there)} of these"
    kept = np.array([bool(run.finite and _kept(run)) for run in there], bool)
    still = np.array([bool(k and not run["left"]) for k, run in zip(kept, there, strict=True)], bool)
    text += f", which {still.sum()} keep but have not left"
    if still.all():
        return CheckResult(False, text, unclear=True)
    good, n = int(np.sum(kept & ~still)), int(np.sum(~still))
    text += f"; the claim holds in {of_these(good, n, 'the other')}; {say_during(results)}"
    return if_open_agree(good, n, int(still.sum()), text)


def _kept(run):
    return np.all(later_ratios(run)[rank_one_layers(run)] <= RANK_ONE)


def say_during(results):
    runs = on_rests(results)
    if not runs:
        return "no plateau could be read"
    on, later = (np.median([read(run) for run in runs], axis=0) for read in (ratios_on, later_ratios))
    return f"median s₂/s₁ by layer: {spaced(on)} where the loss moves least, {spaced(later)} at most until its end"


def spectra_claims(figure, forms, meant, until_left=True):
    """The claims of one figure; `meant` is the data set that its sentences speak of. Whether layers stay rank one until
    the plateau is left is asked only where runs can tell: they leave it, and their layers are rank one."""
    claims = _claims(figure)
    return on_named_data((*claims, _until_left(figure)) if until_left else claims, forms, meant)


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
            where_rested(pronounced, say_pronounced, by="form"),
            note="Before, any difference counted.",
        ),
        Claim(
            "Towards the end a second dominant singular value appears: exactly two stand out in deeper layers.",
            f"E59 · {figure}",
            where_rested(second_dominant, say_dominant, left=True),
            note="On CIFAR-10 three or four values stand out in the deeper layers at the end.",
        ),
        Claim(
            "The rank of deeper layers grows at the second escape: more values stand out, in half of them or more.",
            f"E60 · {figure}",
            where_rested(rank_grows, say_rank, left=True),
            note=(
                "The check changed after it had failed: the stable rank of every deeper layer had to grow by 0.25. "
                "The output layer keeps rank one, and a bulk of small values counts in a stable rank."
            ),
        ),
        Claim(
            "The deeper a layer, the stronger its low-rank bias: s₂/s₁ falls with the layer.",
            f"E97 · {figure}",
            where_rested(stronger_when_deeper, say_order, by="form"),
            note="Before, each step alone was allowed the spread of the draw, so that slow growth passed.",
        ),
    )


def _until_left(figure):
    return Claim(
        f"Layers from the third on that are rank one (s₂/s₁ ≤ {RANK_ONE:g}) on the plateau stay so until it is left.",
        f"E83, ours · Section 5, {figure}",
        stays_rank_one,
        note=(
            "The paper says: until the next saddle is reached. Before, all layers from the third on had to be rank one "
            "when the plateau begins, where s₂/s₁ is largest; before that, s₂/s₁ < 0.5 was asked."
        ),
    )
