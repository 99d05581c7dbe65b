"""Simplicity paper, Section 5, Section 7 and App. C: the order of φ predicts whether directions or
units take turns.

Order one: all units grow along one direction after another. On the middle plateau the first layer
has one direction (a rank of one, or one ray), spread over many units: more than a fifth of them
share its weight, (Σ n²)² / Σ n⁴ over H. Order two and more: one unit grows after another, and fewer
than one and a half units share the weight. Two-layer nets of Fig. 1 and deep nets of Fig. 5, the
latter being the paper's conjecture. At the end all but the largest fifth of the units are cut from
the two-layer nets: localised features should survive it.
"""

from dataclasses import replace

import matplotlib.pyplot as plt
import numpy as np

from saddlescope.checks import groups_by, holds_in_share, share_text
from saddlescope.claims import Claim
from saddlescope.experiment import Experiment
from saddlescope.explanations import rule_for
from saddlescope.figures import BLUE, ORANGE, WIDTH, shared_legend
from saddlescope.losses import squared_error
from saddlescope.nets import Units
from saddlescope.observables import ByNorm, Parameters
from saddlescope.papers.simplicity import fig5
from saddlescope.papers.simplicity._panels import NAMES, SAMPLES, STEPS, panel_setting
from saddlescope.theory import UnitOrder, properties
from saddlescope.training import every

TWO = {f"1{p}": p for p in NAMES}
DEEP = {f"5{p}": p for p in fig5.NAMES}
MANY, ONE = 0.2, 1.5
SHARES = (0.05, 0.1, 0.15, 0.2, 0.3)  # a fifth is ours: what others would say
BEARABLE = 0.05  # of the first loss


def setting(panel, seed):
    return panel_setting(TWO[panel], seed) if panel in TWO else fig5.setting(DEEP[panel], seed, SAMPLES, smaller=1)


def save_at(panel, seed):
    steps = STEPS[TWO[panel]] if panel in TWO else fig5.STEPS[DEEP[panel]]
    return every(steps // 1000, steps)


def analyse(run, made):
    """Directions of the first layer on the middle plateau, and how many units hold its weight; NaN without one."""
    unit = getattr(made.net, "unit", None)
    p = properties(unit, made.task.inputs) if unit is not None else None
    kept = {"cut": cut(run, made) if isinstance(made.net, Units) else np.nan}
    plateaus = run.stages.plateaus
    if len(plateaus) < 3:
        return kept | {"directions": np.nan, "held": np.nan, "units": run.param_u.shape[1]}
    u = run.param_u.values[int(np.argmin(np.abs(run.times - plateaus[1].at)))]
    n = (u**2).sum(axis=1)
    directions = (rule_for(p) if p else ByNorm())(u)
    return kept | {"directions": float(directions), "held": float(n.sum() ** 2 / (n**2).sum()), "units": len(n)}


def cut(run, made):
    """How much the last loss rises, over the first, when all but the largest fifth of the units are cut."""
    end = {name: run[f"param_{name}"].values[-1] for name in ("u", "v")}
    large = np.argsort(-(end["u"] ** 2).sum(1) - (end["v"] ** 2).sum(1))[: made.net.units // 5]
    left = float(squared_error(made.net, {name: w[large] for name, w in end.items()}, made.net.statistics(made.data())))
    return (left - float(run.loss[-1])) / float(run.loss[0])


def predicted(results):
    """One direction over many units, or one unit, by the order of φ."""
    m, order = results.measured, results.predicted.order.values
    held = np.where(order == 1, m.held.values > MANY * m.units.values, m.held.values < ONE)
    return of_all(results, (m.directions.values == 1) & held)


def deep(results):
    """The same, with what other shares of the units than a fifth would give."""
    found, m, order = predicted(results), results.measured, results.predicted.order.values
    counts = []
    for share in SHARES:
        held = np.where(order == 1, m.held.values > share * m.units.values, m.held.values < ONE)
        counts.append(f"{int(np.sum((m.directions.values == 1) & held))} at {share:.0%}")
    text = f"by the share of the units that must hold a direction: {', '.join(counts)} of {len(order)} runs"
    return replace(found, evidence=f"{found.evidence}; {text}")


def one_direction(results):
    """One direction, ray or large unit, on however many units."""
    return of_all(results, results.measured.directions.values == 1)


def shared_direction(results):
    """One direction, held by more than a single unit."""
    m = results.measured
    return of_all(results, (m.directions.values == 1) & (m.held.values > ONE))


def of_all(results, good):
    parts = {p: results.select(panel=p).measured.dropna("run", subset=["held"]) for p in results.values("panel")}
    by = "; ".join(
        f"{p}: {part.directions.median():.0f} and {part.held.median():.1f}" if part.sizes["run"] else f"{p}: no plateau"
        for p, part in parts.items()
    )
    text = f"{share_text(int(good.sum()), len(good))}; directions and units that hold the weight, median: {by}"
    return holds_in_share(good.sum(), len(good), text, groups=groups_by(results, "panel", good))


def pruned(results):
    m, order = results.measured, results.predicted.order.values
    good = np.where(order == 1, m.cut.values > BEARABLE, m.cut.values < BEARABLE)
    parts = {p: results.select(panel=p).measured for p in results.values("panel")}
    by = "; ".join(f"{p}: {np.median(part.cut):.2g}" for p, part in parts.items())
    text = f"{share_text(good.sum(), len(good))}; median rise {by}"
    return holds_in_share(good.sum(), len(good), text, groups=groups_by(results, "panel", good))


def draw(results):
    figure, ax = plt.subplots(figsize=(WIDTH, 3.3))
    names = results.values("panel")
    for k, p in enumerate(names):
        part = results.select(panel=p)
        held, first = part.measured.held, int(part.predicted.order[0]) == 1
        style = {"color": BLUE if first else ORANGE, "marker": "o" if first else "^"}
        ax.semilogy(np.full(len(held), k), held, ls="", ms=3.5, mfc="none", mew=0.7, **style)
    ax.axhline(MANY * 50, color=BLUE, ls="--", lw=0.8, label="order one: above (a fifth of 50 units)")
    ax.axhline(ONE, color=ORANGE, ls="--", lw=0.8, label="order two: below")
    ax.plot([], [], "o", color=BLUE, mfc="none", label="order one: directions take turns")
    ax.plot([], [], "^", color=ORANGE, mfc="none", label="order two: units take turns")
    words = [f"{p[0]}{p[1]}  {NAMES[TWO[p]] if p in TWO else fig5.NAMES[DEEP[p]]}" for p in names]
    ax.set(ylabel="units that hold the weight", xticks=range(len(names)), yticks=(1, 2, 5, 10, 20))
    ax.set_yticklabels(("1", "2", "5", "10", "20"))
    ax.minorticks_off()
    ax.set_xticklabels(words, rotation=35, ha="right", rotation_mode="anchor")
    shared_legend(figure, ncols=2)
    return figure


FEWER = (
    "One ray in every run, but on 3 to 13 of the 50 units, where ten were asked: only units on the right side and of "
    "the right sign grow. With order two it is 1.0 to 1.2 units, but at times a second is above a tenth of the first."
)
DEEPER = (
    "ReLU nets have their ray on 4 to 13 units, where ten were asked, and at times a second; B has rank two in most "
    "runs, F several units, E in some. Order one has 4.4 units or more in every run, order two 2.2 or fewer."
)
SMALL_UNITS = "Small units beside the ray count as rays of their own: see `simplicity.fig5`."
VISITED = {
    "5A": ("rank-one weights", ""),
    "5B": ("rank-one weights", "A second singular value is above a tenth: see `simplicity.fig5`."),
    "5C": ("one ray", SMALL_UNITS),
    "5D": ("one ray", SMALL_UNITS),
    "5E": ("one unit", "A second head is above a tenth of the first already: see `simplicity.fig5`."),
    "5F": ("one unit", "Other units are above a tenth of the first already: see `simplicity.fig5`."),
}
CUT = (
    ("Localised features (F, G) can be cut to a fifth of the units.", ("1F", "1G"), ""),
    ("Distributed features of linear nets (B, C) cannot be cut to a fifth of the units.", ("1B", "1B diag", "1C"), ""),
    (
        "Distributed features of ReLU nets (D, E) cannot be cut to a fifth of the units.",
        ("1D", "1E"),
        "A ray may be held by few units: at times ten are enough.",
    ),
)
experiment = Experiment(
    title="Whether directions or single units are learned in turn, by the order of φ",
    source="Section 5, Section 7, App. C",
    setting=setting,
    full=dict(panel=(*TWO, *DEEP), seed=range(20)),
    quick=dict(panel=("1B", "1G", "5A", "5F"), seed=range(1)),
    save_at=save_at,
    observe=(Parameters(),),
    analyse=analyse,
    predict=(UnitOrder(),),
    draw=draw,
    drawn="One mark per run with a middle plateau: how many units hold the squared first-layer weights there, "
    "(Σ n²)² / Σ n⁴ for norms n. Numbers and letters are the panels of Fig. 1 and Fig. 5. Dashed: what "
    "the order of φ asks for.",
    claims=(
        Claim("Two layers: order one has distributed features, order two localised ones.", "S49 · App. C", predicted,
              {"panel": tuple(TWO)}, note=FEWER),
        Claim("Conjecture: ReLU nets separate directions, as linear nets do.", "S47 · App. C", shared_direction,
              {"panel": ("1D", "1E")}),
        Claim("Conjecture: in deep nets the order of φ predicts which take turns.", "S38 · Section 7", deep,
              {"panel": tuple(DEEP)}, note=DEEPER),
        *(Claim(f"Deep net {p} visits {word}.", "S56 · B.2", one_direction, {"panel": p}, note=note)
          for p, (word, note) in VISITED.items()),
        *(Claim(sentence, "S58 · App. C", pruned, {"panel": panels}, note=note) for sentence, panels, note in CUT),
    ),
)  # fmt: skip
