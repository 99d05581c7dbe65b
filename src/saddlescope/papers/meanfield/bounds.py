"""Meanfield paper, Theorems 2.3 and G.1, Lemmas G.1, G.2, Corollary G.1: bounds beside measured distances.

All that the proofs of Appendix G bound by K is at most 1 here: φ = tanh and its slopes, features,
mixing weights, starts, and |d| by a pseudo-Huber loss, on three points in [−1, 1]. K = 1 makes the
bounds as small as they can be. The limit is solved by quadrature and evaluated at each net's own
draws. D is the largest distance over neurons, channels and 21 times up to T. Gradient descent takes
steps of ε = 0.01, on all data or on one random point per step, and is compared at T/2 and T. Bounds
are given as log10. They exceed the weights themselves, so that no net could break them; what can fail
is their rate, in `meanfield.finite_width` and `meanfield.finite_steps`. G.6's example (T = 10, K = 1,
r = 100) is computed beside.
"""

from functools import cache

import matplotlib.pyplot as plt
import numpy as np

from saddlescope.checks import always, share_text
from saddlescope.claims import CheckResult, Claim
from saddlescope.experiment import Experiment
from saddlescope.figures import BLUE, GREEN, ORANGE, RED, WIDTH
from saddlescope.meanfield import Measure, PseudoHuber, meanfield
from saddlescope.meanfield.laws import StartLaw, UniformFeatures, UniformMixing
from saddlescope.nets.activation import Tanh
from saddlescope.theory.meanfield.finite_width import Bounds

STEP, CHANCE = 0.01, 0.05
DATA = Measure([-0.7, 0.1, 0.8], [1.0, -0.5, 0.7])


@cache
def flow_of(rank, T):
    """The limit and its flow; a worker solves it once for all nets."""
    limit = meanfield(
        DATA,
        rank,
        1,
        Tanh(),
        features=UniformFeatures(),
        mixing=UniformMixing(),
        start=(StartLaw(0.25, 0.25, 0), StartLaw(0.25, 0.5 / rank, 0)),
        residual=PseudoHuber(),
    )
    return limit, limit.flow(T, times=21)


def measure(rank, T, width, seed):
    limit, flow = flow_of(rank, T)
    net = limit.net(width, seed)
    own = net.flow(T, times=21)
    gaps = [np.abs(flow.weights_at(b, f) - own.weights_at(b, f)).max() for b, f in enumerate(net.frozen)]
    outputs = np.abs(flow.data.output.values - own.data.output.values).max(axis=(1, 2))
    said = Bounds(T, rank, 1.0, (width, width), STEP, CHANCE)
    return {
        "coupling": np.log10(max(gaps)),
        "descent": np.log10(_descent_gap(net, own, None)),
        "sgd": np.log10(_descent_gap(net, own, seed)),
        "output": np.log10(outputs.max()),
        "output_at_start": float(outputs[0]),
        "largest_start": float(max(np.abs(w).max() for w in net.start)),
        "coupling_bound": said.coupling(),
        "derived_bound": said.coupling_derived(),
        "descent_bound": said.descent(),
        "total_bound": said.total(),
        "output_bound": said.test_function(),
    }


def _descent_gap(net, own, seed):
    """The largest distance between descent by steps and the net's flow, at T/2 and T.

    The points of a shorter descent are the first ones of a longer one, so that both are one path.
    """
    features = net.features(DATA.x)
    flow = [own.weights_at(b, f) for b, f in enumerate(net.frozen)]
    gaps = []
    for i in (10, 20):
        gamma, weights = net.descend(float(own.data.time[i]), STEP, seed)
        steps = -features.T @ gamma, weights[0] - net.start[1]
        gaps += [np.abs(a[i] - b).max() for a, b in zip(flow, steps, strict=True)]
    return max(gaps)


def within(name, bound):
    def check(results):
        found, said = results.measured[name].values, results.measured[bound].values
        good = int(np.sum(found <= said))
        text = f"log10 measured {found.min():.1f} to {found.max():.1f}, bound {said.min():.1f} to {said.max():.1f}"
        return always(good, len(found), f"{share_text(good, len(found))}; {text}")

    return check


def derivation(results):
    """Two formulas, which know nothing of a run."""
    printed, derived = results.measured.coupling_bound.values, results.measured.derived_bound.values
    text = f"the proof's choices give a bound {10 ** (derived - printed).min():.1f} to "
    text += f"{10 ** (derived - printed).max():.1f} times the printed one, by rank, width and time"
    return CheckResult(bool((derived <= printed).all()), text, exact=True)


def at_start(results):
    """D₀ = 0, since net and limit share their weights at time 0: for T = 0 the step says ŷ − ŷ = 0, to rounding.

    A net is the same for every T, and counts once.
    """
    gap = results.select(T=min(results.values("T"))).measured.output_at_start.values
    good = int(np.sum(gap <= 1e-12))
    text = f"outputs differ by {gap.min():.1e} to {gap.max():.1e} at time 0, where D = 0"
    return always(good, len(gap), f"{share_text(good, len(gap))}; {text}")


def discussion(results):
    found = Bounds(10, 100, 1.0, (1000, 1000), 1e-3, CHANCE)
    text = f"K_T (1 + rK) = {found.exponent:g}; log10 of the bound {found.total():.0f}"
    return CheckResult(found.exponent <= 1000, text, exact=True)


def informative(results):
    said, size = results.measured.total_bound.values, results.measured.largest_start.values
    text = f"log10 of the bound {said.min():.1f} to {said.max():.1f}; weights at the start are at most {size.max():.2f}"
    return CheckResult(bool((said <= np.log10(size)).all()), text, exact=True)  # a formula; starts are bounded by law


def draw(results):
    figure, ax = plt.subplots(figsize=(WIDTH, 2.8))
    part = results.measured
    kinds = (
        ("coupling", "net and limit", BLUE),
        ("sgd", f"flow and one-sample steps, ε = {STEP}", GREEN),
        ("total_bound", "bound of Theorem G.1", RED),
        ("output_bound", "bound of Corollary G.1", ORANGE),
    )
    shift = 0.02 * (part["rank"].values - 2)
    for name, label, color in kinds:
        ax.plot(part["T"].values * (1 + shift), part[name].values, "o", color=color, mfc="none", ms=4, label=label)
    ax.axhline(0, color="0.7", lw=0.6)
    ax.set(xlabel="time T", ylabel="log10 of the distance", xscale="log")
    ax.set_xticks(results.values("T"), [f"{t:g}" for t in results.values("T")])
    ax.minorticks_off()
    ranks, widths = (" and ".join(map(str, results.values(name))) for name in ("rank", "width"))
    ax.legend(title=f"rank {ranks}, width {widths}", loc="upper left", bbox_to_anchor=(1.02, 1))
    return figure


experiment = Experiment(
    title="Finite width: bounds of Appendix G as log10 beside measured distances",
    source="Theorems 2.3 and G.1, Lemmas G.1 and G.2, Corollary G.1, G.6",
    measure=measure,
    full=dict(rank=(2, 3), T=(1.0, 4.0, 10.0), width=(64, 1024), seed=range(10)),
    quick=dict(rank=(2,), T=(1.0, 2.0), width=(256,), seed=range(4)),
    draw=draw,
    drawn="One circle per net, by the end T of time, the two ranks side by side: log10 of measured distances and of "
    "their bounds. Weights have size 1, which is the grey line.",
    claims=(
        Claim(
            "D(W, W̃) is within its bound.", "M43, M107 · Lemma G.1", within("coupling", "coupling_bound"), built=True
        ),
        Claim(
            "D(W̃, 𝐖) of gradient descent is within its bound.",
            "M43, M108 · Lemma G.2",
            within("descent", "descent_bound"),
            built=True,
        ),
        Claim(
            "D(W̃, 𝐖) of one-sample steps is within its bound.",
            "M43, M108 · Lemma G.2",
            within("sgd", "descent_bound"),
            built=True,
        ),
        Claim(
            "Outputs are within Corollary G.1.", "M109 · Corollary G.1", within("output", "output_bound"), built=True
        ),
        Claim(
            "The proof of Lemma G.1 gives the printed bound.",
            "M115 · G.4, as printed",
            derivation,
            note="The choices of γ give K_T(1 + rK) and r inside the log, which the statement lost. "
            "A larger K in the exponent would take up both.",
        ),
        Claim(
            "|ŷ(𝐖) − ŷ(W)| ≤ K(1 + rK) D_T for every T, T = 0 among them.",
            "M109 · Corollary G.1, proof, as printed",
            at_start,
            note="With equal weights an average over n neurons still differs from the limit's by n^(−1/2).",
        ),
        Claim(
            "K_T(1 + rK) ≤ 1000 for T = 10, K = 1, r = 100.",
            "M116 · G.6, as printed",
            discussion,
            note="It is 11 · 101 = 1,111, and grows with K as T^K.",
        ),
        Claim(
            "The bound is smaller than the weights themselves.",
            "ours; M43, M45",
            informative,
            note="The exponential makes it say less than that weights are bounded.",
        ),
    ),
)
