"""Escape paper, Section 5: what in the initial weights predicts a successful run on Example 1?

The paper's intuition: some neurons are near a good circuit already, and out-compete the others. Four circuits attain
1/2. One last neuron with output sign τ reads four first neurons, along the four points with G = -τ, with signs + - + -
or - + - +. Their score at the start is

    max over circuits and last neurons i of |W3_i| · min over its four directions d_k of max_n (±W2_in)⁺ (W1_n·d_k)⁺.

The minimum asks for a whole circuit. Beside it: the same product for the best rank-one direction, their ratio (which
of the two is ahead), and two controls that know nothing of circuits: the initial speed -L0 and the norm of the largest
last neuron. All scores were chosen before a run was looked at. An AUC of 1/2 is chance; intervals are DeLong's.
"""

import matplotlib.pyplot as plt
import numpy as np

from saddlescope.checks.settings import decided_by
from saddlescope.claims import FAILS, HOLDS, UNCLEAR, Claim
from saddlescope.experiment import Experiment
from saddlescope.figures import BLUE, ORANGE
from saddlescope.papers.escape._example1 import runs_of, starts_of, successes
from saddlescope.statistics import auc, auc_difference
from saddlescope.tables import Table
from saddlescope.theory.escape.localized import circle

RESTARTS = 250
SCORES = ("circuit", "circuit_over_rank_one", "rank_one", "initial_speed", "largest_neuron")
CONTROLS = ("initial_speed", "largest_neuron")


def measure(width, seed):
    first, second, last = starts_of(width, seed, RESTARTS)
    X, G = circle(8)
    along = np.maximum(first @ X, 0)  # (restart, n, point)
    whole, one = circuit_score(along, second, last[:, 0], G[0]), rank_one_score(along, second, last[:, 0], G[0])
    outputs = last @ np.maximum(second @ along, 0)
    norms = np.abs(last[:, 0]) * np.linalg.norm(second, axis=2)
    scores = (whole, whole / one, one, -np.sum(G * outputs, axis=(1, 2)), norms.max(axis=1))
    return {
        "speed": (("restart",), runs_of(width, seed, RESTARTS).speeds),
        **{name: (("restart",), np.asarray(s)) for name, s in zip(SCORES, scores, strict=True)},
    }


def strongest_paths(along, second, sign):
    """max over n of (±W2_in)⁺ (W1_n·x_j)⁺, for every restart, last neuron i and point j."""
    weights = np.maximum(sign * second, 0)
    return np.max(weights[:, :, :, None] * along[:, None], axis=2)


def circuit_score(along, second, last, G):
    """The best whole circuit of every restart."""
    both = {sign: strongest_paths(along, second, sign) for sign in (1, -1)}
    found = []
    for tau in (1, -1):
        points = np.flatnonzero(G * tau < 0)
        for sign in (1, -1):
            parts = [both[sign * (-1) ** k][:, :, j] for k, j in enumerate(points)]
            found.append(np.maximum(tau * last, 0) * np.min(parts, axis=0))
    return np.max(found, axis=(0, 2))


def rank_one_score(along, second, last, G):
    """The best path of every restart along a rank-one direction: at x_j with the output sign G_j."""
    paths = strongest_paths(along, second, 1)
    return np.max(np.maximum(last[:, :, None] * G, 0) * paths, axis=(1, 2))


def pooled(results, width):
    """Scores and successes of all restarts at one width."""
    m = results.select(width=width).measured
    return {name: m[name].values.ravel() for name in SCORES}, successes(m.speed.values.ravel())


def by_width(compare):
    """compare(scores, good) gives a number and half its interval; it must be positive at every width."""

    def check(results):
        words, texts = {}, []
        for width in results.values("width"):
            scores, good = pooled(results, width)
            value, half = compare(scores, good)
            words[f"width {width}"] = HOLDS if value - half > 0 else FAILS if value + half < 0 else UNCLEAR
            texts.append(f"width {width}: {value:+.3f} ± {half:.3f}, {good.sum()} of {good.size} successes")
        return decided_by(words, "; ".join(texts))

    return check


def above_chance(name):
    def compare(scores, good):
        value, half = auc(scores[name], good)
        return value - 0.5, half

    return compare


def better_than(name, other):
    def compare(scores, good):
        return auc_difference(scores[name], scores[other], good)

    return compare


def table(results):
    rows = []
    for width in results.values("width"):
        scores, good = pooled(results, width)
        rows += [(width, name, *auc(scores[name], good)) for name in SCORES]
    return [Table("auc", "AUC of each score", ("width", "score", "AUC", "half interval"), rows)]


def draw(results):
    widths = results.values("width")
    figure, (left, right) = plt.subplots(1, 2, figsize=(9.5, 3.6))
    for k, name in enumerate(SCORES):
        found = [auc(*(pooled(results, w)[0][name], pooled(results, w)[1])) for w in widths]
        at = np.arange(len(widths)) + 0.1 * (k - 2)
        left.errorbar(at, [f[0] for f in found], [f[1] for f in found], fmt="o", ms=3, label=name.replace("_", " "))
    left.axhline(0.5, color="0.5", ls="--", lw=0.8)
    left.set(xticks=range(len(widths)), xticklabels=widths, xlabel="width", ylabel="AUC", title="95 % intervals")
    left.legend(fontsize=6)
    middle = widths[len(widths) // 2]
    scores, good = pooled(results, middle)
    for which, colour, label in ((good, BLUE, "successful"), (~good, ORANGE, "not")):
        right.hist(scores["circuit"][which], 30, density=True, color=colour, alpha=0.5, label=label)
    right.set(xlabel="circuit score at the start", ylabel="density", title=f"width {middle}")
    right.legend(fontsize=7)
    return figure


experiment = Experiment(
    title="Example 1: the initial weights and the success of a run",
    source="Section 5, conjecture 1",
    measure=measure,
    full=dict(width=(4, 6, 8, 12, 16, 24), seed=range(40)),
    quick=dict(width=(8, 16), seed=range(2)),
    draw=draw,
    tables=table,
    claims=(
        Claim(
            "Neurons that are near a good circuit at the start predict success (AUC - ½).",
            "E78 · Section 5, conjecture 1",
            by_width(above_chance("circuit")),
        ),
        *(
            Claim(
                f"The circuit score predicts better than the {name.replace('_', ' ')} (difference of AUC).",
                "E78, ours · Section 5, conjecture 1",
                by_width(better_than("circuit", name)),
            )
            for name in CONTROLS
        ),
        Claim(
            "The circuit's lead over the best rank-one path predicts better than its own size.",
            "ours",
            by_width(better_than("circuit_over_rank_one", "circuit")),
        ),
    ),
)
