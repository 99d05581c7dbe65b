"""Mean-field paper, Theorem 2.3: how far nets of finite width are from the limit. Nothing is trained.

Every net is set beside the exact limit at its own neurons, so that nets are independent of each
other. Weights are compared at 21 times up to T = 4 (40 with bounded laws, 100 with zero mean); the
net follows its own gradient flow. `sup` is the paper's D_T, `rms` its root mean square over neurons.
Cases change the activation, the depth, the dimension of the data and the laws; with "bounded laws"
all that the proofs of Appendix G bound by K is at most 1. "zero mean" is the usual independent start:
its limit never moves, so that its distance is how far nets go. "Sobol" has a deterministic mixing
matrix, the quantiles of a Sobol sequence.
"""

from dataclasses import replace

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.ticker import NullFormatter
from scipy.special import ndtri
from scipy.stats import qmc

from saddlescope.checks import always, decided_by, holds_in_share, share_text
from saddlescope.claims import FAILS, Claim
from saddlescope.experiment import Experiment
from saddlescope.figures import BLACK, WIDTH, letters
from saddlescope.meanfield.distance import follow_nets, gaps_over_time
from saddlescope.papers.meanfield._coupling import (
    LONGER,
    NETS,
    RMS_BAND,
    by_net,
    flow_of,
    means,
    nets_of,
    slope_check,
    slope_in,
)
from saddlescope.papers.meanfield._numbers import lies_within
from saddlescope.statistics import mean_of
from saddlescope.theory.meanfield.finite_width import Bounds

WIDTHS = tuple(2**k for k in range(5, 14))
UNBOUNDED = ("erf", "leaky ReLU", "three blocks")
MOVING = (*UNBOUNDED, "bounded laws")
DIMENSIONS = ("erf", "d = 4", "d = 16")
CHANCE = 0.05  # δ of the theorem
ENOUGH = 0.1  # of the target's size: the error that we call small, fixed before any run
WORSE = np.log(1.1)  # a distance that counts as no worse: a tenth more, which a fifth more neurons make good


def with_sobol(net, seed):
    """The same first block; above it the mixing matrix of a Sobol sequence, with a fresh start."""
    limit, n = net.limit, net.width
    u = qmc.Sobol(limit.rank, scramble=False).random(n) + 0.5 / n
    mixing = np.hstack([ndtri(u), np.zeros((n, 1))])
    start = limit.starts[1].draw(np.random.default_rng((seed, n, 1)), mixing, 1, limit.activation)
    return replace(net, frozen=(net.frozen[0], mixing), start=(net.start[0], start))


def measure(case, n, seed):
    limit, flow = flow_of("erf" if case == "Sobol" else case)
    nets = nets_of(limit, n, seed)
    if case == "Sobol":
        nets = [with_sobol(net, NETS * seed + i) for i, net in enumerate(nets)]
    states = follow_nets(nets, flow.data.time.values)
    return by_net([_distances(flow, *pair) for pair in zip(nets, states, strict=True)])


def _distances(flow, net, state):
    gaps = gaps_over_time(flow, net, state)
    ends = {name: float(values.max()) for name, values in gaps.items()}
    inside = 3 * (flow.data.time.values[-1] + 1) * net.width**2 / CHANCE + np.e
    return ends | {"sup_over_log": ends["sup"] / np.sqrt(np.log(inside))}


def same_in_dimensions(results):
    """The slope in n for d = 1, 4 and 16: each is that of theory. How far two of them differ is said beside it."""
    if "d = 16" not in results.values("case"):
        return None
    found = slope_check("rms", "n", DIMENSIONS, RMS_BAND)(results)
    if found is None:
        return None
    slopes = [slope_in(results.select(case=c), "rms", "n") for c in DIMENSIONS if c in results.values("case")]
    (low, least), (high, most) = min(slopes), max(slopes)
    text = f"{found.evidence}; they differ by up to {high - low:.3f} ± {np.hypot(least, most):.3f}"
    return replace(found, evidence=text)


def mean_at(results, case, n, name="output"):
    return mean_of(results.select(case=case, n=n).measured[name].values.ravel())


def thousand_enough(cases):
    """At n = 1,024 outputs are within 0.1 of the limit's; targets have size 1."""

    def check(results):
        part = results.select(case=cases, n=1024)
        if not part.measured.sizes["run"]:
            return None
        good = part.measured.output.values.ravel() <= ENOUGH
        said = {c: mean_at(results, c, 1024) for c in part.values("case")}
        text = ", ".join(f"{c} {m:.3f} ± {h:.3f}" for c, (m, h) in said.items())
        text = f"{share_text(int(good.sum()), good.size)} within {ENOUGH:g}; mean gap: {text}"
        return holds_in_share(good.sum(), good.size, text, groups=groups_of(part, good))

    return check


def groups_of(results, good):
    """Good nets and all nets, by case."""
    cases = np.repeat(results.measured.case.values, NETS)
    return {c: (good[cases == c].sum(), (cases == c).sum()) for c in results.values("case")}


def below_bound(results):
    """log10 D_T is below that of Lemma G.1, with K = 1 and δ = 0.05."""
    part = results.select(case="bounded laws").measured
    if not part.sizes["run"]:
        return None
    widths = part.n.values
    bounds = [Bounds(LONGER["bounded laws"], 2, 1.0, (int(n), int(n)), 1e-9, CHANCE).coupling() for n in widths]
    room = np.array(bounds)[:, None] - np.log10(part["sup"].values)
    text = (
        f"log10 of the bound {min(bounds):.2f} to {max(bounds):.2f}; it exceeds log10 D_T by {room.min():.2f} or more"
    )
    return always(int(np.sum(room >= 0)), room.size, f"{text}, in {room.size} nets")


def no_worse(results):
    """The distance with a deterministic L is at most a tenth above that with a random one, by the interval of the mean
    logarithm of their ratio: nets of the two kinds are pairs, which share their first block. All widths together
    decide, unless one of them is clearly above."""
    ratios = {n: _log_ratios(results, n) for n in sorted(results.select(case="Sobol").values("n"))}
    if not ratios:
        return None
    mean, half = mean_of(np.concatenate([*ratios.values()]))
    above_it = [n for n, r in ratios.items() if lies_within(-np.inf, WORSE, *mean_of(r)) == FAILS]
    text = f"{np.exp(mean):.3f} (95 % interval {np.exp(mean - half):.3f} to {np.exp(mean + half):.3f})"
    text += f", allowed {np.exp(WORSE):g}; {', '.join(f'{np.exp(r.mean()):.2f} at n = {n}' for n, r in ratios.items())}"
    word = FAILS if above_it else lies_within(-np.inf, WORSE, mean, half)
    return decided_by({"Sobol": word}, f"distance with Sobol L over that with random L: {text}")


def _log_ratios(results, n):
    """ln of the distance of each net with a Sobol L over that of the net with the same first block."""
    pair = (results.select(case=c, n=n).measured.sortby("seed") for c in ("Sobol", "erf"))
    sobol, random = (m["rms"].values.ravel() for m in pair)
    return np.log(sobol / random)


LABELS = {"rms": "root mean square of weights", "sup": "largest of weights, $D_T$", "output": "largest of outputs"}


def draw(results):
    figure, axes = plt.subplots(1, 3, figsize=(WIDTH, 3), sharex=True)
    for ax, (name, label) in zip(axes, LABELS.items(), strict=True):
        for k, case in enumerate(results.values("case")):
            widths, gaps = means(results.select(case=case), name, "n")
            ax.loglog(widths, gaps, "os"[k // 6] + "-", ms=3, lw=1, label=case)
        ax.loglog(widths, 3 * widths**-0.5, color=BLACK, ls="--", lw=0.8, label="slope −1/2")
        ax.set(xlabel="width n", xticks=(100, 1000))
        ax.set_title(label)
        ax.yaxis.set_minor_formatter(NullFormatter())
    axes[0].set_ylabel("gap between net and limit")
    letters(axes)
    nets = NETS * len(results.values("seed"))
    handles = axes[0].get_legend_handles_labels()
    figure.legend(*handles, loc="outside lower center", ncols=5, title=f"mean of {nets} nets each")
    return figure


experiment = Experiment(
    title="Distance between finite nets and the exact limit, by width",
    source="Theorem 2.3, Appendix G",
    measure=measure,
    full=dict(case=(*MOVING, "d = 4", "d = 16", "Sobol", "zero mean"), n=WIDTHS, seed=range(8)),
    quick=dict(case=("erf",), n=(32, 1024), seed=range(8)),
    draw=draw,
    drawn="Marks are means over nets of the gap to the exact limit, the largest up to the end: of weights in "
    "root mean square, of weights in the sup norm, and of outputs. The dashed line has slope −1/2.",
    claims=(
        Claim(
            "Weights of a net approach the limit as n^(−1/2), in root mean square.",
            "M26, M107 · Section 2.1, Lemma G.1",
            slope_check("rms", "n", MOVING, RMS_BAND),
        ),
        Claim(
            "With bounded laws, as the theorem asks, D_T over its logarithm falls as n^(−1/2).",
            "M43, M107 · Theorem 2.3, Lemma G.1",
            slope_check("sup_over_log", "n", ("bounded laws",), RMS_BAND),
        ),
        Claim(
            "With Gaussian laws, which it excludes, D_T over its logarithm falls as n^(−1/2) too.",
            "ours; M43, M107",
            slope_check("sup_over_log", "n", UNBOUNDED, RMS_BAND),
            note="The largest of n Gaussian mixing weights grows as √(ln n) besides.",
        ),
        Claim(
            "For d = 1, 4 and 16 the exponent of n lies within 0.06 of −1/2.",
            "M44 · Section 2.7",
            same_in_dimensions,
        ),
        Claim("D_T is below the bound of Lemma G.1.", "M43 · Theorem 2.3", below_bound, built=True),
        Claim(
            "The loss, a test function, approaches that of the limit as n^(−1/2).",
            "M109 · Corollary G.1",
            slope_check("loss", "n", MOVING, RMS_BAND),
        ),
        Claim(
            "A width of about 1,000 suffices, from starts that move the limit.",
            "M19, M117 · Section 1.1, G.6",
            thousand_enough((*MOVING, "d = 16")),
            note="The gap falls as n^(−1/2) in every case; its size at a given width depends on laws, blocks and d.",
        ),
        Claim(
            "A width of about 1,000 suffices from the usual independent start of mean zero.",
            "M19, M117 · Section 1.1, G.6",
            thousand_enough(("zero mean",)),
            note="The limit of this start never moves, while nets of any width leave it: later by ln n only.",
        ),
        Claim(
            "A deterministic L has the same rate.", "M110 · Remark G.1", slope_check("rms", "n", ("Sobol",), RMS_BAND)
        ),
        Claim("A deterministic L is no worse than a random one, within a tenth.", "M110 · Remark G.1", no_worse),
    ),
)
