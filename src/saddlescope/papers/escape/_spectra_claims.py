"""The claims on singular values of trained nets, which the figures of MNIST, CIFAR-10 and the digits share."""

import numpy as np

from saddlescope.checks import in_most_runs
from saddlescope.claims import CheckResult, Claim
from saddlescope.papers.escape._plateaus import (
    DOMINANT,
    SPREAD,
    deep_layers,
    dominant_number,
    first_rest,
    ratios,
    say_ratios,
    spectra,
    wait,
    where_rested,
)


def two_saddles(results):
    """Runs come to rest below the origin and leave that too. One that is still at the origin, or
    still at rest, when its budget ends does not count: it has not been there long enough."""
    undecided = np.array([bool(run.finite and _waits(run)) for run in results.runs()])
    if undecided.all():
        text = f"all {undecided.size} runs still wait; {say_levels(results)}"
        return CheckResult(False, text, unclear=True)
    found = in_most_runs(lambda run: first_rest(run) is not None)(results.where(~undecided))
    text = f"{undecided.sum()} of {undecided.size} runs still wait; {found.evidence}"
    text += f"; {say_levels(results)}"
    return CheckResult(found.holds, text, found.partly, found.unclear, found.counts)


def _waits(run):
    rest = first_rest(run)
    return np.isinf(wait(run)) if rest is None else not rest.left


def say_levels(results):
    found = [(run, first_rest(run)) for run in results.runs() if run.finite]
    words = [_lengths(run, rest) for run, rest in found if rest is not None]
    return "; ".join(words) if words else "no run came to rest"


def _lengths(run, rest):
    word = "" if rest.left else "+"
    return f"origin {wait(run):.0f}, rest {rest.end - rest.start:.0f}{word} epochs at {rest.level:.2f}"


def one_dominant(run, rest):
    return bool(np.all(ratios(spectra(run)[rest.at]) < DOMINANT))


def pronounced(run, rest):
    found = ratios(spectra(run)[rest.at])
    return bool(found[deep_layers(len(found))].max() < found[0])


def stronger_when_deeper(run, rest):
    found = ratios(spectra(run)[rest.at])
    return bool(np.all(np.diff(found) <= SPREAD))


def second_dominant(run, rest):
    """Half of the deeper layers or more have two values that stand out at the end, and one on the plateau."""
    values = spectra(run)
    deep = deep_layers(values.shape[1])
    then, now = dominant_number(values[rest.at, deep]), dominant_number(values[-1, deep])
    return bool(np.mean(now == 2) >= 0.5 and np.mean(then == 1) >= 0.5)


def say_dominant(results):
    rows = []
    for run in results.runs():
        rest = first_rest(run)
        if run.finite and rest is not None:
            values = spectra(run)
            then, now = ("".join(map(str, dominant_number(values[i]))) for i in (rest.at, -1))
            rows.append(f"{then} → {now}")
    return f"values that stand out by layer, plateau → end: {', '.join(rows)}"


def stable_rank(values):
    """Σ s²/s₁² of the singular values along the last axis."""
    return np.sum(values**2, axis=-1) / values[..., 0] ** 2


def rank_grows(run, rest):
    """The stable rank of every deeper layer is larger at the end than on the plateau."""
    values = spectra(run)
    deep = deep_layers(values.shape[1])
    return bool(np.all(stable_rank(values[-1, deep]) > stable_rank(values[rest.at, deep])))


def say_stable(results):
    rows = []
    for run in results.runs():
        rest = first_rest(run)
        if run.finite and rest is not None:
            rows.append([stable_rank(spectra(run)[i]) for i in (rest.at, -1)])
    words = [" ".join(f"{r:.2f}" for r in row) for row in np.median(rows, axis=0)]
    return f"median stable rank by layer: {words[0]} on the plateau, {words[1]} at the end"


def stays_rank_one(run, rest):
    """Layers from the third on keep one dominant value at every saved instant of the plateau."""
    return bool(np.all(ratios(spectra(run)[rest.during][:, 2:]) < DOMINANT))


def spectra_claims(figure):
    """The claims of one figure."""
    return (
        Claim(
            "Training passes two saddles, the origin and one of lower loss.",
            f"E56 · {figure}",
            two_saddles,
        ),
        Claim(
            "After the first escape every layer has one dominant singular value.",
            f"E57 · {figure}",
            where_rested(one_dominant, say_ratios),
        ),
        Claim(
            "This is more pronounced in the deeper layers than in the first.",
            f"E58 · {figure}",
            where_rested(pronounced, say_ratios),
        ),
        Claim(
            "Towards the end a second dominant singular value appears.",
            f"E59 · {figure}",
            where_rested(second_dominant, say_dominant, left=True),
        ),
        Claim(
            "The rank of deeper layers grows at the second escape.",
            f"E60 · {figure}",
            where_rested(rank_grows, say_stable, left=True),
        ),
        Claim(
            "The deeper a layer, the stronger its low-rank bias.",
            f"E97 · {figure}",
            where_rested(stronger_when_deeper, say_ratios),
        ),
        Claim(
            "Layers from the third on stay rank one until the next saddle is left.",
            f"E83 · Section 5, {figure}",
            where_rested(stays_rank_one, say_ratios),
        ),
    )
