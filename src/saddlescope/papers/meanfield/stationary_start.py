"""Mean-field paper, Section 2.6: when finite nets leave a start that is stationary in the limit.

All means are zero and there is no mixing bias: the standard start. A net leaves because its own
draws have averages of size n^(-1/2). Its time is the first at which E yŷ = E y²/20: the linear
theory leaves out that the residual changes, and so ends there. `theory` predicts the time twice:
from the net's own draw (`leaving.py`), and from the laws alone (`limit.escape_time`, a median). The
time to one half is measured as well.

Times scatter with the luck of a draw, which the prediction from the draw knows. Slopes in ln n are
fitted beside that luck, with a coefficient of its own: it does not depend on n, and what is left
scatters less. A slope holds where its 95 % interval lies within 15 % of the predicted one.

Two blocks leave at ln n/(2λ), λ = φ'(0) σ_L √(yKy). Three blocks leave at a time ∝ √n: in rank one
it is Carlson's elliptic integral of the draw. For leaky ReLU there is no φ'(0): with one sign of y
the rate is σ_L √((1 + α²)/2) √(yKy), and not that of the average slope (1 + α)/2.
"""

from functools import cache

import matplotlib.pyplot as plt
import numpy as np

from saddlescope.checks import decided_by, groups_by, holds_in_share, share_text
from saddlescope.claims import CheckResult, Claim
from saddlescope.experiment import Experiment
from saddlescope.figures import BLACK, BLUE, GREEN, ORANGE, RED, WIDTH, letters
from saddlescope.meanfield import meanfield
from saddlescope.meanfield.distance import outputs_of
from saddlescope.meanfield.following import times_of_levels
from saddlescope.meanfield.laws import GaussianMixing, StartLaw
from saddlescope.meanfield.nodes import NodeSystem
from saddlescope.meanfield.stationary import escape_level, escape_rate, slope_at_zero
from saddlescope.nets.activation import Erf, LeakyReLU, Tanh
from saddlescope.papers.meanfield._kinds import STEP, zero_loss
from saddlescope.papers.meanfield._numbers import lies_within
from saddlescope.statistics import student, wilson
from saddlescope.theory.meanfield.leaving import three_block_time, two_block_time

FORMS = {  # activation, blocks, rank
    "tanh, 2 blocks": (Tanh(), 2, 2),
    "erf, 2 blocks": (Erf(), 2, 1),
    "leaky, 2 blocks": (LeakyReLU(0.1), 2, 1),
    "tanh, 3 blocks": (Tanh(), 3, 1),
    "erf, 3 blocks": (Erf(), 3, 2),
}
NONE, WITHIN, HIGH = -1.0, 0.15, 0.9
# How long a net is followed, over the time that the laws give, and the shortest step on a kink. Some nets slide along a
# kink with an output of zero, and never leave: each step there is as short as is allowed.
SMOOTH, KINKED = (50, 0.0), (10, 0.01)


def limit_of(form):
    activation, blocks, rank = FORMS[form]
    return meanfield(STEP, rank, blocks - 1, activation, mixing=GaussianMixing(), start=StartLaw(0, 0, 1))


@cache
def rate_of(form):
    """Seconds for a kinked activation."""
    return escape_rate(limit_of(form))


@cache
def time_by_law(form, width):
    return limit_of(form).escape_time(width)


def measure(form, width, seed):
    limit = limit_of(form)
    net, rate = limit.net(width, seed), rate_of(form)
    system, start = net.system()
    said, level = time_by_law(form, width), escape_level(limit)
    longest, floor = KINKED if limit.kinked else SMOOTH
    reached = times_of_levels(system, start, NodeSystem.overlap, (level, 10 * level), longest * said, floor=floor)
    left, half = (float(t) if np.isfinite(t) else NONE for t in reached)
    residuals = np.asarray(limit.residual.value(outputs_of(net, start) - limit.measure.y))
    return {
        "time": left,
        "half_time": half,
        "from_draw": predicted(net, limit, level),
        "from_law": said,
        "rate": rate,
        "average_rate": rate * average_over_right(limit),
        "better_than_zero": bool(limit.measure.weights @ residuals[:, 0] < zero_loss(limit)),
    }


def average_over_right(limit):
    """The rate of the average slope over the right one; 1 for smooth activations."""
    if not limit.kinked:
        return 1.0
    alpha = limit.activation.slope
    return (1 + alpha) / 2 / np.sqrt((1 + alpha**2) / 2)


def predicted(net, limit, level):
    """The time that the net's own averages, kernel and mixing variance give; NONE for a kinked activation."""
    if limit.kinked:
        return NONE
    pull, n = limit.measure.weights * limit.measure.y[:, 0], net.width
    features = net.features(limit.measure.x)
    size = np.linalg.norm(pull @ features) / np.sqrt(n)  # √(yKy) with its own kernel
    deviation = np.sqrt(np.mean([np.mean(L[:, :-1] ** 2) for L in net.frozen[1:]]))
    rate = (slope_at_zero(limit) * deviation) ** limit.depth * size
    S = pull @ features @ net.start[0] / n / size
    mixed = [w.T @ L[:, :-1] / n / deviation for w, L in zip(net.start[1:], net.frozen[1:], strict=True)]
    if len(mixed) == 1:
        return two_block_time(S, mixed[0][0], rate, level)
    return three_block_time(S, mixed[0], mixed[1][0], rate, level)


# ---- Claims ----


def slope_of(x, y, luck):
    """The slope of y in x and half its 95 % interval, beside the luck of the draws where it is known."""
    known = [luck] if np.ptp(luck) > 0 else []
    columns = np.column_stack([np.ones(len(x)), x, *known])
    free = len(x) - columns.shape[1]
    if free < 1 or np.ptp(x) == 0:
        return np.nan, np.nan
    best = np.linalg.lstsq(columns, y, rcond=None)[0]
    variance = np.sum((y - columns @ best) ** 2) / free
    return best[1], student(free + 1) * np.sqrt(variance * np.linalg.inv(columns.T @ columns)[1, 1])


def luck_of(m, said, log):
    """What the draw adds to the predicted time, or to its logarithm; zeros where the draw predicts nothing."""
    if (m.from_draw.values <= 0).any():
        return np.zeros(m.sizes["run"])
    time = np.log(m.from_draw.values) if log else m.from_draw.values
    return time - said * np.log(m.width.values)


def slopes(results, blocks, word, said, of=None, log=False):
    """Whether the slope lies within 15 % of the one that `said` gives, in every form of so many blocks.

    A net that does not leave has no time; the evidence says how many there are.
    """
    words, texts = {}, []
    for form in [f for f in results.values("form") if f"{blocks} blocks" in f]:
        part = results.select(form=form)
        m, stay = part.where(part.measured.half_time.values != NONE).measured, (part.measured.half_time == NONE).sum()
        rule = said(m)
        y = np.log(m.time.values) if log else m.time.values if of is None else of(m)
        slope, half = slope_of(np.log(m.width.values), y, luck_of(m, rule, log))
        target = rule if of is None else 0.0
        words[form] = lies_within(target - WITHIN * rule, target + WITHIN * rule, slope, half)
        texts.append(f"{form}: {slope:.3f} ± {half:.3f}, {word} {target:.3f}")
        texts[-1] += f" ({int(stay)} of {part.measured.sizes['run']} nets do not leave)" * bool(stay)
    return decided_by(words, "; ".join(texts)) if words else None


def by_rate(m):
    return 1 / (2 * float(m.rate.values[0]))


def by_average_rate(m):
    return 1 / (2 * float(m.average_rate.values[0]))


def two_blocks(results):
    """The slope of t in ln n is 1/(2λ)."""
    return slopes(results, 2, "predicted", by_rate)


def average_slope(results):
    return slopes(results, 2, "asked", by_average_rate)


def three_blocks(results):
    """The slope of ln t in ln n is 1/2."""
    return slopes(results, 3, "predicted", lambda m: 0.5, log=True)


def lag(results):
    """From a twentieth to one half a net takes as long at all widths: the slope in ln n is 0, to 15 % of 1/(2λ)."""
    return slopes(results, 2, "asked", by_rate, of=lambda m: m.half_time.values - m.time.values)


def from_draw(results):
    part = results.where(results.measured.from_draw.values > 0)
    if not part.measured.sizes["run"]:
        return None
    gap = np.abs(part.measured.time.values / part.measured.from_draw.values - 1)
    good = gap <= WITHIN
    text = f"{share_text(int(good.sum()), len(good))} within {WITHIN:.0%}; median gap {np.median(gap):.3f}, largest "
    text += f"{gap.max():.3f}"
    return holds_in_share(int(good.sum()), len(good), text, groups=groups_by(part, "form", good))


def from_law(results):
    """The prediction that knows no draw is the median: between 30 and 70 % of nets leave later, by the interval."""
    words, texts = {}, []
    for form in results.values("form"):
        m = results.select(form=form).measured
        time = np.where(m.time.values == NONE, np.inf, m.time.values)
        later, n = int(np.sum(time > m.from_law.values)), m.sizes["run"]
        low, high = wilson(later, n)
        words[form] = lies_within(0.3, 0.7, (low + high) / 2, (high - low) / 2)
        ratio = np.median(time / m.from_law.values)
        texts.append(
            f"{form}: {later} of {n} later ({low:.0%}–{high:.0%}), median of measured over predicted {ratio:.2f}"
        )
    return decided_by(words, "; ".join(texts))


def all_leave(results):
    """A net has left where it has learned a twentieth of the target, and goes on to one half."""
    time, half = results.measured.time.values, results.measured.half_time.values
    good = (time != NONE) & (half > time)
    return holds_in_share(int(good.sum()), len(good), share_text(int(good.sum()), len(good)), 1.0)


def better_at_start(results):
    """C.5 for finite nets, a start better than zero: high is nine draws in ten, outside the interval or in it."""
    good = results.measured.better_than_zero.values.astype(bool)
    low, high = wilson(int(good.sum()), len(good))
    text = share_text(int(good.sum()), len(good))
    return CheckResult(low >= HIGH, text, unclear=low < HIGH <= high)


# ---- Output ----


def draw(results):
    figure, axes = plt.subplots(1, 2, figsize=(WIDTH, 2.7))
    colors = dict(zip(FORMS, (BLUE, GREEN, ORANGE, RED, BLACK), strict=True))
    for form in results.values("form"):
        ax, m = axes[int("3 blocks" in form)], results.select(form=form).measured
        color = colors[form]
        ax.plot(m.width, m.time, "o", color=color, ms=2, mfc="none")
        widths = np.unique(m.width.values)
        law = [float(m.from_law.values[m.width.values == w][0]) for w in widths]
        ax.plot(widths, law, color=color, lw=1, label=form.split(",")[0].replace("leaky", "leaky ReLU"))
        ax.set_xscale("log", base=2)
    for ax, title in zip(axes, ("two blocks: ln n/(2λ)", "three blocks: √n"), strict=True):
        ax.set(xlabel="width n", ylabel="time to leave", title=title)
        if ax.lines:
            ax.legend()
    axes[1].set_yscale("log")
    letters(axes)
    return figure


experiment = Experiment(
    title="Time to leave a start that is stationary in the limit, against width",
    source="Section 2.6, Assumption C.5",
    measure=measure,
    full=dict(form=tuple(FORMS), width=(128, 256, 512, 1024, 2048, 4096), seed=range(20)),
    quick=dict(form=("tanh, 2 blocks", "tanh, 3 blocks"), width=(128, 1024), seed=range(8)),
    draw=draw,
    drawn="One circle per net: when it has learned a twentieth of the target. Lines are the medians that the "
    "laws of the weights predict.",
    claims=(
        Claim("Finite nets leave the start.", "ours", all_leave),
        Claim("Two blocks leave later by 1/(2λ) per unit of ln n.", "ours", two_blocks),
        Claim(
            "For leaky ReLU λ has the average slope (1 + α)/2.",
            "ours, as first noted",
            average_slope,
            {"form": "leaky, 2 blocks"},
            note="The flow is homogeneous but not linear at the kink: λ has √((1 + α²)/2) where y has one sign.",
        ),
        Claim("Three blocks leave at a time ∝ √n.", "ours", three_blocks),
        Claim("From there to one half two blocks take a time that does not grow with n.", "ours", lag),
        Claim("The time follows from the net's own draw.", "ours", from_draw),
        Claim("limit.escape_time(width) gives the median time.", "ours", from_law),
        Claim(
            "The start is better than the zero predictor with high probability.",
            "M89 · Assumption C.5",
            better_at_start,
            note="ŷ(0) is a small random function with no preference for the target's sign: one draw in two is better.",
        ),
    ),
)
