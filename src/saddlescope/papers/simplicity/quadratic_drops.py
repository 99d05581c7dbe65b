"""A prediction of ours: both drops of a quadratic net from t_∞ of Proposition 5, an integral.

The net of Fig. 1G. First drop: the least t_∞ of the units as drawn, in the correlation Σ_yZ. Second: the least
t_∞ of the others when the first has grown, in the correlation of what is left on the plateau. t_∞ is when a unit alone
would be infinite in a correlation that stays as it is; the loss falls fastest a little later, since it does not.
"""

import matplotlib.pyplot as plt
import numpy as np

from saddlescope.checks import holds_in_share, share_text
from saddlescope.claims import Claim
from saddlescope.experiment import Experiment
from saddlescope.explanations import saved_weights
from saddlescope.figures import BLUE, ORANGE
from saddlescope.observables import Parameters
from saddlescope.papers.simplicity._panels import panel_setting
from saddlescope.theory import QuadraticDrops, explosion_steps
from saddlescope.training import every, train

SCALES = (0.005, 0.001)  # the paper's, and a smaller one


def measure(seed, scale):
    steps = round(20 / scale)  # t_∞ goes as 1 / ε
    setting = panel_setting("G", seed, scale, steps)
    run = train(setting, (Parameters(),), every(steps // 2000, steps), quiet=True)
    drops = [d.at for d in run.stages.drops][:2]
    said, read = [float(QuadraticDrops()(setting)["first_drop_step"][1][0])], [0]
    if len(drops) == 2:
        step, params = saved_weights(run, run.stages.plateaus[1]) or (0, None)
        read.append(step)
        said.append(step + second(setting, params) if params else np.inf)
    return {
        "drop_step": (("fall",), np.array(drops)), "said": (("fall",), np.array(said[: len(drops)])),
        "read_step": (("fall",), np.array(read[: len(drops)])),
    }  # fmt: skip


def second(setting, params):
    """Steps until another unit than the largest explodes, in the residual of all."""
    sizes = np.linalg.norm(np.concatenate([params["u"], params["v"]], axis=1), axis=1)
    return np.delete(explosion_steps(setting, params), np.argmax(sizes)).min()


def gap(run, number):
    if "said" not in run or run.sizes["fall"] <= number:
        return np.inf
    drop, said, read = (float(run[name][number]) for name in ("drop_step", "said", "read_step"))
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
    figure, ax = plt.subplots(figsize=(4.6, 3.8))
    for k, (colour, word) in enumerate(((BLUE, "first drop, from the draw"), (ORANGE, "second, from the plateau"))):
        pairs = np.array([(m.drop_step[k], m.said[k]) for m in results.runs() if gap(m, k) < np.inf])
        if pairs.size:
            ax.loglog(*pairs.T, "o", color=colour, mfc="none", ms=5, label=word)
    ends = np.array(ax.get_xlim())
    ax.plot(ends, ends, color="0.5", ls="--", lw=0.8, label="theory: equal")
    ax.set(xlabel="step of the drop", ylabel="step of $t_\\infty$", title="quadratic net")
    ax.minorticks_off()
    ax.legend(fontsize=7)
    return figure


experiment = Experiment(
    title="Drops of a quadratic net from an integral",
    source="a prediction of ours, on Proposition 5",
    measure=measure,
    full=dict(seed=range(20), scale=SCALES),
    quick=dict(seed=range(2), scale=(0.005,)),
    draw=draw,
    claims=(
        *(Claim(f"ε = {eps:g}: the first drop comes at the least t_∞ of the initial draw, to 5 % of the wait.", "ours",
                comes_so(0, 0.05), {"scale": eps}) for eps in SCALES),
        *(Claim(f"ε = {eps:g}: the second comes at the least t_∞ of the others on the plateau, to 5 % of the wait.",
                "ours", comes_so(1, 0.05), {"scale": eps}) for eps in SCALES),
    ),
)  # fmt: skip
