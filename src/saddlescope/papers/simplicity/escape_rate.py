"""Our own prediction: how fast a plateau is left, from its saddle alone.

Linear units: at the embedded fixed point nearest to the plateau the Hessian has a lowest eigenvalue
λ, by which the distance from the manifold of one unit grows by 1 - lr λ per step. ReLU has no
Hessian where units are silent: there it is the largest growth of one silent unit in the residual.
Measured: the slope of the logarithm of the distance from that manifold, from where the plateau is
flattest to its end. For units of order two and more λ is zero: a degenerate saddle, which second
order cannot time.
"""

import matplotlib.pyplot as plt
import numpy as np

from saddlescope.checks import groups_by, holds_in_share, share_text
from saddlescope.claims import Claim
from saddlescope.experiment import Experiment
from saddlescope.explanations import saved_weights
from saddlescope.figures import BLUE, ORANGE, WIDTH
from saddlescope.observables import Parameters
from saddlescope.papers.simplicity._panels import NAMES, STEPS, panel_setting
from saddlescope.theory import EscapeRate, nearest_kind, properties
from saddlescope.theory.relations.kind import stacked
from saddlescope.training import every

LINEAR, RELU, FLAT = ("B", "B diag", "C"), ("D", "E"), ("F", "G")


def setting(panel, seed):
    return panel_setting(panel, seed)


def save_at(panel, seed):
    return every(STEPS[panel] // 1000, STEPS[panel])


def analyse(run, made):
    """Growth per step of the distance from the manifold of one unit, while the plateau is left."""
    middle = run.stages.plateaus[1:-1]
    found = saved_weights(run, middle[0]) if middle else None
    if found is None:
        return {"rate": np.nan}
    kind = nearest_kind(found[1], properties(made.net.unit, made.task.inputs, made.task.outputs), 1)
    at = run.saved_step.values
    window = np.flatnonzero((at >= middle[0].at) & (at <= middle[0].end))
    rows = [{n: run[f"param_{n}"].values[i] for n in ("u", "v")} for i in window]
    off = [np.linalg.norm(stacked(p) - stacked(kind.project(p, 1))) for p in rows]
    enough = len(rows) > 3
    rate = np.polyfit(at[window], np.log(np.maximum(off, 1e-300)), 1)[0] if enough else np.nan
    return {"rate": float(rate)}


def rates_agree(within):
    def check(results):
        gap = np.abs(results.measured.rate.values / results.predicted.rate.values - 1)
        good = int(np.sum(gap < within))
        parts = {p: results.select(panel=p) for p in results.values("panel")}
        by = "; ".join(f"{p}: {median_rates(part)}" for p, part in parts.items())
        text = f"{share_text(good, len(gap))} to {within:.0%}; rates per step, measured and predicted, {by}"
        return holds_in_share(good, len(gap), text, groups=groups_by(results, "panel", gap < within))

    return check


def median_rates(part):
    measured, predicted = (np.median(d.rate) for d in (part.measured, part.predicted))
    return f"{measured:.4f} and {predicted:.4f}"


def degenerate(results):
    """The saddle's lowest eigenvalue is zero, and yet the weights leave: second order gives less than a thousandth of
    the rate."""
    said, rate = results.predicted, results.measured.rate.values
    good = (said.kind.values.astype(str) == "degenerate") & (rate > 0) & (np.abs(said.rate.values) < 1e-3 * rate)
    text = f"{share_text(int(good.sum()), len(good))}; largest |λ| {np.nanmax(np.abs(said.lowest.values)):.1e}"
    text += f", measured rates per step {np.nanmin(rate):.2g} to {np.nanmax(rate):.2g}"
    return holds_in_share(good.sum(), len(good), text, groups=groups_by(results, "panel", good))


def draw(results):
    figure, ax = plt.subplots(figsize=(0.6 * WIDTH, 3.2))
    marks = dict(zip((*LINEAR, *RELU), "os^Dv", strict=True))
    for p, mark in marks.items():
        part = results.select(panel=p)
        if part.measured.sizes["run"]:
            colour = BLUE if p in LINEAR else ORANGE
            style = {"color": colour, "mfc": "none", "ms": 4, "label": NAMES[p]}
            ax.plot(part.predicted.rate, part.measured.rate, mark, **style)
    ends = np.array([min(ax.get_xlim()[0], ax.get_ylim()[0]), max(ax.get_xlim()[1], ax.get_ylim()[1])])
    ax.plot(ends, ends, color="0.5", ls="--", lw=0.8, label="theory: equal")
    ax.fill_between(ends, 0.97 * ends, 1.03 * ends, color="0.9", zorder=0, label="within 3 %")
    ax.set(xlabel="rate predicted from the saddle", ylabel="growth per step on the plateau", xlim=ends, ylim=ends)
    ax.legend()
    return figure


experiment = Experiment(
    title="Rate of escape from a plateau, predicted from its saddle",
    source="our own prediction, on Section 5",
    setting=setting,
    full=dict(panel=NAMES, seed=range(12)),
    quick=dict(panel=("B", "D"), seed=range(1)),
    save_at=save_at,
    observe=(Parameters(),),
    analyse=analyse,
    predict=(EscapeRate(),),
    draw=draw,
    drawn="One mark per run: the rate at which the weights leave the manifold of one unit on the middle "
    "plateau, measured and predicted. The grey band is 3 % wide on either side. Units of order two have "
    "no such rate.",
    claims=(
        Claim("Linear units: a plateau is left at the rate of the Hessian's lowest eigenvalue, to 3 %.", "ours",
              rates_agree(0.03), {"panel": LINEAR},
              note="With W* = diag(1, ½) it rises while the first mode settles and falls once the second is large, and "
              "is about 3 % short."),
        Claim("ReLU units: a plateau is left at the largest growth rate of one silent unit, to 3 %.",
              "ours", rates_agree(0.03),
              {"panel": RELU}),
        Claim("Units of order two: the saddle is degenerate, and second order cannot tell how fast it is left.", "ours",
              degenerate, {"panel": FLAT}),
    ),
)  # fmt: skip
