"""An experiment of your own: a diagonal net learns one coordinate after the other, the largest first.

    saddlescope run own_experiment.py --quick
    saddlescope train own_experiment.py --scale 1e-4 --seed 3
    saddlescope judge saddlescope-results/own_experiment.quick

With one sample per coordinate, a = u_i v_i obeys da/dt = (4/3) (w_i - a) a. Its loss falls fastest at a = w_i / 3.
"""

import matplotlib.pyplot as plt
import numpy as np
from own_net import DiagonalNet

from saddlescope import Claim, Experiment, Setting
from saddlescope.checks import drop_steps, drops
from saddlescope.figures import loss_panel
from saddlescope.optimisers import GradientDescent
from saddlescope.tasks import Points
from saddlescope.theory import Prediction

WEIGHTS = (4.0, 2.0, 1.0)


def setting(scale, seed):
    task = Points(((1, 0, 0), (0, 1, 0), (0, 0, 1)), tuple((w,) for w in WEIGHTS))
    return Setting(task, DiagonalNet(scale), GradientDescent(lr=0.02), steps=900, seed=seed)


class DropTimes(Prediction):
    """The step of each drop, from the initial weights: a logistic curve, with its rate corrected for descent."""

    def __call__(self, setting):
        w, start = np.array(WEIGHTS), setting.initial_params()["u"] ** 2
        rate = 2 * np.log1p(2 / 3 * setting.optimiser.lr * w)
        return {"drop_step": ("drop", np.sort((np.log(w / start - 1) - np.log(2)) / rate))}


def draw(results):
    scales = results.values("scale")
    figure, axes = plt.subplots(1, len(scales), figsize=(4.5 * len(scales), 3.5), squeeze=False)
    for ax, scale in zip(axes[0], scales, strict=True):
        loss_panel(ax, results.select(scale=scale), f"initial scale {scale:g}")
    return figure


experiment = Experiment(
    title="A diagonal net learns one coordinate after the other",
    source="an example",
    setting=setting,
    full=dict(scale=(1e-3, 1e-4), seed=range(10)),  # from 1e-2 on the plateaus run together
    quick=dict(scale=(1e-3,), seed=range(3)),
    predict=(DropTimes(),),
    draw=draw,
    claims=(
        Claim("The loss drops three times.", "own", drops(3)),
        # 1 %: the rate is corrected for descent; the shape of the curve near its top is not.
        Claim("Each drop comes when the initial weights say.", "own", drop_steps(0.01)),
    ),
)
