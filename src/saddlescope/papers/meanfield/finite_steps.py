"""Mean-field paper, Lemma G.2: gradient descent by steps of length ε against the flow of the same net.

Nets of width 256 descend to T = 4, by the full gradient or on one random point per step. Their
weights at time T are set beside those of the net's own flow; for single points the mean square is
over eight orders of the points. Lemma G.2 bounds the largest gap of a weight by √ε for both, for
ε ≤ 1; longer steps are drawn, but not judged. For the full gradient an Euler step's error is of order
ε, which is better.
"""

import matplotlib.pyplot as plt
import numpy as np

from saddlescope.checks import always
from saddlescope.claims import Claim
from saddlescope.experiment import Experiment
from saddlescope.figures import BLACK, WIDTH, letters
from saddlescope.meanfield.distance import follow_nets, weights_of
from saddlescope.papers.meanfield._coupling import LONGER, TIME, flow_of, means, slope_check
from saddlescope.theory.meanfield.finite_width import Bounds

NEURONS, ORDERS = 256, 8
CASES = ("erf", "leaky ReLU", "bounded laws")
FULL, SINGLE = "all points", "one point"
BANDS = {FULL: (0.9, 1.1), SINGLE: (0.4, 0.6)}  # near 1 and near 1/2: a tenth, fixed before any run


def measure(case, method, log2_steps, seed):
    limit, _ = flow_of(case)
    time = LONGER.get(case, TIME)
    net, step = limit.net(NEURONS, seed), time / 2**log2_steps
    (flow,) = follow_nets([net], np.array([0.0, time]))
    orders = range(ORDERS * seed, ORDERS * (seed + 1)) if method == SINGLE else (None,)
    gaps = [_gap(net, flow, time, step, order) for order in orders]
    sups, squares = np.array(gaps).T
    return {"length": step, "sup": float(sups.max()), "rms": float(np.sqrt(squares.mean()))}


def _gap(net, flow, time, step, order):
    """The largest gap of a weight at the end, and the largest mean square of a block."""
    gamma, weights = net.descend(time, step, order)
    by_flow = [w[-1] for w in weights_of(net, flow)]
    by_steps = [w[0] for w in weights_of(net, (gamma[None], tuple(w[None] for w in weights)))]
    gaps = [a - b for a, b in zip(by_flow, by_steps, strict=True)]
    return max(np.abs(g).max() for g in gaps), max((g**2).mean() for g in gaps)


def slope_of(method):
    """By the largest gap of a weight, the lemma's norm, and its steps of at most 1."""
    check = slope_check("sup", "length", CASES, BANDS[method])
    return lambda results: check(results.where(results.measured.length.values <= 1).select(method=method))


def below_bound(results):
    """log10 D is below that of Lemma G.2, with K = 1 and δ = 0.05."""
    part = results.select(case="bounded laws").measured
    if not part.sizes["run"]:
        return None
    time = LONGER["bounded laws"]
    bounds = np.array([Bounds(time, 2, 1.0, (NEURONS, NEURONS), e, 0.05).descent() for e in part.length.values])
    room = bounds - np.log10(part["sup"].values)
    text = (
        f"log10 of the bound {bounds.min():.2f} to {bounds.max():.2f}; it exceeds log10 D by {room.min():.2f} or more"
    )
    return always(int(np.sum(room >= 0)), room.size, f"{text}, in {room.size} nets")


def draw(results):
    cases = results.values("case")
    figure, axes = plt.subplots(1, len(cases), figsize=(WIDTH, 2.8), sharey=True, squeeze=False)
    for ax, case in zip(axes[0], cases, strict=True):
        for method, slope, dash in ((FULL, 1.0, "--"), (SINGLE, 0.5, ":")):
            part = results.select(case=case, method=method)
            if not part.measured.sizes["run"]:
                continue
            steps, mean = means(part, "rms", "length")
            ax.loglog(steps, mean, "o-", ms=3, lw=1, label=f"gradient of {method}")
            line = mean[0] * (steps / steps[0]) ** slope
            ax.loglog(steps, line, color=BLACK, ls=dash, lw=0.8, label=f"slope {slope:g}")
        ax.set(xlabel="length of a step ε")
        ax.set_title(case)
    axes[0, 0].set_ylabel("root mean square gap of weights at T")
    letters(axes[0])
    figure.legend(*axes[0, 0].get_legend_handles_labels(), loc="outside lower center", ncols=4)
    return figure


experiment = Experiment(
    title="Gradient descent against the flow of the same net, by the length of a step",
    source="Lemma G.2",
    measure=measure,
    full=dict(case=CASES, method=(FULL, SINGLE), log2_steps=range(5, 13), seed=range(20)),
    quick=dict(case=("erf",), method=(FULL, SINGLE), log2_steps=(5, 11), seed=range(8)),
    draw=draw,
    drawn="Marks are means over nets of width 256; black lines have the slopes of theory, 1 for the full "
    "gradient and 1/2 for one point per step.",
    claims=(
        Claim("With one random point per step the gap falls as √ε.", "M108 · Lemma G.2", slope_of(SINGLE)),
        Claim("With the full gradient it falls as ε, faster than Lemma G.2 says.", "ours", slope_of(FULL)),
        Claim("The gap is below the bound of Lemma G.2.", "M108 · Lemma G.2", below_bound, built=True),
    ),
)
