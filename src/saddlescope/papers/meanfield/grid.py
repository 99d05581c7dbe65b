"""Mean-field paper, Section 4: on one input a fine grid makes the average over data exact. Nothing is trained.

The limit of rank 1 with erf learns cos πkx from N points in the middle of N equal cells of [−1, 1], to T = 20. Its loss
is set beside that of 1,280 points. Midpoints integrate a smooth function with an error of N^(−2).
"""

import matplotlib.pyplot as plt
import numpy as np

from saddlescope.checks import always
from saddlescope.claims import Claim
from saddlescope.experiment import Experiment
from saddlescope.figures import BLUE, ORANGE
from saddlescope.meanfield import Measure, StartLaw, meanfield
from saddlescope.meanfield.by_nodes import follow_nodes
from saddlescope.nets import Erf

T, FINEST, SLOPE = 20.0, 1280, (-2.2, -1.8)
SIZES = (20, 40, 80, 160)
ENOUGH, ALLOWED = 80, 1e-3  # points per cycle of the target, and the relative error that nobody sees in a figure


def measure(k, start):
    losses = np.array([end_loss(k, start, n) for n in (*SIZES, FINEST)])
    errors = np.abs(losses[:-1] / losses[-1] - 1)
    return {
        "error": (("points",), errors),
        "slope": float(np.polyfit(np.log(SIZES), np.log(errors), 1)[0]),
        "loss": losses[-1],
    }


def end_loss(k, start, points):
    x = (2 * np.arange(points) + 1) / points - 1
    limit = meanfield(Measure(x, np.cos(np.pi * k * x)), 1, 1, Erf(), start=StartLaw(mean=start, slope=1.0))
    output = follow_nodes(limit, np.array([0.0, T]), 24, 1e-9)[-1][-1]
    return float(limit.measure.weights @ limit.residual.value(output - limit.measure.y).sum(axis=1))


def converges(results):
    slopes = results.measured.slope.values
    good = int(np.sum((slopes >= SLOPE[0]) & (slopes <= SLOPE[1])))
    text = f"slopes {slopes.min():.2f} to {slopes.max():.2f}, asked {SLOPE[0]:g} to {SLOPE[1]:g}"
    return always(good, len(slopes), text)


def is_exact_enough(results):
    """With 80 points per cycle the loss is right to a thousandth."""
    cycles = results.measured.k.values
    error = [
        float(np.interp(np.log(ENOUGH * k), np.log(SIZES), np.log(e)))
        for k, e in zip(cycles, results.measured.error.values, strict=True)
    ]
    good = int(np.sum(np.exp(error) <= ALLOWED))
    return always(good, len(error), f"relative error up to {np.exp(max(error)):.1e}, allowed {ALLOWED:g}")


def draw(results):
    figure, ax = plt.subplots(figsize=(4.5, 3))
    for run in results.runs():
        ax.loglog(SIZES, run.error.values, "o-", lw=0.8, ms=3, color=BLUE)
    ax.loglog(SIZES, 0.1 * (np.array(SIZES) / SIZES[0]) ** -2.0, color=ORANGE, ls="--", label="slope −2")
    ax.set(xlabel="points on the grid", ylabel="relative error of the loss", title="one line per target and start")
    ax.legend(fontsize=8)
    return figure


experiment = Experiment(
    title="Error of the average over data on a grid of N points",
    source="Section 4",
    measure=measure,
    full=dict(k=(1, 2), start=(0.2, 0.5, 0.8)),
    quick=dict(k=(1, 2), start=(0.2, 0.8)),
    draw=draw,
    claims=(
        Claim("The average over data on a grid converges as N^(−2).", "ours · Section 4", converges),
        Claim("On a fine grid in one dimension it is exact.", "M67 · Section 4", is_exact_enough),
    ),
)
