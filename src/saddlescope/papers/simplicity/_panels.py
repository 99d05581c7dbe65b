"""The nets and data of Fig. 1, panel by panel (App. I), with what the paper leaves open.

B: W* = I, or diag(1, ½). B, C and G are trained on the population's moments, or on a draw of P =
8192 as in the paper; F on such a draw. (On a draw G's target is not quite round, and its plateau drifts along a
valley of nearly equal solutions.) F has a 1/N, which the paper's Eq. 69 lacks and without which its
learning rate is unstable.
"""

import numpy as np

from saddlescope.figures import loss_and_weights, panels, shared_legend
from saddlescope.nets import ConvUnit, Identity, LinearHead, Neuron, ReLU, Square, Units, linear_units
from saddlescope.observables import ByNorm, ByRank, ByRays
from saddlescope.optimisers import GradientDescent
from saddlescope.setting import Setting
from saddlescope.tasks import InContextRegression, LinearTeacher, Points, Teacher

COVARIANCE = ((1, 1), (1, 4))
KERNEL_TEACHER = np.array([1, 1, -1, 1]) / np.sqrt(5)
FOUR_POINTS = np.diag([2, 2, 2 * np.sqrt(2), 2])
SAMPLES = 8192
NAMES = {
    "B": "linear, W* = I", "B diag": "linear, W* = diag(1, ½)", "C": "linear convolution", "D": "ReLU",
    "E": "ReLU convolution", "F": "linear attention", "G": "quadratic",
}  # fmt: skip
RULES = {"B": ByRank(), "B diag": ByRank(), "C": ByRank(), "D": ByRays(), "E": ByRays(), "F": ByNorm(), "G": ByNorm()}
STEPS = {"B": 2000, "B diag": 2000, "C": 3000, "D": 2500, "E": 3000, "F": 16_000, "G": 3000}
SCALES = {"F": 0.005, "G": 0.005}
RATES = {"F": 0.02, "G": 0.04}


def task(panel, samples=None):
    """The task of a panel: of B, C and G the population, unless a number of samples is given."""
    if panel[0] == "B":
        return LinearTeacher(((1, 0), (0, 1 if panel == "B" else 0.5)), COVARIANCE, samples)
    return {
        "C": lambda: LinearTeacher((tuple(KERNEL_TEACHER),), np.diag([1, 1, 2, 1]), samples),
        "D": lambda: Points(((1, 0.5), (-1, 2)), ((1,), (-1,))),
        "E": lambda: Points(FOUR_POINTS, (FOUR_POINTS @ KERNEL_TEACHER)[:, None]),
        "F": lambda: InContextRegression((1, 1), 32, SAMPLES),
        "G": lambda: Teacher(Square(), ((1, 0), (0, 1)), samples),
    }[panel]()


def net(panel, scale):
    if panel[0] == "B":
        return linear_units(50, scale)
    units, unit = {
        "C": (50, ConvUnit(2, Identity())), "D": (50, Neuron(ReLU())), "E": (50, ConvUnit(2, ReLU())),
        "F": (10, LinearHead(2)), "G": (10, Neuron(Square())),
    }[panel]  # fmt: skip
    return Units(units, unit, scale)


def panel_setting(panel, seed, scale=None, steps=None, samples=None):
    return Setting(
        task=task(panel, samples),
        net=net(panel, SCALES.get(panel, 1e-6) if scale is None else scale),
        optimiser=GradientDescent(RATES.get(panel, 0.01)),
        steps=steps or STEPS[panel],
        seed=seed,
    )


def losses_and_weights(results, names, columns=4):
    """A figure of all panels that there are: loss and weights of each; one legend, in the last cell if it is free."""
    shown = [panel for panel in names if panel in results.values("panel")]
    spare = len(shown) % columns > 0
    figure, cells = panels(len(shown) + spare, columns, height=2.5)
    for cell, panel in zip(cells, shown, strict=False):
        loss_and_weights(figure, cell, results.select(panel=panel), f"{panel}  {names[panel]}")
    shared_legend(figure, figure.add_subplot(cells[-1]) if spare else None)
    return figure
