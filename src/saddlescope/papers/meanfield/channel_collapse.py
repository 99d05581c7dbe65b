"""Mean-field paper, beyond it: do channels differ at infinite width? Nothing is trained.

If all channels start from one law, the limit has f_1 = … = f_r for ever, by symmetry; a control with
two laws shows that the solver can tell channels apart. Nets of width n have
log-ratios R₁₂ = ln |f_1/f_2| that come from their draw. "one law" and "leaky ReLU" start all
channels alike; "two laws" gives the second channel half the slope of the first, as a control. "zero
mean" is the usual independent start: its channels are noise of size n^(−1/2) in all of them, so that
their ratio need not shrink. Time is 4, and 100 for zero mean, when nets of all widths here have left.
R₁₂ is the median of its size over eight points.

Section 1.1 calls a layer collapsed if the change of its weights does not depend on the neuron. For
this w(T) − w(0) of the limit is read at a net's own neurons, from two starts that are independent of
the frozen weights: mean zero, and "independent", of mean one, with three blocks of leaky ReLU, so
that there is a layer between the first and the last. The paper's other half, that full-rank nets
collapse, is a theorem of the literature and is not tested.
"""

from functools import cache

import matplotlib.pyplot as plt
import numpy as np

from saddlescope.checks import decided_by
from saddlescope.claims import FAILS, HOLDS, UNCLEAR, CheckResult, Claim
from saddlescope.experiment import Experiment
from saddlescope.figures import BLACK, WIDTH
from saddlescope.meanfield import meanfield
from saddlescope.meanfield.distance import channels_of, follow_nets
from saddlescope.meanfield.laws import StartLaw
from saddlescope.nets.activation import Erf, LeakyReLU
from saddlescope.papers.meanfield._coupling import (
    CASES,
    NETS,
    RMS_BAND,
    by_net,
    means,
    nets_of,
    points,
    slope_check,
)
from saddlescope.statistics import mean_of

TIMES = {"one law": 4.0, "leaky ReLU": 4.0, "two laws": 4.0, "zero mean": 100.0, "independent": 4.0}
NAMES = {
    "one law": "one law, erf",
    "leaky ReLU": "one law, leaky ReLU",
    "two laws": "one law per channel",
    "zero mean": "mean zero",
    "independent": "mean one, three blocks",
}
ALIKE = ("one law", "leaky ReLU")
INDEPENDENT = ("zero mean", "independent")  # of the frozen weights, as the paper's i.i.d. start
BLOCKS = 3  # at most
ROUNDING, FLAT = 1e-12, (-0.1, 0.1)
SOLVED = 1e-6  # above the relative error of the solver, about 1e-8


@cache
def limit_and_ratio(case):
    """The limit, its flow, its log-ratio at the end, and the largest difference of channels on the way."""
    if case == "two laws":
        start = (StartLaw(slope=(1.0, 0.5)), StartLaw())
        limit = meanfield(points(), 2, 1, Erf(), start=start)
    elif case == "independent":
        limit = meanfield(points(), 2, 2, LeakyReLU(0.1), start=StartLaw(mean=1, slope=0))
    else:
        limit = CASES["erf" if case == "one law" else case]()
    flow = limit.flow(TIMES[case], times=5)
    channels = flow.data.channels.values[:, 0]
    return limit, flow, log_ratio(channels[-1]), float(np.abs(np.diff(channels, axis=-1)).max())


def spread_of_changes(flow, frozen):
    """Of each block: the deviation of w(T) − w(0) over neurons, over its size; 0 if nothing moves, NaN for no block."""
    changes = [flow.weights_at(b, f)[-1] for b, f in enumerate(frozen)]
    found = [c.std(axis=0).mean() / max(np.sqrt((c**2).mean()), ROUNDING) for c in changes]
    return np.append(found, np.full(BLOCKS - len(found), np.nan))


def log_ratio(channels):
    """ln |f_1/f_2| at every point; 0 where both vanish."""
    first, second = np.abs(channels).T
    both = (first > 0) & (second > 0)
    return np.log(np.where(both, first, 1.0) / np.where(both, second, 1.0))


def measure(case, n, seed):
    limit, flow, exact, difference = limit_and_ratio(case)
    nets = nets_of(limit, n, seed)
    states = follow_nets(nets, np.array([0.0, TIMES[case]]))
    ends = [log_ratio(channels_of(net, s)[-1]) for net, s in zip(nets, states, strict=True)]
    rows = [{"ratio": np.median(np.abs(r)), "off": np.median(np.abs(r - exact))} for r in ends]
    return {
        **by_net(rows),
        "limit_ratio": float(np.median(np.abs(exact))),
        "limit_difference": difference,
        "spread": (("block",), spread_of_changes(flow, nets[0].frozen)),
    }


def same_in_limit(results):
    gap = results.measured.limit_difference.values
    text = f"largest |f_1 − f_2| of the limit {gap.max():.1e}, allowed {ROUNDING:g}"
    return CheckResult(bool((gap <= ROUNDING).all()), text, exact=True)


def no_collapse(results):
    """In every layer of the limit the change of a weight depends on its neuron, beyond the solver's error."""
    found = {c: results.select(case=c).measured.spread.values for c in results.values("case")}
    said = {NAMES[c]: ", ".join(f"{v:.2g}" for v in s.mean(axis=0) if not np.isnan(v)) for c, s in found.items()}
    text = "; ".join(f"{name}: {values}" for name, values in said.items())
    words = {NAMES[c]: bool(np.nanmin(s) > SOLVED) for c, s in found.items()}
    return decided_by(words, f"deviation of w(T) − w(0) over neurons, over its size, by layer: {text}")


def kept(results):
    """In the widest nets R₁₂ is nearer to that of the limit than to 0, that of equal channels."""
    part = results.select(case="two laws").measured
    if not part.sizes["run"]:
        return None
    widest = part.n.values == part.n.values.max()
    exact = float(part.limit_ratio.values[0])
    gap = mean_of(part.off.values[widest].ravel())
    word = HOLDS if gap[0] + gap[1] < exact / 2 else FAILS if gap[0] - gap[1] > exact / 2 else UNCLEAR
    text = f"|R₁₂| of the limit {exact:.3f}; nets of width {part.n.values.max()} are {gap[0]:.3f} ± {gap[1]:.3f} away"
    return decided_by({"two laws": word}, text)


def draw(results):
    figure, ax = plt.subplots(figsize=(0.75 * WIDTH, 3.2))
    for case in (c for c in results.values("case") if c != "independent"):
        ax.loglog(*means(results.select(case=case), "ratio", "n"), "o-", ms=4, lw=1, label=NAMES[case])
    widths = np.unique(results.measured.n.values).astype(float)
    ax.loglog(widths, 8 * widths**-0.5, color=BLACK, ls="--", lw=0.8, label="slope −1/2")
    ax.set(xlabel="width n", ylabel="size of the log-ratio of two channels at the end")
    ax.legend(title=f"mean of {NETS * len(results.values('seed'))} nets", loc="upper left", bbox_to_anchor=(1.02, 1))
    return figure


experiment = Experiment(
    title="Log-ratios of channels by width: one law for all channels makes them equal in the limit",
    source="Section 1.1, Section 3",
    measure=measure,
    full=dict(case=tuple(TIMES), n=tuple(2**k for k in range(6, 14)), seed=range(16)),
    quick=dict(case=("one law", "two laws", "independent"), n=(32, 1024), seed=range(4)),
    where="case != 'independent' or n <= 64",  # what is read there does not depend on the width
    draw=draw,
    drawn="Marks are means over nets of |ln |f₁/f₂||, the median over eight points, at the end of the flow. The "
    "dashed line has slope −1/2.",
    claims=(
        Claim(
            "With one law for all channels the limit's channels stay equal.",
            "ours",
            same_in_limit,
            only=dict(case=ALIKE),
            built=True,
        ),
        Claim(
            "Under an i.i.d. start low-rank layers do not collapse: the change of a weight depends on its neuron.",
            "M20 · Section 1.1, the low-rank half",
            no_collapse,
            only=dict(case=INDEPENDENT),
            note="From means zero, the usual start, no weight of the limit moves, so that all neurons move alike.",
        ),
        Claim(
            "In nets |R₁₂| falls as n^(−1/2): specialisation is an effect of finite width.",
            "ours",
            slope_check("ratio", "n", ALIKE, RMS_BAND),
        ),
        Claim("With one law per channel R₁₂ tends to that of the limit.", "ours", kept),
        Claim(
            "From the usual start of mean zero |R₁₂| does not depend on the width.",
            "ours",
            slope_check("ratio", "n", ("zero mean",), FLAT),
        ),
    ),
)
