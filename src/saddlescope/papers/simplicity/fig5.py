"""Simplicity paper, Fig. 5: deep nets visit a saddle of one effective unit as well, and the first layer shows it.

A: three linear layers. B: a convolution, then linear layers. C: three ReLU layers. D: a ReLU convolution, then a ReLU
layer. E: a linear transformer. F: a quadratic layer, then a linear one. Data as in Fig. 1; B, D and F have the scalar
output split in two: by tap of the kernel (B, D) and by unit of the teacher (F). E has residual connections around both
parts, without which nothing is learned, and with which its dense layers stay idle: it does what Fig. 1F does. D starts
at 0.001, where the others do at 0.005. A, B and F are trained on the population. Theory speaks of small weights, and
what one sees at these scales has a rest of the initial draw in it: a control of ours starts five times smaller.
"""

import matplotlib.pyplot as plt
import numpy as np

from saddlescope.claims import Claim, drops, widths
from saddlescope.experiment import Experiment
from saddlescope.figures import loss_and_weights
from saddlescope.nets import DeepUnits, Identity, Kernel, LinearTransformer, Neuron, ReLU, Square, Units
from saddlescope.observables import ByNorm, ByRank, ByRays, EffectiveWidth, Parameters
from saddlescope.optimisers import GradientDescent
from saddlescope.papers.simplicity._panels import FOUR_POINTS, KERNEL_TEACHER, SAMPLES, panel_setting, task
from saddlescope.setting import Setting
from saddlescope.tasks import InContextRegression, LinearTeacher, Points, Teacher
from saddlescope.theory import LinearLevels, NarrowLevels, OrthogonalPoints
from saddlescope.training import every

NAMES = {
    "A": "linear, linear", "B": "linear convolution, linear", "C": "ReLU, ReLU", "D": "ReLU convolution, ReLU",
    "E": "linear transformer", "F": "quadratic, linear",
}  # fmt: skip
RULES = {"A": ByRank(), "B": ByRank(), "C": ByRays(), "D": ByRays(), "E": ByNorm(), "F": ByNorm()}
SMALLER = 5  # than the paper's, the initial weights of the control
STEPS = {"A": 4000, "B": 4000, "C": 6000, "D": 20_000, "E": 20_000, "F": 3000}
TAP = np.array([0, 1, 0, 1])  # of each input, in a kernel of two
width = EffectiveWidth(RULES["A"])


def data(panel, samples):
    by_tap = np.stack([TAP == 0, TAP == 1])
    return {
        "A": lambda: task("B"),
        "B": lambda: LinearTeacher(by_tap * KERNEL_TEACHER, np.diag([1, 1, 2, 1])),
        "C": lambda: task("D"),
        "D": lambda: Points(FOUR_POINTS, (FOUR_POINTS @ KERNEL_TEACHER)[:, None] * by_tap.T),
        "E": lambda: InContextRegression((1, 1), 32, samples),
        "F": lambda: Teacher(Square(), ((1, 0), (0, 1)), None, split=True),
    }[panel]()


def net(panel, smaller):
    return {
        "A": lambda: DeepUnits(50, Neuron(Identity()), (50,), 0.005 / smaller),
        "B": lambda: DeepUnits(50, Kernel(2, Identity()), (50,), 0.005 / smaller),
        "C": lambda: DeepUnits(50, Neuron(ReLU()), (50,), 0.005 / smaller, ReLU()),
        "D": lambda: DeepUnits(50, Kernel(2, ReLU()), (50,), 0.001 / smaller, ReLU()),
        "E": lambda: LinearTransformer(10, 10, 2, 0.005 / smaller),
        "F": lambda: DeepUnits(10, Neuron(Square()), (10,), 0.05 / smaller),
    }[panel]()


def setting(panel, seed, samples, smaller):
    """Three factors of order one: a start so many times smaller waits as much longer."""
    return Setting(
        data(panel, samples), net(panel, smaller), GradientDescent(0.02), steps=smaller * STEPS[panel], seed=seed
    )


def save_at(panel, smaller, **_):
    return every(smaller * STEPS[panel] // 1000, smaller * STEPS[panel])


def levels_of(panel):
    """Levels of one effective unit where theory has them: those of the two-layer net on the same data."""
    made = {
        "A": lambda: LinearLevels()(panel_setting("B", 0)), "C": lambda: OrthogonalPoints()(panel_setting("D", 0)),
        "F": lambda: NarrowLevels(2, tries=4)(
            Setting(data("F", None), Units(10, Neuron(Square()), 0.05), GradientDescent(0.02), steps=10)
        ),
    }  # fmt: skip
    return made[panel]()["plateau_level"][1] if panel in made else ()


def draw(results):
    figure = plt.figure(figsize=(11, 8.4))
    outer = figure.add_gridspec(2, 3)
    for k, panel in enumerate(panel for panel in NAMES if panel in results.values("panel")):
        part, title = results.select(panel=panel, smaller=1), f"{panel}  {NAMES[panel]}"
        loss_and_weights(figure, outer[divmod(k, 3)], part, title, levels_of(panel))
    return figure


DROPS = {
    "D": "There are three: of the two points that the first ray sees one is fitted, then the other. The first layer "
    "has one ray on both plateaus: what is recruited is in the second.",
    "F": "Where units grow nearly together the middle plateau is gone; from smaller weights it is there in all runs.",
}  # fmt: skip
TWO_PLATEAUS = (
    "There are two plateaus on which the first layer has one ray, see the drops; at the end some rays lie between."
)
WIDTHS = {
    "B": "The second singular value is 0.08 to 0.32 of the first, where a tenth is allowed; from smaller weights 0.03 "
    "or less.",
    "C": "One ray holds 98 % of the squared weights or more, two at the end 93 % or more; small units beside or "
    "between them count as rays of their own.",
    "D": TWO_PLATEAUS,
    "E": "As in Fig. 1F: a head above a tenth of the largest is there early, or left over at the end.",
    "F": "Several units grow together from weights this large: one holds a median of 92 % of the squared weights.",
}  # fmt: skip
CLOSER = {
    "C": "Nearer: two rays hold 98.7 % or more at the end, but small units between them are left in some runs.",
    "D": TWO_PLATEAUS,
    "F": "Nearer: one unit holds a median of 99.6 % on the plateau, but in some runs units still grow together.",
}
experiment = Experiment(
    title="Deep nets: one effective unit, then two",
    where="Fig. 5",
    setting=setting,
    full=dict(panel=NAMES, seed=range(20), samples=(SAMPLES,), smaller=(1, SMALLER)),
    quick=dict(panel=("A", "C"), seed=range(1), samples=(SAMPLES,), smaller=(1,)),
    among="smaller == 1 or (panel != 'E' and seed < 10)",  # E is slow, and as Fig. 1F
    save_at=save_at,
    observe=lambda panel, **_: (EffectiveWidth(RULES[panel]), Parameters(("u",))),
    draw=draw,
    claims=(
        *(Claim(f"{p} ({name}): the loss drops exactly twice.", "S37 · Fig. 5", drops(2, 0.8),
                {"panel": p, "smaller": 1}, note=DROPS.get(p, "")) for p, name in NAMES.items()),
        *(Claim(f"{p} ({name}): the first layer has one effective unit on the plateau, two at the end.", "S37 · Fig. 5",
                widths(width, (1, 2), share=0.8), {"panel": p, "smaller": 1}, note=WIDTHS.get(p, ""))
          for p, name in NAMES.items()),
        *(Claim(f"{p} ({name}), from weights {SMALLER} times smaller: two drops.", "ours", drops(2, 0.8),
                {"panel": p, "smaller": SMALLER}, note=DROPS.get(p, "")) for p, name in NAMES.items() if p != "E"),
        *(Claim(f"{p} ({name}), from weights {SMALLER} times smaller: one effective unit, then two.", "ours",
                widths(width, (1, 2), share=0.8), {"panel": p, "smaller": SMALLER}, note=CLOSER.get(p, ""))
          for p, name in NAMES.items() if p != "E"),
    ),
)  # fmt: skip
