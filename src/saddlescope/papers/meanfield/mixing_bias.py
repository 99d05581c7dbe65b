"""Mean-field paper, Eq. 1 and Section 2.2: biases in the mixing layers, which the equations drop,
remove the held channel.

Kind (c) of the counterexamples: leaky ReLU, rank one, targets (+1, −1) with weights (3/4, 1/4).
Without mixing biases the channel stops at its kink where the target is −1. A mixing bias b of
deviation s smears the kink over |L f| ~ s: the field is continuous, and the point becomes a saddle.
The limit without bias follows the exact equations of rank one; with bias it is solved by the memory
form. Nets without bias follow the same exact equations; nets with bias follow those of their nodes.
"""

from functools import cache

import matplotlib.pyplot as plt
import numpy as np

from saddlescope.checks import groups_by, holds_in_share, share_text
from saddlescope.claims import CheckResult, Claim
from saddlescope.experiment import Experiment
from saddlescope.figures import BLACK, BLUE, WIDTH, letters
from saddlescope.meanfield import meanfield
from saddlescope.meanfield.following import follow_system
from saddlescope.meanfield.laws import GaussianMixing, StartLaw
from saddlescope.nets.activation import LeakyReLU
from saddlescope.papers.meanfield._kinds import ONE, SIGNS
from saddlescope.papers.meanfield._rank_one import follow, of_limit, of_net

T, TIMES = 300.0, 151
STARTS = {"small": (0.5, 1.0), "large": (1.0, 2.0), "late": (0.25, 0.75)}  # the means of w₁ and w₂
FITTED, STUCK = 1e-3, 0.1  # the held channel leaves a loss of 1/8: that of the point with target −1


def limit_for(start, bias):
    first, second = STARTS[start]
    starts = (StartLaw(first, 0, 1), ONE if second == 1 else StartLaw(second, 0, 1))
    return meanfield(SIGNS, 1, 1, LeakyReLU(0.1), mixing=GaussianMixing(1.0, bias), start=starts)


def rank_one_losses(system, start, times):
    course = follow(system, start, times[-1])
    states = np.stack([np.interp(times, course.times, c) for c in course.states.T], axis=1)
    return np.array([system.loss(s) for s in states])


@cache
def limit_losses(start, bias):
    limit, times = limit_for(start, bias), np.linspace(0, T, TIMES)
    if bias == 0:
        return rank_one_losses(*of_limit(limit), times), 1e-9, 0.0
    flow = limit.flow(T, times=times, solver="memory", rtol=1e-6)
    return flow.loss.values, flow.error, float(flow.data.attrs["on_floor"])


def net_losses(net, bias, times):
    if bias == 0:
        return rank_one_losses(*of_net(net), times)
    system, state = net.system()
    return follow_system(system, state, times, rtol=1e-6).loss


def measure(start, bias, width, seed):
    net, times = limit_for(start, bias).net(width, seed), np.linspace(0, T, TIMES)
    losses = net_losses(net, bias, times)
    exact, error, on_floor = limit_losses(start, bias)
    return {
        "time": ("instant", times),
        "limit_loss": ("instant", exact),
        "net_loss": ("instant", losses),
        "limit_end": float(exact[-1]),
        "limit_error": float(error),
        "limit_floor": on_floor,
        "net_end": float(losses[-1]),
    }


def limits(with_bias, test, word):
    def check(results):
        m = results.measured
        part = results.where((m.bias.values > 0) == with_bias)
        if not part.measured.sizes["run"]:
            return None
        ends, seen_at = {}, part.measured
        for s, b, e in zip(seen_at.start.values, seen_at.bias.values, seen_at.limit_end.values, strict=True):
            ends[s, b] = float(e)
        good = sum(test(e) for e in ends.values())
        said = ", ".join(f"{e:.2g} ({s}, b {b:g})" for (s, b), e in ends.items())
        floor = f"; share of time on the step floor at most {seen_at.limit_floor.values.max():.0%}"
        return CheckResult(good == len(ends), f"{good} of {len(ends)} limits {word}: {said}{floor}", exact=True)

    return check


def nets(with_bias, test, word):
    def check(results):
        part = results.where((results.measured.bias.values > 0) == with_bias)
        if not part.measured.sizes["run"]:
            return None
        end = part.measured.net_end.values
        good = test(end)
        text = f"{share_text(int(good.sum()), len(good))} {word}; losses {end.min():.2g} to {end.max():.2g}"
        return holds_in_share(int(good.sum()), len(good), text, groups=groups_by(part, "start", good))

    return check


def same_with_and_without(results):
    """The equations without mixing biases end at the same loss as those with them."""
    m = results.measured
    if 0 not in m.bias.values or not (m.bias.values > 0).any():
        return None
    ends = [np.unique(m.limit_end.values[m.bias.values == b]) for b in results.values("bias")]
    low, high = min(e.min() for e in ends), max(e.max() for e in ends)
    return CheckResult(
        high - low < FITTED, f"losses of the limit at t = {T:g} from {low:.2g} to {high:.3g}", exact=True
    )


def draw(results):
    biases = results.values("bias")
    figure, axes = plt.subplots(1, len(biases), figsize=(WIDTH, 2.5), sharey=True, squeeze=False)
    for ax, bias in zip(axes.flat, biases, strict=True):
        for i, run in enumerate(results.select(bias=bias).runs()):
            ax.semilogy(run.time, run.net_loss, color=BLUE, lw=0.5, label=None if i else "nets")
            ax.semilogy(run.time, run.limit_loss, color=BLACK, lw=1.2, label=None if i else "limit")
        ax.set(title=f"bias of deviation {bias:g}" if bias else "no mixing bias", xlabel="time", ylim=(1e-6, 1))
    axes[0, 0].set_ylabel("loss")
    letters(axes[0])
    figure.legend(*axes[0, 0].get_legend_handles_labels(), loc="outside lower center", ncols=2)
    return figure


experiment = Experiment(
    title="Biases in the mixing layers, on and off: they free the channel that a kink holds",
    source="Eq. 1, Section 2.2",
    measure=measure,
    full=dict(start=tuple(STARTS), bias=(0.0, 0.1, 0.3, 1.0), width=(64, 256, 1024), seed=range(5)),
    quick=dict(start=("small",), bias=(0.0, 1.0), width=(256,), seed=range(4)),
    draw=draw,
    drawn="Black lines are losses of the exact limit from each start; blue lines are nets of all widths and seeds.",
    claims=(
        Claim(
            "The mean-field equations may drop biases above the first layer.",
            "M24 · Section 2.1, 2.2",
            same_with_and_without,
            note="Without them a channel is held at the kink of leaky ReLU, where the target is negative.",
        ),
        Claim(
            "Without mixing biases the limit is held above the minimum.",
            "ours",
            limits(False, lambda e: e > STUCK, f"above {STUCK:g}"),
        ),
        Claim(
            "With mixing biases the limit reaches the minimum.",
            "ours",
            limits(True, lambda e: e < FITTED, f"below {FITTED:g}"),
        ),
        Claim("Finite nets without mixing biases are held.", "ours", nets(False, lambda e: e > STUCK, "are held")),
        Claim(
            "Finite nets with mixing biases reach the minimum.",
            "ours",
            nets(True, lambda e: e < FITTED, f"end below {FITTED:g}"),
        ),
    ),
)
