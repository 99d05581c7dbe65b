"""Mean-field paper, Appendix G: a wide net in place of the limit, beside the exact limit. Nothing is trained.

The usual check of a rate takes a net of width N = 8,192 for the limit, and its first n neurons for a
net of width n. Such nets share neurons with their reference, so that the gap is that of √(1/n − 1/N):
it falls faster than n^(−1/2), by 0.06 in the slope over these widths, and is 0 at n = N. Each point
has one nest of nets; their distances are taken from the reference and from the exact limit, over the
same neurons.
"""

from dataclasses import replace

import matplotlib.pyplot as plt
import numpy as np

from saddlescope.checks import decided_by
from saddlescope.claims import Claim
from saddlescope.experiment import Experiment
from saddlescope.figures import BLACK, WIDTH
from saddlescope.meanfield.distance import follow_nets, weights_of
from saddlescope.papers.meanfield._coupling import RMS_BAND, flow_of, word_in_band
from saddlescope.papers.meanfield._numbers import above, lies_within
from saddlescope.statistics import mean_of

REFERENCE = 8192
WIDTHS = tuple(2**k for k in (5, 7, 9, 11, 12))
WITHIN = 0.25  # of the mean square: nearer to 1/2 than to 1, or more, of nets that share no neurons


def first_neurons(net, n):
    """The net of its first n neurons in every block."""
    return replace(net, frozen=tuple(f[:n] for f in net.frozen), start=tuple(w[:n] for w in net.start))


def measure(case, seed):
    _, flow = flow_of(case)
    wide = flow_of(case)[0].net(REFERENCE, seed)
    times = flow.data.time.values
    reference = weights_of(wide, follow_nets([wide], times)[0])
    exact = [flow.weights_at(b, frozen) for b, frozen in enumerate(wide.frozen)]
    gaps = np.array([_gaps(first_neurons(wide, n), times, reference, exact) for n in WIDTHS])
    return {
        "n": (("width",), np.array(WIDTHS)),
        "nested": (("width",), gaps[:, 0]),
        "coupled": (("width",), gaps[:, 1]),
    }


def _gaps(net, times, reference, exact):
    """Root mean square distances from the reference and from the limit, the largest of all blocks and times."""
    own = weights_of(net, follow_nets([net], times)[0])
    n = net.width
    return [
        max(np.sqrt(((a - b[:, :n]) ** 2).mean(axis=(1, 2))).max() for a, b in zip(own, other, strict=True))
        for other in (reference, exact)
    ]


def slopes(results, name):
    """One slope per nest: nets of one nest share neurons. Mean and half its interval."""
    found = [np.polyfit(np.log(r.n.values), np.log(r[name].values), 1)[0] for r in results.runs()]
    return mean_of(found)


def in_band(results):
    slope = slopes(results, "coupled")
    text = f"exponent of n {slope[0]:.3f} ± {slope[1]:.3f}; band {RMS_BAND[0]:g} to {RMS_BAND[1]:g}"
    return decided_by({"coupled": word_in_band(slope, RMS_BAND)}, text)


def steeper(results):
    """The difference of both slopes, nest by nest."""
    pairs = [
        [np.polyfit(np.log(r.n.values), np.log(r[k].values), 1)[0] for k in ("nested", "coupled")]
        for r in results.runs()
    ]
    gap, half = mean_of([b - a for a, b in pairs])
    return decided_by({"nested": above(gap, half)}, f"nested slope steeper by {gap:.3f} ± {half:.3f}")


def as_shared(results):
    """E nested² = (1 − n/N) E coupled² at the widest net."""
    nested, coupled = (results.measured[name].values[:, -1] ** 2 for name in ("nested", "coupled"))
    expected = 1 - WIDTHS[-1] / REFERENCE
    gap, half = mean_of((nested - expected * coupled) / coupled.mean())
    text = f"at n = {WIDTHS[-1]} it is {expected + gap:.2f} ± {half:.2f} of the true one"
    text += f"; allowed {expected:g} ± {WITHIN:g}"
    return decided_by({"ratio": lies_within(-WITHIN, WITHIN, gap, half)}, text)


def draw(results):
    figure, ax = plt.subplots(figsize=(0.75 * WIDTH, 2.8))
    widths = np.array(WIDTHS)
    for name, label in (("coupled", "from the exact limit"), ("nested", f"from the net of width {REFERENCE:,}")):
        ax.loglog(widths, results.measured[name].values.mean(axis=0), "o-", ms=4, lw=1, label=label)
    ax.loglog(widths, 2 * widths**-0.5, color=BLACK, ls="--", lw=0.8, label="slope −1/2")
    ax.set(xlabel="width n", ylabel="root mean square gap of weights")
    ax.legend()
    return figure


experiment = Experiment(
    title="Distance from a wide net against distance from the exact limit",
    source="Appendix G",
    measure=measure,
    full=dict(case=("erf",), seed=range(160)),
    quick=dict(case=("erf",), seed=range(4)),
    draw=draw,
    drawn="Marks are means over nests of nets, each the first n neurons of one wide net; the dashed line has "
    "slope −1/2.",
    claims=(
        Claim("Distances from the exact limit fall as n^(−1/2), in nested nets too.", "M107 · Lemma G.1", in_band),
        Claim("Distances from a wide net fall faster: the reference shares their neurons.", "ours", steeper),
        Claim("At half of the reference's width their mean square is 1/2 of the true one.", "ours", as_shared),
    ),
)
