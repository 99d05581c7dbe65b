"""Simplicity paper, Fig. 1B: a two-layer linear network learns one direction, waits, learns the
next.

W* is not given in the paper: we take W* = I, where modes learn independently, and diag(1, ½), where
they do not. Each on the population and on a draw of P = 8192, whose plateaus lie at the levels of
its own moments.
"""

import matplotlib.pyplot as plt
import numpy as np

from saddlescope.checks import curve, drop_steps, drops, error_within, half_strength, plateau_levels, widths
from saddlescope.claims import Claim
from saddlescope.experiment import Experiment
from saddlescope.figures import WIDTH, learned_panel, letters, loss_panel, weights_panels
from saddlescope.nets import linear_units
from saddlescope.observables import ByRank, EffectiveWidth, LearnedModes, Parameters
from saddlescope.optimisers import GradientDescent
from saddlescope.papers.simplicity._groups import of_each
from saddlescope.setting import Setting
from saddlescope.tasks import LinearTeacher, Moments
from saddlescope.theory import DropSchedule, LinearLevels, ReducedWidth
from saddlescope.training import every

TARGETS = {"identity": ((1, 0), (0, 1)), "diagonal": ((1, 0), (0, 0.5))}
learned, width = LearnedModes(), EffectiveWidth(ByRank())


def setting(target, data, seed):
    samples = {"population": None, "draw": 8192}[data]
    return Setting(
        task=LinearTeacher(TARGETS[target], covariance=((1, 1), (1, 4)), samples=samples),
        net=linear_units(units=50, scale=1e-6),
        optimiser=GradientDescent(lr=0.01),
        steps=2000,
        seed=seed,
    )


def predict(target, data, seed):
    schedule = (DropSchedule(),) if target == "identity" else ()  # the other pair of moments does not commute
    return (LinearLevels(), ReducedWidth(), *schedule)


def misaligned(run):
    """1 - |cos| between (v_i, u_i) and (q₁, r₁), the largest of units above a tenth of the largest, at the first
    drop's start."""
    q, _, rt = np.linalg.svd(np.asarray(Moments.of(run.setting.data()).yx))
    start = next((d.start for d in run.stages.drops), None)
    if start is None:
        return np.inf
    i = int(np.searchsorted(run.saved_step.values, start, side="right")) - 1
    theta = np.concatenate([run.param_v.values[i], run.param_u.values[i]], axis=1)
    norms = np.linalg.norm(theta, axis=1)
    along = np.abs(theta @ np.concatenate([q[:, 0], rt[0]])) / np.sqrt(2)
    return float(np.max((1 - along / norms)[norms > 0.1 * norms.max()]))


def draw(results):
    figure = plt.figure(figsize=(WIDTH, 5.4))
    grid = figure.add_gridspec(3, 4)
    for column, (target, name) in enumerate({"identity": "I", "diagonal": "diag(1, ½)"}.items()):
        both, left = results.select(target=target), 2 * column
        part = results.select(target=target, data="population")
        part = part if part.measured.sizes["run"] else both
        if not part.measured.sizes["run"]:
            continue
        top, middle = (figure.add_subplot(grid[row, left : left + 2]) for row in (0, 1))
        loss_panel(top, part, f"W* = {name}")
        learned_panel(middle, part, learned.name)
        weights = [figure.add_subplot(grid[2, left + i]) for i in range(2)]
        weights_panels(weights, next(iter(part.runs())))
        letters((top, middle, weights[0]), "ABC" if column == 0 else "DEF")
    return figure


COMMUTE, EACH = {"target": "identity", "data": "population"}, ("target", "data")
experiment = Experiment(
    title="A linear net learns one direction, waits, then learns the next",
    source="Fig. 1B",
    setting=setting,
    full=dict(target=TARGETS, data=("population", "draw"), seed=range(20)),
    quick=dict(target=TARGETS, data=("population", "draw"), seed=range(2)),
    save_at=every(20, 2000),
    observe=(learned, width, Parameters()),
    predict=predict,
    draw=draw,
    drawn="Top: loss of every run on the population, the first seed thick, with the reduced net's curve and "
    "the levels of Lemma 6. Middle: how much of each mode the first seed has learned; circles are the "
    "predicted steps of one half, where modes learn independently. Bottom: its first-layer weights, one "
    "dot per unit.",
    claims=(
        Claim("The loss drops exactly twice.", "Fig. 1B", of_each(drops(2), *EACH)),
        Claim("The weights have rank one on the plateau and rank two at the end.", "Fig. 1B",
              of_each(widths(width, (1, 2)), *EACH)),
        # 0.01: what else has grown by then is (ε s)^(1 - s₂/s₁) of the first mode.
        Claim("Before the first drop every unit is aligned with the top singular pair.", "S17 · Section 5.1",
              of_each(error_within(misaligned, 1e-2, "largest 1 - cos of a unit"), *EACH)),
        # Ours: Lemma 6 lists all fixed points; which of them is approached Remark 2 leaves open.
        # The plateau relaxes as exp(-4 lr s₁ n) for 600 steps and the next mode's rise is exponentially small: 1e-5.
        Claim("W* = I: the plateau is the best rank-one fit.", "ours", plateau_levels(1e-5), only=COMMUTE),
        Claim(
            "W* = diag(1, ½): the plateau is the best rank-one fit.", "ours", plateau_levels(1e-2),
            only={"target": "diagonal", "data": "population"},
        ),
        # 1 %: the modes' separation is finite, so the second starts to rise before the first is done.
        Claim("On a draw the plateau lies at the level of the draw's own moments.", "ours",
              of_each(plateau_levels(1e-2), "target"), only={"data": "draw"}),
        # 1 %: the logistic is exact for the flow; descent's rate is corrected, its shape near the top is not.
        Claim("W* = I: each mode is half learned when its initial draw says.", "ours", half_strength(learned, 1e-2),
              only=COMMUTE),
        Claim("W* = I: each drop comes when the initial draw says.", "ours", drop_steps(1e-2), only=COMMUTE),
        # What the model leaves out does not grow while its modes grow by 1e6: 1e-6 of the start.
        Claim("A net as narrow as its modes has the wide net's loss curve.", "S48 · App. C",
              of_each(curve("loss", 1e-6), "target"), only={"data": "population"}),
    ),
)  # fmt: skip
