"""Mean-field paper, Section 2.7 and G.6: how the distance from the limit grows with rank and time. Nothing is trained.

The bound of Theorem 2.3 has the factor e^{K_T (1 + rK)}, K_T = K (1 + T^K): its digits grow in
proportion to r and to T. Nets of width 1,024 with erf and Gaussian laws are set beside the exact limit
for ranks 1 to 16 and times up to 16. K = 1 is the least that the paper allows, so that the bound's
growth here is the least it can be.
"""

import operator
from functools import cache

import matplotlib.pyplot as plt
import numpy as np

from saddlescope.checks import decided_by
from saddlescope.claims import FAILS, HOLDS, UNCLEAR, CheckResult, Claim
from saddlescope.experiment import Experiment
from saddlescope.figures import WIDTH, letters
from saddlescope.meanfield import meanfield
from saddlescope.meanfield.distance import follow_nets, gaps_over_time
from saddlescope.nets.activation import Erf
from saddlescope.papers.meanfield._coupling import nets_of, points
from saddlescope.statistics import exponents
from saddlescope.theory.meanfield.finite_width import Bounds

NEURONS, TIMES = 1024, np.array([0.0, 1.0, 2.0, 4.0, 8.0, 16.0])
RANKS = (1, 2, 4, 8, 16)
APART = 0.1  # of the target's size: channels that differ by less have not specialised


@cache
def flow_of(r):
    """The limit and its flow; a worker solves it once for all nets."""
    limit = meanfield(points(), r, 1, Erf())
    return limit, limit.flow(TIMES[-1], times=TIMES, rtol=1e-7)


def measure(r, seed):
    limit, flow = flow_of(r)
    nets = nets_of(limit, NEURONS, seed)
    gaps = [gaps_over_time(flow, *pair)["sup"] for pair in zip(nets, follow_nets(nets, TIMES), strict=True)]
    return {
        "time": (("save",), TIMES),
        "sup": (("net", "save"), np.maximum.accumulate(gaps, axis=1)),
        "apart": float(np.ptp(flow.data.channels.values, axis=-1).max()),
    }


def bounds_of(r, t):
    """Those of Lemma G.1 with K = 1 and δ = 0.05; the step does not enter."""
    return Bounds(t, r, 1.0, (NEURONS, NEURONS), 1e-9, 0.05)


def per_channel(results):
    """d ln D_T/dr, its half interval, and the bound's, at every time."""
    m = results.measured
    ranks = np.repeat(m.r.values, m.sizes["net"])
    found = []
    for k, t in enumerate(TIMES[1:], 1):
        slope, half = exponents(np.exp(ranks)[:, None], m["sup"].values[:, :, k].ravel())
        found.append((t, slope[0], half[0], bounds_of(1, t).growth))
    return found


def pessimistic(results):
    """An exponential in r adds as much to ln D_T with every channel. Measured, the upper half of the ranks adds less
    per channel than the lower half, and less than the bound's exponent, at every time."""
    ranks = sorted(results.values("r"))
    if len(ranks) < 3:
        return None
    middle = ranks[len(ranks) // 2]
    parts = [results.where([keep(r, middle) for r in results.measured.r.values]) for keep in (operator.le, operator.ge)]
    lower, upper = map(per_channel, parts)
    pairs = list(zip(lower, upper, strict=True))
    text = ", ".join(
        f"{few[1]:.3f} ± {few[2]:.3f}, then {many[1]:.3f} ± {many[2]:.3f} at T = {few[0]:g} (bound {few[3]:g})"
        for few, many in pairs
    )
    words = {f"T = {few[0]:g}": _below(many, min(few[1] - few[2], few[3]), few[1] + few[2]) for few, many in pairs}
    return decided_by(words, f"d ln D_T/dr up to rank {middle} and from it on: {text}")


def _below(found, low, high):
    """Whether a slope with its interval lies below another's interval, above it, or neither."""
    _, slope, half, _ = found
    return HOLDS if slope + half < low else FAILS if slope - half > high else UNCLEAR


def by_specialisation(results):
    """As printed: because channels specialise. Where the bound is pessimistic, the limit's channels must differ.

    In the limit of these nets all channels are equal, so that the effect is there without the cause.
    """
    apart, effect = results.measured["apart"].values[results.measured.r.values > 1], pessimistic(results)
    if not apart.size or effect is None:
        return None
    text = f"largest difference of the limit's channels {apart.max():.1e}"
    if not effect.holds:
        return CheckResult(False, f"{text}; the bound was not seen to be pessimistic", unclear=True)
    return CheckResult(bool((apart > APART).all()), text, exact=True)


def draw(results):
    figure, (left, right) = plt.subplots(1, 2, figsize=(WIDTH, 2.7))
    for k, t in enumerate(TIMES[1:], 1):
        ranks = results.values("r")
        mean = [results.select(r=r).measured["sup"].values[:, :, k].mean() for r in ranks]
        left.plot(ranks, mean, "o-", ms=3, lw=1, label=f"T = {t:g}")
    left.set(xlabel="rank r", ylabel=f"largest gap of weights, $D_T$, n = {NEURONS:,}", yscale="log", xscale="log")
    left.set_xticks(ranks, ranks)
    left.minorticks_off()
    left.legend(title=f"mean of {results.measured.sizes['net'] * len(results.values('seed'))} nets", loc="lower right")
    for r in results.values("r"):
        bounds = [bounds_of(r, t).coupling() for t in TIMES[1:]]
        right.plot(TIMES[1:], bounds, "o-", ms=3, lw=1, label=f"r = {r}")
    right.set(xlabel="time T", ylabel="digits of the bound, K = 1")
    right.legend()
    letters((left, right))
    return figure


experiment = Experiment(
    title="Growth of the distance from the limit with rank and time, beside the bound's",
    source="Section 2.7, G.6",
    measure=measure,
    full=dict(r=RANKS, seed=range(4)),
    quick=dict(r=(1, 4, 16), seed=range(2)),
    draw=draw,
    drawn="A: marks are means over nets of the largest distance of a weight from the limit, up to each time. B: "
    "log10 of the bound of Lemma G.1 for the same ranks and times.",
    claims=(
        Claim("The exponential in rK is pessimistic.", "M45 · Section 2.7, G.6", pessimistic),
        Claim(
            "It is so because channels specialise.",
            "M45 · Section 2.7, G.6, as printed",
            by_specialisation,
            note="The distance grows slowly in r though all channels of the limit are equal.",
        ),
    ),
)
