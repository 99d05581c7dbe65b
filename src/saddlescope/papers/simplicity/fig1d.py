"""Simplicity paper, Fig. 1D: a two-layer ReLU network learns two orthogonal points one after the
other.
"""

import matplotlib.pyplot as plt

from saddlescope.checks import drops, half_strength, plateau_levels, widths
from saddlescope.claims import Claim
from saddlescope.experiment import Experiment
from saddlescope.figures import WIDTH, learned_panel, letters, loss_panel, shared_legend, weights_panels
from saddlescope.nets import Neuron, ReLU, Units
from saddlescope.observables import ByRays, EffectiveWidth, LearnedSamples, Parameters
from saddlescope.optimisers import GradientDescent
from saddlescope.setting import Setting
from saddlescope.tasks import Points
from saddlescope.theory import OrthogonalPoints
from saddlescope.training import every

learned, width = LearnedSamples(), EffectiveWidth(ByRays())


def setting(seed):
    return Setting(
        task=Points(x=((1, 0.5), (-1, 2)), y=((1,), (-1,))),
        net=Units(units=50, unit=Neuron(ReLU()), scale=1e-6),
        optimiser=GradientDescent(lr=0.01),
        steps=2500,
        seed=seed,
    )


def draw(results):
    figure = plt.figure(figsize=(WIDTH, 2.2))
    grid = figure.add_gridspec(1, 4, width_ratios=(1.6, 1.6, 1, 1))
    top, middle = figure.add_subplot(grid[0]), figure.add_subplot(grid[1])
    loss_panel(top, results, legend=False)
    learned_panel(middle, results, learned.name)
    middle.legend().remove()  # it has one legend with the others
    shared_legend(figure, ncols=5)
    weights = [figure.add_subplot(grid[2 + i]) for i in range(2)]
    weights_panels(weights, next(iter(results.runs())))
    letters((top, middle, weights[0]))
    return figure


experiment = Experiment(
    title="A ReLU net learns two data points one after the other",
    source="Fig. 1D",
    setting=setting,
    full=dict(seed=range(20)),
    quick=dict(seed=range(2)),
    save_at=every(20, 2500),
    observe=(learned, width, Parameters()),
    predict=(OrthogonalPoints(),),
    draw=draw,
    drawn="A: loss of every run, the first seed thick; dashed, the levels with no, one and two points fitted. "
    "B: how much of each point the first seed has learned; circles are the predicted steps of one half. "
    "C: its first-layer weights, one dot per unit, on the plateau and at the end.",
    claims=(
        Claim("The loss drops exactly twice.", "Fig. 1D", drops(2)),
        Claim("The weights lie on one ray on the plateau and on two at the end.", "Fig. 1D", widths(width, (1, 2))),
        # 0.1 %: the plateau lasts about ten times as long as either drop.
        Claim("On the plateau one point is fitted and the other not at all.", "Fig. 1D", plateau_levels(1e-3)),
        # 3 %: units active on both points take part in the first rise only in part; the closed form leaves that out.
        Claim("Each point is half learned when the initial draw says.", "ours", half_strength(learned, 0.03)),
    ),
)
