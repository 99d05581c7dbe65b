"""Simplicity paper, B.2: with one output the second layer of a deep net needs one unit only.

The nets of Fig. 5 B and F, whose second layer is linear, on the targets of Fig. 1 C and G with one output. By the paper
both layers gain a unit at the first transition, and only the first layer at the second. Read on the middle plateau and
at the end: effective units of the first layer, and singular values of the second above a tenth of its first. From the
paper's initial weights, and from weights five times smaller (see `simplicity.fig5`).
"""

import numpy as np

from saddlescope.checks import drops, in_most_runs
from saddlescope.claims import Claim
from saddlescope.experiment import Experiment
from saddlescope.figures import BLACK, BLUE, ORANGE, SKY, WIDTH, letters, thinned
from saddlescope.observables import EffectiveWidth, SingularValues
from saddlescope.optimisers import GradientDescent
from saddlescope.papers.simplicity import fig5
from saddlescope.papers.simplicity._groups import of_each
from saddlescope.papers.simplicity._panels import task
from saddlescope.setting import Setting
from saddlescope.training import every

PANELS = {"B": "C", "F": "G"}  # of Fig. 5, with the task of this panel of Fig. 1
NAMES = {p: fig5.NAMES[p] for p in PANELS}
SMALLER, SHOWN = 5, 4  # singular values that are kept


def setting(panel, smaller, seed):
    steps = smaller * fig5.STEPS[panel]
    return Setting(task(PANELS[panel]), fig5.net(panel, smaller), GradientDescent(0.02), steps=steps, seed=seed)


def save_at(panel, smaller, **_):
    return every(smaller * fig5.STEPS[panel] // 1000, smaller * fig5.STEPS[panel])


def observe(panel, **_):
    return EffectiveWidth(fig5.RULES[panel]), SingularValues()


def analyse(run, made):
    """Units of the first layer and rank of the second, on the middle plateau (-1 without one) and at the end."""
    plateaus, s = run.stages.plateaus, run.singular_values_W2.values
    middle = int(np.argmin(np.abs(run.times - plateaus[1].at))) if len(plateaus) > 2 else None
    read = lambda values: np.array([-1 if i is None else values(i) for i in (middle, -1)])  # noqa: E731
    return {
        "first": (("place",), read(lambda i: int(run.effective_width.values[i]))),
        "second": (("place",), read(lambda i: int(np.sum(s[i] > 0.1 * s[i, 0])))),
        "second_values": (("saved", "value"), s[:, :SHOWN]),
        "at": (("saved",), run.times),
    }


def first_alone(run):
    """One unit in both layers on the plateau; at the end two in the first, one in the second."""
    return tuple(run["first"].values) == (1, 2) and tuple(run.second.values) == (1, 1)


def one_is_enough(run):
    """One unit in the second layer at the end."""
    return int(run.second.values[-1]) == 1


def counted(results):
    rows = [(*map(int, m["first"].values), *map(int, m.second.values)) for m in results.runs()]
    return "first layer, then second, on the plateau and at the end: " + ", ".join(
        f"{a} {b}, {c} {d} ({rows.count((a, b, c, d))})" for a, b, c, d in sorted(set(rows))
    )


def draw(results):
    import matplotlib.pyplot as plt

    shown = [(p, s) for p in PANELS for s in (1, SMALLER) if results.select(panel=p, smaller=s).measured.sizes["run"]]
    figure, axes = plt.subplots(2, len(shown), figsize=(WIDTH, 3.6), squeeze=False, sharex="col")
    for (top, below), (p, smaller) in zip(axes.T, shown, strict=True):
        runs = list(results.select(panel=p, smaller=smaller).runs())
        for m in runs[::-1]:
            at, loss = thinned(m.loss.values)
            top.plot(at, loss, color=BLUE if m is runs[0] else SKY, lw=1.4 if m is runs[0] else 0.4)
        for k, (colour, word) in enumerate(((BLACK, "first"), (ORANGE, "second"))):
            below.plot(runs[0]["at"], runs[0].second_values[:, k], color=colour, label=word)
        top.set(title=f"{NAMES[p]}" + (f"\n{smaller} times smaller" if smaller > 1 else "\n"))
        below.set(xlabel="step")
        below.locator_params(axis="x", nbins=3)
    axes[0, 0].set_ylabel("loss")
    axes[1, 0].set_ylabel("singular values\nof the second layer")
    figure.legend(*axes[1, 0].get_legend_handles_labels(), loc="outside lower center", ncols=2)
    letters(axes.ravel())
    return figure


experiment = Experiment(
    title="Deep nets with one output: the second layer keeps one unit while the first gains a second",
    source="B.2",
    setting=setting,
    full=dict(panel=PANELS, smaller=(1, SMALLER), seed=range(40)),
    quick=dict(panel=("B",), smaller=(1,), seed=range(2)),
    save_at=save_at,
    observe=observe,
    analyse=analyse,
    keep=("loss",),
    draw=draw,
    drawn="Above, the loss of every run, the first seed thick. Below, the two largest singular values of the second "
    "layer's weights, of the first seed.",
    claims=(
        *(Claim(f"{p} ({name}), one output: the second layer ends with one effective unit.", "S75 · B.2",
                in_most_runs(one_is_enough, counted, by="smaller"), {"panel": p},
                "from the paper's initial weights the other singular values keep the size that they were drawn with, a "
                "quarter of the first") for p, name in NAMES.items()),
        Claim(f"F (quadratic, linear), one output, from weights {SMALLER} times smaller: at the second transition only "
              "the first layer gains a unit.", "S75 · B.2", in_most_runs(first_alone, counted),
              {"panel": "F", "smaller": SMALLER},
              "in the other runs the first layer has two units on the plateau already, or three at the end"),
        Claim("B (linear convolution, linear), one output: there is no second transition; the loss drops once.", "ours",
              of_each(drops(1), "smaller"), {"panel": "B"}),
    ),
)  # fmt: skip
