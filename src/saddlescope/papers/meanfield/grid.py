"""Mean-field paper, Section 4: on one input a fine grid makes the average over data exact. Nothing is trained.

The limit of rank 1 with erf learns cos πx, one cycle on [−1, 1], from N points in the middle of N equal cells, to
T = 100. Midpoints integrate a smooth function with an error of N^(−2), so that losses of 640 and 1,280 points are
extrapolated to the exact one. The paper has 5,000 points for eight cycles: 625 per cycle.
"""

import matplotlib.pyplot as plt
import numpy as np

from saddlescope.checks import always
from saddlescope.claims import Claim
from saddlescope.experiment import Experiment
from saddlescope.figures import BLUE, ORANGE, WIDTH
from saddlescope.meanfield import Measure, StartLaw, meanfield
from saddlescope.meanfield.by_nodes import follow_nodes
from saddlescope.nets import Erf

T, FINEST, SLOPE = 100.0, 1280, (-2.05, -1.95)
SIZES = (40, 80, 160, 320, 640)
ALLOWED = 1e-3  # a relative error that nobody sees in a figure


def measure(slope):
    losses = np.array([end_loss(slope, n) for n in (*SIZES, FINEST)])
    exact = losses[-1] + (losses[-1] - losses[-2]) / 3
    errors = np.abs(losses[:-1] / exact - 1)
    return {
        "error": (("points",), errors),
        "order": float(np.polyfit(np.log(SIZES), np.log(errors), 1)[0]),
        "loss": exact,
    }


def end_loss(slope, points):
    x = (2 * np.arange(points) + 1) / points - 1
    limit = meanfield(Measure(x, np.cos(np.pi * x)), 1, 1, Erf(), start=StartLaw(slope=slope))
    output = follow_nodes(limit, np.array([0.0, T]), 24, 1e-9)[-1][-1]
    return float(limit.measure.weights @ ((output - limit.measure.y) ** 2).sum(axis=1) / 2)


def converges(results):
    slopes = results.measured.order.values
    good = int(np.sum((slopes >= SLOPE[0]) & (slopes <= SLOPE[1])))
    text = f"slopes {slopes.min():.2f} to {slopes.max():.2f}, asked {SLOPE[0]:g} to {SLOPE[1]:g}"
    return always(good, len(slopes), text)


def is_exact_enough(results):
    """With 640 points per cycle, about as many as the paper has, the loss is right to a thousandth."""
    data = results.measured
    error = data.error.values[:, -1]
    good = int(np.sum(error <= ALLOWED))
    losses = f"losses {data.loss.values.min():.2g} to {data.loss.values.max():.2g}, ½ without learning"
    return always(
        good,
        len(error),
        f"relative error of the loss up to {error.max():.1e} with 640 points, allowed {ALLOWED:g}; {losses}",
    )


def draw(results):
    figure, ax = plt.subplots(figsize=(0.7 * WIDTH, 2.6))
    for run in results.runs():
        ax.loglog(SIZES, run.error.values, "o-", lw=0.8, ms=3, color=BLUE)
    ax.loglog(SIZES, 1e-3 * (np.array(SIZES) / SIZES[0]) ** -2.0, color=ORANGE, ls="--", label="slope −2")
    ax.set(xlabel="points on the grid", ylabel="relative error of the loss")
    ax.set_xticks(SIZES, [str(n) for n in SIZES])
    ax.set_xticks([], minor=True)
    ax.legend()
    return figure


experiment = Experiment(
    title="Error of the average over data on a grid of N points",
    source="Section 4",
    measure=measure,
    full=dict(slope=(0.5, 0.6, 0.7, 0.8, 0.9, 1.0, 1.1, 1.2)),
    quick=dict(slope=(0.5, 0.8, 1.0, 1.2)),
    draw=draw,
    drawn="One line per start of the net; the dashed line has slope −2.",
    claims=(
        Claim("The average over data on a grid converges as N^(−2).", "ours · Section 4", converges),
        Claim("On a fine grid in one dimension it is exact.", "M67 · Section 4", is_exact_enough),
    ),
)
