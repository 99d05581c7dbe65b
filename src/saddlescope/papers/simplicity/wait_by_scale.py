"""Simplicity paper, Eq. 36–37 and App. H.2: the wait at zero grows as ln(1/ε) in linear nets, as 1/ε in quadratic ones.

T = ln(1/‖Pθ(0)‖) / s₁ for linear units; t_∞ of Eq. 56 is inversely proportional to the initial weights. The nets of
Fig. 1 B and G from the same draw at five scales each: the step of the first drop, and what theory says from the draw.
"""

import matplotlib.pyplot as plt
import numpy as np

from saddlescope.checks import holds_in_share, share_text
from saddlescope.claims import Claim
from saddlescope.experiment import Experiment
from saddlescope.figures import BLACK, BLUE, ORANGE, WIDTH, letters, plain_ticks
from saddlescope.papers.simplicity._panels import panel_setting
from saddlescope.theory import DropSchedule, QuadraticDrops

SCALES = {"linear": (1e-3, 1e-4, 1e-5, 1e-6, 1e-7), "quadratic": (0.01, 0.005, 0.0025, 0.00125, 0.000625)}
PANELS = {"linear": "B", "quadratic": "G"}
STEPS = {"linear": lambda scale: 1500, "quadratic": lambda scale: round(12 / scale)}


def setting(net, scale, seed):
    return panel_setting(PANELS[net], seed, scale, STEPS[net](scale))


def predict(net, **_):
    return (DropSchedule(),) if net == "linear" else (QuadraticDrops(),)


def analyse(run, made):
    """The step of the first drop; NaN without one."""
    return {"first_drop": next((d.at for d in run.stages.drops), np.nan)}


def rows_of(dataset, results):
    """The first drop by seed and scale, measured or predicted."""
    m = results.measured
    seeds, scales = np.unique(m.seed.values), np.unique(m.scale.values)
    return scales, np.array([[dataset[(m.seed.values == s) & (m.scale.values == e)][0] for e in scales] for s in seeds])


def said(results):
    p = results.predicted
    name = "drop_step" if "drop_step" in p and np.isfinite(p["drop_step"].values).any() else "first_drop_step"
    return p[name].values[:, 0]


def per_decade(results):
    """Steps per factor e of ε, of each seed, measured and predicted: the same at every scale, to 1 %."""
    if len(results.values("scale")) < 3:
        return None
    scales, found = rows_of(results.measured.first_drop.values, results)
    _, theory = rows_of(said(results), results)
    slope = lambda rows: np.diff(rows, axis=1) / np.diff(np.log(scales))  # noqa: E731
    gap = np.abs(slope(found) / slope(theory) - 1).max(axis=1)
    good = int(np.sum(gap < 0.01))
    text = (
        f"{-slope(found).mean():.2f} steps per factor e, said {-slope(theory).mean():.2f}; largest gap {gap.max():.1e}"
    )
    return holds_in_share(good, len(gap), f"{share_text(good, len(gap))}; {text}, allowed 0.01")


def inverse(results):
    """The slope of ln(step) over ln(ε) is -1, seed by seed, to 2 %."""
    if len(results.values("scale")) < 3:
        return None
    scales, found = rows_of(results.measured.first_drop.values, results)
    slopes = np.array([np.polyfit(np.log(scales), np.log(row), 1)[0] if np.all(row > 0) else np.nan for row in found])
    good = int(np.sum(np.abs(slopes + 1) < 0.02))
    text = f"slopes {np.nanmin(slopes):.3f} to {np.nanmax(slopes):.3f}, said -1, allowed 0.02"
    return holds_in_share(good, len(slopes), f"{share_text(good, len(slopes))}; {text}")


def draw(results):
    figure, axes = plt.subplots(1, 2, figsize=(WIDTH, 2.6))
    for ax, (net, colour) in zip(axes, {"linear": BLUE, "quadratic": ORANGE}.items(), strict=True):
        part = results.select(net=net)
        if not part.measured.sizes["run"]:
            ax.remove()
            continue
        plot = ax.semilogx if net == "linear" else ax.loglog
        plot(part.measured.scale, part.measured.first_drop, "o", color=colour, mfc="none", ms=4, label="measured")
        plot(part.measured.scale, said(part), "x", color=BLACK, ms=3, label="theory, from the draw")
        ax.set(xlabel="initial scale ε", ylabel="step of the first drop", title=f"{net} net")
        if net == "quadratic":
            plain_ticks(ax.xaxis, ax.yaxis)
        ax.legend()
    letters(ax for ax in axes if ax.figure)
    return figure


experiment = Experiment(
    title="The wait at zero grows as ln(1/ε) in linear nets and as 1/ε in quadratic ones",
    source="Eq. 36, 37; App. H.2",
    setting=setting,
    full=dict(net=SCALES, scale=sorted({e for of in SCALES.values() for e in of}), seed=range(20)),
    quick=dict(net=SCALES, scale=(1e-5, 1e-4, 1e-3, 0.0025, 0.005, 0.01), seed=range(2)),
    where=" or ".join(f"(net == '{net}' and scale in {of})" for net, of in SCALES.items()),
    predict=predict,
    analyse=analyse,
    draw=draw,
    drawn="One mark per run: the step of its first drop over the scale of its initial weights. Crosses are predicted "
    "from the initial draw. The linear net has a linear axis of steps, the quadratic net a logarithmic one.",
    claims=(
        # 1 %: the drop is read between saved steps, and successive waits differ by some 40 steps.
        Claim("In a linear net each factor of 1/ε adds as many steps to the first plateau: it is ∝ ln(1/ε).",
              "S69 · Eq. 36, 37", per_decade, {"net": "linear"}),
        # 2 %: at the largest ε the first unit is a hundredth of its final size already.
        Claim("In a quadratic net the first plateau is ∝ 1/ε.", "S70 · App. H.2", inverse, {"net": "quadratic"}),
    ),
)  # fmt: skip
