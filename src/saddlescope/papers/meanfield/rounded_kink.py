"""Mean-field paper, Theorem 2.2, kind (c) of the counterexamples: a rounded kink lets go, after a time
a + c/s.

Leaky ReLU holds a channel at f = 0 for ever. Rounded over a width s, as (1+α)/2 z + (1−α)/2
(√(z²+s²) − s), the same point is a saddle. There f stays of order s, so that E[L w₂] grows at a rate
∝ s: the limit stays for a time ∝ 1/s, then reaches the minimum. So the conclusion of the theorem is
true of the rounded net, and s → 0 is a singular limit. The start has means 1/2 and 2, and C.5 holds.

The limit is solved on 48 nodes of the mixing law; nets follow the same equations. The time
is the first at which the loss falls below half of its plateau, 1/16. The line has an offset a: the
time to arrive and to depart.
"""

import matplotlib.pyplot as plt
import numpy as np
from scipy.optimize import minimize_scalar

from saddlescope.checks import holds_in_share, share_text
from saddlescope.claims import CheckResult, Claim
from saddlescope.experiment import Experiment
from saddlescope.figures import BLACK, BLUE, ORANGE, WIDTH, letters
from saddlescope.meanfield import meanfield
from saddlescope.meanfield.by_nodes import system_of
from saddlescope.meanfield.following import follow_system
from saddlescope.meanfield.laws import StartLaw, UniformMixing
from saddlescope.nets.activation import RoundedLeakyReLU
from saddlescope.papers.meanfield._kinds import SIGNS

END, TIMES, PLATEAU, FITTED = 30.0, 401, 0.125, 1e-3  # END: the time is END/s
LIMIT = 0  # in the place of a width
MISSES, POWERS = 0.05, 0.1  # of the time, and of the power: at s = 0.2 a term of higher order is 5 % of the rest


def measure(rounding, width, seed):
    start = (StartLaw(0.5, 0, 1), StartLaw(2, 0, 1))
    limit = meanfield(SIGNS, 1, 1, RoundedLeakyReLU(rounding, 0.1), mixing=UniformMixing(), start=start)
    if width == LIMIT:
        system, state = system_of(limit, [limit.mixing.nodes(1, 24, True)])
    else:
        system, state = limit.net(width, seed).system()
    times = np.linspace(0, END / rounding, TIMES)
    losses = follow_system(system, state, times, rtol=1e-6).loss
    return {
        "scaled_time": ("instant", times * rounding),
        "loss": ("instant", losses),
        "end": float(losses[-1]),
        "left": crossing(times, losses, PLATEAU / 2),
    }


def crossing(times, losses, level):
    """When the loss first falls below the level, between saved times; −1 if it does not."""
    below = np.flatnonzero(losses < level)
    if not len(below) or below[0] == 0:
        return -1.0
    i = below[0]
    return float(np.interp(-level, -losses[i - 1 : i + 1], times[i - 1 : i + 1]))


def line_in_inverse(m):
    """a, c and the largest relative miss of the line a + c/s through the medians at each s; whether all have left."""
    s = np.unique(m.rounding.values)
    t = np.array([np.median(m.left.values[m.rounding.values == v]) for v in s])
    c, a = np.polyfit(1 / s, t, 1)
    return a, c, np.abs((a + c / s) / t - 1).max(), bool(m.left.values.min() > 0)


def linear_in_inverse(results):
    """In the limit, which has no seeds, t = a + c/s with c > 0, and all leave. Lines of nets stand beside it.

    A line may be near even where the power of s is another, since a is large: the power beside a is asked too."""
    if LIMIT not in results.values("width") or len(results.values("rounding")) < 3:
        return None
    lines = {w: line_in_inverse(results.select(width=w).measured) for w in results.values("width")}
    said = [
        f"{'limit' if w == LIMIT else f'nets, n = {w}'}: t = {a:.1f} + {c:.2f}/s, largest miss {miss:.1%}"
        for w, (a, c, miss, _) in lines.items()
    ]
    _, c, miss, left = lines[LIMIT]
    m = results.select(width=LIMIT).measured
    power = power_beside_offset(m.rounding.values, m.left.values) if left else np.nan
    said.append(f"the limit's own power s^−{power:.2f}, allowed 1 ± {POWERS:g}")
    good = c > 0 and miss < MISSES and left and abs(power - 1) < POWERS
    return CheckResult(bool(good), "; ".join(said), exact=True)


def power_beside_offset(s, t):
    """The p of t = a + c s^(−p) that fits best, relative to t."""

    def rest(p):
        columns = np.column_stack([np.ones_like(s), s**-p]) / t[:, None]
        return np.sum((columns @ np.linalg.lstsq(columns, np.ones_like(t))[0] - 1) ** 2)

    return float(minimize_scalar(rest, bounds=(0.2, 3), method="bounded").x)


def leaves(results):
    end = results.measured.end.values
    good = end < FITTED
    text = f"{share_text(int(good.sum()), len(good))} end below {FITTED:g}; largest {end.max():.2g}"
    return holds_in_share(int(good.sum()), len(good), text, 1.0)


def draw(results):
    widths = results.values("width")
    figure, axes = plt.subplots(1, 2, figsize=(WIDTH, 2.6))
    chosen = results.select(width=LIMIT) if LIMIT in widths else results
    for k, run in enumerate(chosen.runs()):
        axes[0].plot(run.scaled_time, run.loss, color=plt.cm.viridis(k / 5), lw=1, label=f"s = {float(run.rounding):g}")
    axes[0].set(xlabel="time × s", ylabel="loss", title="the limit", xlim=(0, END))
    axes[0].legend(title="rounding")
    for width, colour in zip(widths, (BLACK, BLUE, ORANGE), strict=False):
        m = results.select(width=width).measured
        name = "limit" if width == LIMIT else f"nets, n = {width:,}"
        axes[1].plot(1 / m.rounding, m.left, "o", mfc="none", color=colour, ms=5 if width == LIMIT else 3, label=name)
    axes[1].legend()
    axes[1].set(xlabel="inverse rounding 1/s", ylabel="time to leave", title="when the loss is half the plateau")
    letters(axes)
    return figure


experiment = Experiment(
    title="Rounding the kink: the held channel is released after a time proportional to 1/s",
    source="Theorem 2.2, kind (c)",
    measure=measure,
    full=dict(rounding=(0.2, 0.1, 0.05, 0.025, 0.0125), width=(LIMIT, 256, 1024), seed=range(4)),
    quick=dict(rounding=(0.2, 0.1, 0.07, 0.05), width=(LIMIT,), seed=range(1)),
    where=f"width > {LIMIT} or seed == 0",
    draw=draw,
    drawn="A: losses of the exact limit with a kink that is rounded over a width s, against time times s. B: "
    "one circle per flow, the time at which the loss leaves its plateau.",
    claims=(
        Claim(
            "With a rounded kink the limit and its nets leave and reach the minimum.",
            "M1 · Theorem 2.2, kind (c)",
            leaves,
        ),
        Claim("In the limit the time to leave is a + c/s.", "ours", linear_in_inverse),
    ),
)
