"""Simplicity paper, Section 7 and App. A.1: nets that one unit suffices for have no saddle on the
way.

Linear nets with a scalar output or a scalar input, and linear attention with key and query merged:
each has full expressivity with one unit, so that it drops once, from zero. Beside them the nets
with two outputs and with separate key and query, which drop twice.
"""

import numpy as np

from saddlescope.checks import groups_by, holds_in_share, share_text
from saddlescope.claims import Claim
from saddlescope.experiment import Experiment
from saddlescope.figures import letters, loss_panel, panels, shared_legend
from saddlescope.nets import LinearHead, MergedHead, Units, linear_units
from saddlescope.optimisers import GradientDescent
from saddlescope.setting import Setting
from saddlescope.tasks import InContextRegression, LinearTeacher
from saddlescope.theory import LinearLevels, NarrowLevels

CASES = {
    "scalar output": (1, "one output"), "scalar input": (1, "one input"),
    "merged": (1, "key and query merged"), "two outputs": (2, "two outputs"),
    "separate": (2, "key and query apart"),
}  # fmt: skip
COVARIANCE = ((1, 1), (1, 4))


def setting(case, seed, samples):
    if case in ("merged", "separate"):
        unit = MergedHead(2) if case == "merged" else LinearHead(2)
        task = InContextRegression((1.4, 0.6), 32, samples)
        return Setting(task, Units(10, unit, 0.005), GradientDescent(0.02), steps=16_000, seed=seed)
    task = {
        "scalar output": LinearTeacher(((1, 0.5),), COVARIANCE), "scalar input": LinearTeacher(((1,), (0.5,)), ((2,),)),
        "two outputs": LinearTeacher(((1, 0), (0, 1)), COVARIANCE),
    }[case]  # fmt: skip
    return Setting(task, linear_units(50, 1e-6), GradientDescent(0.01), steps=2000, seed=seed)


def predict(case, seed, samples):
    """Levels of nets of no unit, one and two. Where one unit suffices the last two are equal."""
    return (NarrowLevels(2, tries=6),) if case in ("merged", "separate") else (LinearLevels(),)


def as_many(results):
    good = np.array([CASES[str(m.case.values)][0] == m.stages.n_drops for m in results.runs()])
    by = "; ".join(f"{c}: {', '.join(str(m.stages.n_drops) for m in results.select(case=c).runs())}"
                   for c in results.values("case"))  # fmt: skip
    text = f"{share_text(good.sum(), good.size)}; drops {by}"
    return holds_in_share(good.sum(), good.size, text, groups=groups_by(results, "case", good))


def draw(results):
    cases = results.values("case")
    spare = len(cases) % 3 > 0
    figure, cells = panels(len(cases) + spare, 3, height=1.9)
    axes = [figure.add_subplot(cell) for cell in cells]
    for ax, case in zip(axes, cases, strict=False):
        loss_panel(ax, results.select(case=case), CASES[case][1], legend=False)
        ax.locator_params(axis="x", nbins=4)
    letters(axes[: len(cases)])
    shared_legend(figure, axes[-1] if spare else None)
    return figure


experiment = Experiment(
    title="Nets for which one unit is enough drop only once",
    source="Section 7, App. A.1",
    setting=setting,
    full=dict(case=CASES, seed=range(20), samples=(8192,)),
    quick=dict(case=CASES, seed=range(1), samples=(1024,)),
    predict=predict,
    draw=draw,
    drawn="Loss of every run, the first seed thick, until it is learned. Dashed: levels of nets of no, one "
    "and two units, on the first seed's data; where one unit suffices the last two are one.",
    claims=(
        Claim("Linear nets with a scalar output or input drop once.", "S35 · Section 7", as_many,
              {"case": ("scalar output", "scalar input")}),
        Claim("Attention with merged key and query drops once.", "S35 · Section 7", as_many, {"case": "merged"}),
        Claim("Controls: with two outputs, and with key and query apart, there are two drops.", "ours", as_many,
              {"case": ("two outputs", "separate")}),
    ),
)  # fmt: skip
