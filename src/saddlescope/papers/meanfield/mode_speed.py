"""Mean-field paper, Section 3: how slow high frequencies are under leaky ReLU features. Nothing is trained.

The first layer alone, without a bottleneck, with L and b uniform on ±1. Its kernel is
(1 − α)² ((1 + xz)/6 + |x − z|³/96) + α (1 + xz)/3, whose fourth derivative gives cos ωx the eigenvalue
(1 − α)²/(16 ω⁴) away from the ends of [−1, 1]. The flow is exact, by eigenvectors on 401 points; the
target is the sum of cos πkx, k = 1 … 6. Time T = 5,000 is that of typical figures.
"""

import matplotlib.pyplot as plt
import numpy as np

from saddlescope.checks import always
from saddlescope.claims import Claim
from saddlescope.experiment import Experiment
from saddlescope.figures import BLACK, WIDTH
from saddlescope.theory.meanfield.kernel import uniform_kernel

POINTS, LAST = 401, 1e9
MODES = np.arange(1, 7)
WITHIN = 0.2  # cos πkx is an eigenvector only away from the ends
LONG, CYCLES = 5000.0, 36


def measure(alpha):
    x = np.linspace(-1, 1, POINTS)
    weights = np.full(POINTS, 1 / (POINTS - 1))
    weights[[0, -1]] /= 2
    root = np.sqrt(weights)
    values, vectors = np.linalg.eigh(root[:, None] * uniform_kernel(alpha, x, x) * root)
    cosines = np.cos(np.pi * MODES[:, None] * x) * root
    target = vectors.T @ cosines.sum(axis=0)
    times = np.geomspace(1, LAST, 2000)
    onto = cosines @ vectors / (cosines**2).sum(axis=1, keepdims=True)
    residual = np.exp(-np.outer(times, np.maximum(values, 0))) @ (target * onto).T
    halves = times[np.argmax(np.abs(residual) <= 0.5, axis=0)]
    fast = np.cos(np.pi * CYCLES * x) * root
    own = (vectors.T @ fast) ** 2 / (fast @ fast)
    return {
        "learned": float(1 - np.exp(-LONG * np.maximum(values, 0)) @ own),
        "half_time": (("mode",), halves),
        "formula": (("mode",), np.log(2) / eigenvalue(alpha, np.pi * MODES)),
    }


def eigenvalue(alpha, omega):
    return (1 - alpha) ** 2 / (16 * omega**4)


def as_predicted(first):
    """Half-times are ln 2 over the eigenvalue, from mode `first` on."""

    def check(results):
        m = results.measured
        ratio = m.half_time.values[:, first - 1 :] / m.formula.values[:, first - 1 :]
        good = (np.abs(ratio - 1) <= WITHIN).all(axis=1)
        text = f"{good.sum()} of {good.size} slopes α; measured over predicted {ratio.min():.2f} to {ratio.max():.2f}"
        return always(int(good.sum()), good.size, f"{text}, allowed ± {WITHIN:g}")

    return check


def out_of_reach(results):
    """After T = 5,000 a mode of 36 cycles has lost less than 1 % of its residual."""
    moved = results.measured.learned.values
    good = moved < 0.01
    return always(int(good.sum()), good.size, f"share learned by then: {moved.min():.1e} to {moved.max():.1e}")


def draw(results):
    figure, ax = plt.subplots(figsize=(0.75 * WIDTH, 2.8))
    for run in results.runs():
        ax.loglog(MODES, run.half_time.values, "o", ms=4, label=f"α = {run.alpha.item():g}")
        ax.loglog(MODES, run.formula.values, color=BLACK, lw=0.6)
    ax.set(xlabel="frequency k of cos πkx", ylabel="half-time", xticks=MODES, xticklabels=MODES)
    ax.minorticks_off()
    ax.legend(title="slope of leaky ReLU")
    return figure


experiment = Experiment(
    title="Half-times of cos πkx under leaky ReLU features grow as the fourth power of the frequency",
    source="Section 3",
    measure=measure,
    full=dict(alpha=(0.0, 0.01, 0.1, 0.3, 0.5)),
    quick=dict(alpha=(0.0, 0.01, 0.1, 0.3)),
    draw=draw,
    drawn="Marks are half-times in the exact flow; lines are 16 ω⁴ ln 2/(1 − α)² with ω = πk.",
    claims=(
        Claim("From k = 3 on the half-time is ln 2 · 16 ω⁴/(1 − α)².", "M5 · ours", as_predicted(3)),
        Claim(
            "So it is for every k.",
            "ours",
            as_predicted(1),
            note="Ends of the interval help low modes: cos πx and cos 2πx are not eigenvectors.",
        ),
        Claim("A flow to T = 5,000 cannot learn 36 cycles on [−1, 1].", "ours", out_of_reach),
    ),
)
