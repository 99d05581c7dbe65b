"""Simplicity paper, Section 2: gradient descent follows gradient flow as the learning rate goes to
zero.

The paper proves for the flow and trains by descent. How far apart are they? The linear net of Fig.
1B with larger initial weights (the run is short), both ways, over three halvings of the learning
rate. Descent is a first-order method, so that the gap has slope 1; theory gives its size as well.
"""

import matplotlib.pyplot as plt
import numpy as np

from saddlescope.checks import holds_in_share
from saddlescope.claims import Claim
from saddlescope.experiment import Experiment
from saddlescope.figures import BLUE, RED, WIDTH, letters, plain_ticks
from saddlescope.nets import linear_units
from saddlescope.optimisers import GradientDescent, GradientFlow
from saddlescope.setting import Setting
from saddlescope.tasks import LinearTeacher
from saddlescope.theory import EulerGap

TIME, RATES = 4.0, (0.004, 0.002, 0.001, 0.0005)


def setting(lr, seed):
    descent = Setting(
        task=LinearTeacher(((1, 0), (0, 1)), covariance=((1, 1), (1, 4))),
        net=linear_units(units=50, scale=1e-2),
        optimiser=GradientDescent(lr=lr),
        steps=round(TIME / lr),
        seed=seed,
    )
    return {"descent": descent, "flow": descent.replace(optimiser=GradientFlow(lr))}


def analyse(runs, settings, lr):
    """The largest gap in loss, and both curves at the same times for every learning rate."""
    descent, flow = (runs[name].loss.values for name in ("descent", "flow"))
    gap = np.max(np.abs(descent - flow)) if len(descent) == len(flow) else np.inf  # one diverged
    at = slice(None, None, round(0.02 / lr))
    return {"gap": float(gap), "descent": ("time", descent[at]), "flow": ("time", flow[at])}


def slopes(results):
    """One slope per seed: gap ∝ lr^slope, by least squares in logarithms."""
    table = results.measured
    seeds = np.unique(table.seed.values)
    parts = [table.isel(run=np.flatnonzero(table.seed.values == s)) for s in seeds]
    return np.array([np.polyfit(np.log(p.lr.values), np.log(p.gap.values), 1)[0] for p in parts])


def first_order(within):
    def check(results):
        if len(np.unique(results.measured.lr)) < 3:
            return None  # a slope needs three rates or more
        found = slopes(results)
        spread = f"{found.min():.3f} to {found.max():.3f} over {len(found)} seeds"
        good = np.sum(np.abs(found - 1) <= within)
        return holds_in_share(good, len(found), f"slope {spread}, allowed 1 ± {within:g}")

    return check


def draw(results):
    figure, (left, right) = plt.subplots(1, 2, figsize=(WIDTH, 2.7))
    table = results.select(seed=results.measured.seed.values[0]).measured
    time = 0.02 * np.arange(table.sizes["time"])
    for lr, descent, flow in zip(table.lr.values, table.descent.values, table.flow.values, strict=True):
        left.plot(time, descent - flow, label=f"lr {lr:g}")
    left.set(xlabel="time = lr × step", ylabel="loss of descent minus loss of flow", title="first seed")
    left.legend()
    right.loglog(results.measured.lr, results.measured.gap, "o", color=BLUE, mfc="none", label="each seed")
    said = results.predicted
    right.loglog(said.lr, said.gap, "+", color=RED, label="theory: first order, each seed")
    right.set(xlabel="learning rate", ylabel="largest gap in loss", title="descent against flow")
    letters((left, right))
    right.set_xticks(RATES, [f"{r:g}" for r in RATES])
    right.xaxis.minorticks_off()
    plain_ticks(right.yaxis)
    right.legend()
    return figure


experiment = Experiment(
    title="Gap between gradient descent and gradient flow, by learning rate",
    source="Section 2",
    setting=setting,
    analyse=analyse,
    predict=(EulerGap(),),
    full=dict(lr=RATES, seed=range(10)),
    quick=dict(lr=RATES, seed=range(1)),
    draw=draw,
    drawn="A: loss of gradient descent less that of gradient flow over time, first seed. B: the largest gap "
    "of each seed by learning rate, measured and predicted to first order.",
    # 0.1: the next order adds a share of about 2 lr s₁ ln(1/ε) to the gap, a few per cent at the largest rate.
    claims=(
        Claim("The gap to the flow shrinks in proportion to the learning rate.", "S51 · Section 2", first_order(0.1)),
    ),
)
