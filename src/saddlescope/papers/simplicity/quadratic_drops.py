"""Our own prediction: both drops of a quadratic net from t_∞ of Proposition 5, an integral.

The net of Fig. 1G. First drop: the least t_∞ of the units as drawn, in the correlation Σ_yZ.
Second: the least t_∞ of the others when the first has grown, in the correlation of what is left on
the plateau. t_∞ is when a unit alone would be infinite in a correlation that stays as it is; the
loss falls fastest a little later, since it does not.
"""

import matplotlib.pyplot as plt
import numpy as np

from saddlescope.checks import holds_in_share, share_text
from saddlescope.claims import Claim
from saddlescope.experiment import Experiment
from saddlescope.figures import BLUE, ORANGE, WIDTH, plain_ticks
from saddlescope.observables import Parameters
from saddlescope.papers.simplicity._panels import panel_setting
from saddlescope.theory import QuadraticNextDrops
from saddlescope.training import every

SCALES = (0.005, 0.001)  # the paper's, and a smaller one


def setting(seed, scale):
    return panel_setting("G", seed, scale, steps(scale))


def steps(scale):
    return round(20 / scale)  # t_∞ goes as 1 / ε


def save_at(seed, scale):
    return every(steps(scale) // 2000, steps(scale))


def analyse(run, made):
    return {"drop_step": (("drop",), np.array([d.at for d in run.stages.drops][:2]))}


def gap(run, number):
    """How far a drop is from its prediction, over the wait for it; infinite without such a drop."""
    if "drop_step" not in run or min(run.sizes["drop"], run.predicted.sizes["drop"]) <= number:
        return np.inf
    said, read = (float(run.predicted[name][number]) for name in ("drop_step", "read_step"))
    drop = float(run["drop_step"][number])
    return abs(said - drop) / (drop - read)


def comes_so(number, within):
    """Drop `number` comes at the step said, within a share of the wait for it; runs without it count as misses."""

    def check(results):
        gaps = np.array([gap(m, number) for m in results.runs()])
        good, met = int(np.sum(gaps < within)), gaps[np.isfinite(gaps)]
        spread = f"median gap {np.median(met):.1%}, largest {met.max():.1%}" if met.size else "no such drop"
        return holds_in_share(good, len(gaps), f"{share_text(good, len(gaps))} to {within:.0%}; {spread}")

    return check


def draw(results):
    figure, ax = plt.subplots(figsize=(0.6 * WIDTH, 3.0))
    for k, (colour, word) in enumerate(((BLUE, "first drop, from the draw"), (ORANGE, "second, from the plateau"))):
        met = [m for m in results.runs() if gap(m, k) < np.inf]
        pairs = np.array([(m["drop_step"][k], m.predicted["drop_step"][k]) for m in met])
        if pairs.size:
            ax.loglog(*pairs.T, "o", color=colour, mfc="none", ms=5, label=word)
    ends = np.array(ax.get_xlim())
    ax.plot(ends, ends, color="0.5", ls="--", lw=0.8, label="theory: equal")
    ax.set(xlabel="step of the drop", ylabel="step of $t_\\infty$")
    plain_ticks(ax.xaxis, ax.yaxis)
    ax.legend()
    return figure


experiment = Experiment(
    title="Steps of both drops of a quadratic net, predicted from an integral",
    source="our own prediction, on Proposition 5",
    setting=setting,
    full=dict(seed=range(20), scale=SCALES),
    quick=dict(seed=range(2), scale=(0.005,)),
    save_at=save_at,
    observe=(Parameters(),),
    analyse=analyse,
    predict=(QuadraticNextDrops(),),
    draw=draw,
    drawn="One mark per drop: its step, and the step at which the next unit would be infinite. The first is "
    "predicted from the initial draw, the second from the weights on the plateau. The dashed line is "
    "equality.",
    claims=(
        *(Claim(f"ε = {eps:g}: the first drop comes at the least t_∞ of the initial draw, to 5 % of the wait.", "ours",
                comes_so(0, 0.05), {"scale": eps}) for eps in SCALES),
        *(Claim(f"ε = {eps:g}: the second comes at the least t_∞ of the others on the plateau, to 5 % of the wait.",
                "ours", comes_so(1, 0.05), {"scale": eps}) for eps in SCALES),
    ),
)  # fmt: skip
