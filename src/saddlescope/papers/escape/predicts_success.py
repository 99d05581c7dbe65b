"""Escape paper, Section 5: what in the initial weights predicts a successful run on Example 1?

The paper's intuition: some neurons are near a good circuit already, and out-compete the others. Four circuits attain
1/2. One last neuron with output sign τ reads four first neurons, along the four points with G = -τ, with signs + - + -
or - + - +. Their score at the start is

    max over circuits and last neurons i of |W3_i| · min over its four directions d_k of max_n (±W2_in)⁺ (W1_n·d_k)⁺.

The minimum asks for a whole circuit. Beside it: the same product for the best rank-one direction, their ratio (which
of the two is ahead), and two controls that know nothing of circuits: the initial speed -L0 and the norm of the largest
last neuron. All scores were chosen before a run was looked at. An AUC of 1/2 is chance. One
run is a batch of 250 restarts with an AUC of its own; intervals are those of the mean over batches.
"""

import matplotlib.pyplot as plt
import numpy as np

from saddlescope.checks.settings import decided_by
from saddlescope.claims import FAILS, HOLDS, UNCLEAR, Claim
from saddlescope.experiment import Experiment
from saddlescope.figures import BLUE, ORANGE, WIDTH, letters
from saddlescope.papers.escape._example1 import runs_of, starts_of, successes
from saddlescope.statistics import auc, mean_of
from saddlescope.tables import Table
from saddlescope.theory.escape.localized import circle

RESTARTS = 250
SCORES = {
    "circuit": "whole circuit",
    "circuit_over_rank_one": "circuit over rank-one path",
    "rank_one": "rank-one path",
    "initial_speed": "initial speed",
    "largest_neuron": "largest neuron",
}
WIDE = "In wide nets nearly all restarts succeed, and the start says little about which do not."
CONTROLS = ("initial_speed", "largest_neuron")


def measure(width, seed):
    first, second, last = starts_of(width, seed, RESTARTS)
    X, G = circle(8)
    along = np.maximum(first @ X, 0)  # (restart, n, point)
    whole, one = circuit_score(along, second, last[:, 0], G[0]), rank_one_score(along, second, last[:, 0], G[0])
    outputs = last @ np.maximum(second @ along, 0)
    norms = np.abs(last[:, 0]) * np.linalg.norm(second, axis=2)
    scores = (whole, whole / one, one, -np.sum(G * outputs, axis=(1, 2)), norms.max(axis=1))
    good = successes(runs_of(width, seed, RESTARTS).speeds)
    found = {f"auc_{name}": auc(np.asarray(score), good)[0] for name, score in zip(SCORES, scores, strict=True)}
    return found | {
        "successes": int(good.sum()),
        "good": (("restart",), good),
        "circuit": (("restart",), np.asarray(whole)),
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


def by_width(compare):
    """The mean of compare(measured) over batches, with its interval, must be positive at every width."""

    def check(results):
        words, texts = {}, []
        for width in results.values("width"):
            m = results.select(width=width).measured
            value, half = mean_of(compare(m))
            words[f"width {width}"] = HOLDS if value - half > 0 else FAILS if value + half < 0 else UNCLEAR
            many = f"{int(m.successes.sum())} of {RESTARTS * m.sizes['run']} successes"
            texts.append(f"width {width}: {value:+.3f} ± {half:.3f}, {many}")
        return decided_by(words, "; ".join(texts))

    return check


def above_chance(name):
    return lambda m: m[f"auc_{name}"].values - 0.5


def better_than(name, other):
    return lambda m: m[f"auc_{name}"].values - m[f"auc_{other}"].values


def table(results):
    rows = []
    for width in results.values("width"):
        m = results.select(width=width).measured
        rows += [(width, words, *mean_of(m[f"auc_{name}"].values)) for name, words in SCORES.items()]
    return [Table("auc", "AUC of each score", ("width", "score", "AUC", "half interval"), rows)]


def draw(results):
    widths = results.values("width")
    figure, (left, right) = plt.subplots(1, 2, figsize=(WIDTH, 2.9))
    for k, (name, words) in enumerate(SCORES.items()):
        found = [mean_of(results.select(width=w).measured[f"auc_{name}"].values) for w in widths]
        at = np.arange(len(widths)) + 0.1 * (k - 2)
        left.errorbar(at, [f[0] for f in found], [f[1] for f in found], fmt="o", ms=3, label=words)
    left.axhline(0.5, color="0.5", ls="--", lw=0.8)
    left.set(xticks=range(len(widths)), xticklabels=widths, xlabel="width", ylabel="AUC", ylim=(0.25, 0.95))
    middle = widths[len(widths) // 2]
    m = results.select(width=middle).measured
    scores, good = m.circuit.values.ravel(), m.good.values.ravel().astype(bool)
    for which, colour, label in ((good, BLUE, "successful"), (~good, ORANGE, "not successful")):
        right.hist(scores[which], 30, density=True, color=colour, alpha=0.5, label=label)
    right.set(xlabel="circuit score at the start", ylabel="density", title=f"runs at width {middle}")
    right.legend()
    figure.legend(*left.get_legend_handles_labels(), ncols=5, loc="outside lower center")
    letters((left, right))
    return figure


experiment = Experiment(
    title="Example 1: the initial weights and the success of a run",
    source="Section 5, conjecture 1",
    measure=measure,
    full=dict(width=(4, 6, 8, 12, 16, 24), seed=range(40)),
    quick=dict(width=(8, 16), seed=range(5)),
    draw=draw,
    drawn="(A) Mean AUC of five scores over batches of 250 restarts, with 95 % intervals; dashed: chance. "
    "(B) The circuit score of successful and of other restarts at one width.",
    tables=table,
    claims=(
        Claim(
            "Neurons that are near a good circuit at the start predict success (AUC - ½).",
            "E78 · Section 5, conjecture 1",
            by_width(above_chance("circuit")),
            note=WIDE,
        ),
        *(
            Claim(
                f"The circuit score predicts better than the {name.replace('_', ' ')} (difference of AUC).",
                "E78, ours · Section 5, conjecture 1",
                by_width(better_than("circuit", name)),
                note=WIDE,
            )
            for name in CONTROLS
        ),
        Claim(
            "The circuit's lead over the best rank-one path predicts better than its own size.",
            "ours",
            by_width(better_than("circuit_over_rank_one", "circuit")),
            note=WIDE,
        ),
    ),
)
