"""Simplicity paper, Fig. 4 B–H: two-layer nets with other activations, by the order of their first
Taylor term.

Teacher φ(x₁) + φ(b x₂), b = 2 (B–F) or 1 (G, H). Order 0: sigmoid. Order 1: sin, tanh, whose
weights become rank one early; what follows is not said to be a saddle. Orders 2 and 3: 1 - cos z, z
tanh z, z³, z² tanh z, of which one unit grows after the other. E and H are not named in the paper's
text: ours. At its learning rate of 0.02 the cubic net diverges; here 0.005. Panel A, softmax
attention, is `simplicity.fig4a`.
"""

import numpy as np

from saddlescope.checks import drops, error_within, holds_in_share, share_text, width_on_plateaus
from saddlescope.claims import CheckResult, Claim
from saddlescope.experiment import Experiment
from saddlescope.nets import Cube, Neuron, OneMinusCos, Sigmoid, Sin, Tanh, TanhTimes, Units
from saddlescope.observables import ByNorm, EffectiveWidth, Parameters
from saddlescope.optimisers import GradientDescent
from saddlescope.papers.simplicity._groups import of_each
from saddlescope.papers.simplicity._panels import losses_and_weights
from saddlescope.setting import Setting
from saddlescope.tasks import Teacher
from saddlescope.theory import NarrowLevels, NearestSaddle, UnitOrder
from saddlescope.training import every

UNITS = {
    "B": Sigmoid(), "C": Sin(), "D": Tanh(), "E": OneMinusCos(), "F": TanhTimes(1), "G": Cube(), "H": TanhTimes(2),
}  # fmt: skip
NAMES = {"B": "sigmoid", "C": "sin z", "D": "tanh z", "E": "1 - cos z", "F": "z tanh z", "G": "z³", "H": "z² tanh z"}
NUMBERS = {"E": "S26", "F": "S25", "G": "S26", "H": "S26"}
ORDERS = {"B": 0, "C": 1, "D": 1, "E": 2, "F": 2, "G": 3, "H": 3}
width = EffectiveWidth(ByNorm())
NEAR = 0.1  # of the weights


def setting(panel, seed, samples, faster):
    """`faster` starts the slow panels, G and H, from weights six times as large, and trains G on the population: with
    the outliers of a small draw it is unstable."""
    small, steep = panel in "BCD", panel in "GH"
    scale = 1e-6 if small else 0.03 if steep and faster else 0.005
    return Setting(
        task=Teacher(UNITS[panel], ((1, 0), (0, 1 if steep else 2)), None if faster and panel == "G" else samples),
        net=Units(50 if small else 10, Neuron(UNITS[panel]), scale),
        optimiser=GradientDescent(0.005 if panel == "G" else 0.02),
        steps=steps(panel, faster), seed=seed,
    )  # fmt: skip


def steps(panel, faster):
    return 20_000 if panel == "E" else 6000 if panel in "BCDF" else 4000 if faster else 60_000


def predict(panel, seed, samples, faster):
    """A single sine has many minima; one unit of F or H, which grows without bound, takes long to relax."""
    levels = NarrowLevels(1, tries=6 if panel in "FH" else 20, size=1.0)
    return (UnitOrder(), levels, NearestSaddle(plateaus=None)) if panel != "B" else (UnitOrder(),)


def save_at(panel, seed, samples, faster):
    return every(steps(panel, faster) // 200, steps(panel, faster))


def after_first_drop(run):
    """The first layer's weights right after the first drop; None without one."""
    first = next(iter(run.stages.drops), None)
    if first is None:
        return None
    i = int(np.argmin(np.abs(run.saved_step.values - first.end)))
    return run.param_u.values[i]


def rank_one(run):
    """What is left of the first-layer weights beside their first direction, as a share: 0 for rank one."""
    if (u := after_first_drop(run)) is None:
        return np.inf
    s = np.linalg.svd(u, compute_uv=False)
    return float(s[1] / s[0])


def orders(results):
    found = {p: int(results.select(panel=p).predicted.order[0]) for p in results.values("panel")}
    text = ", ".join(f"{NAMES[p]} {o}" for p, o in found.items())
    return CheckResult(all(ORDERS[p] == o for p, o in found.items()), f"measured orders: {text}", exact=True)


def distance(run):
    """The least of all middle plateaus: how far the weights there are from an embedded fixed point of one unit, over
    the weights. NaN without a plateau, or where no such point is found."""
    said, there = run.predicted, run.finite and len(run.stages.plateaus) > 2
    return float(said["distance"]) if there and "fixed" in said and bool(said["fixed"]) else np.nan


def no_saddle(results):
    return by_distance(results, lambda d: d > NEAR)


def one_unit(results):
    return by_distance(results, lambda d: d < NEAR)


def by_distance(results, test):
    found = {p: [distance(m) for m in results.select(panel=p).runs()] for p in results.values("panel")}
    good, n = sum(test(d) for of in found.values() for d in of), sum(map(len, found.values()))
    by = "; ".join(
        f"{p} {', '.join('none found' if np.isnan(d) else f'{d:.2g}' for d in of)}" for p, of in found.items()
    )
    groups = {p: (sum(map(test, of)), len(of)) for p, of in found.items()}
    text = f"{share_text(good, n)}; distance from the nearest fixed point of one unit {by}"
    return holds_in_share(good, n, text, groups=groups)


def one_then_two(results):
    """One large unit on every middle plateau, two or three at the end. How many plateaus there are, the drops tell."""
    rows: list[tuple[int, ...]] = [tuple(width_on_plateaus(m, width)) if m.finite else () for m in results.runs()]
    good = [len(row) > 1 and set(row[:-1]) == {1} and row[-1] in (2, 3) for row in rows]
    those = [row for row, g in zip(rows, good, strict=True) if g]
    others = ", ".join(map(str, sorted({*rows} - {*those})))
    text = f"{share_text(len(those), len(rows))}; of these three units at the end in {sum(r[-1] == 3 for r in those)}, "
    text += f"exactly one middle plateau in {sum(len(r) == 2 for r in those)}"
    return holds_in_share(len(those), len(rows), text + (f"; others {others}" if others else ""))


def draw(results):
    return losses_and_weights(results, NAMES)


NOTES = {
    "H": "At this learning rate the loss swings on the plateau, between 1 and 3: a drop may come in two parts, or the "
    "second unit be large where the loss is lowest.",
}  # fmt: skip


UNBOUNDED = (
    "One unit does best with infinite weights, where it is |z| or z|z|: there is no fixed point to wait at, and the "
    "loss lies above its level."
)


def only(*panels):
    return {"panel": panels}


experiment = Experiment(
    title="Learning curves of seven activations, by the order of their first Taylor term",
    source="Fig. 4 B–H",
    setting=setting,
    full=dict(panel=NAMES, seed=range(11), samples=(8192,), faster=(False,)),
    where="seed < 5 or panel in ('E', 'F', 'G', 'H')",  # of these five may not tell; the others are far from undecided
    quick=dict(panel=("B", "D", "F"), seed=range(1), samples=(256,), faster=(True,)),
    save_at=save_at,
    observe=(width, Parameters()),
    predict=predict,
    draw=draw,
    drawn="Above, the loss of every run, the first seed thick, until it is learned; where it swings from step "
    "to step the range is shaded and the median drawn. Dashed: losses of zero weights and of the best "
    "net of one unit, on the first seed's data. Below, the first seed's first-layer weights, one dot "
    "per unit. Panel A of the paper is simplicity.fig4a.",
    claims=(
        Claim("The first term that does not vanish is of order 0, 1, 1, 2, 2, 3, 3.", "S27 · Fig. 4", orders,
              built=True),
        Claim("C, D: the weights are rank one after the first drop.", "S24 · Fig. 4",
              of_each(error_within(rank_one, 0.1, "second over first singular value"), "panel"), only("C", "D")),
        *(Claim(f"{p} ({NAMES[p]}): what follows is no saddle of one unit.", "S24 · Fig. 4", no_saddle, only(p))
          for p in "CD"),
        *(Claim(f"{p} ({NAMES[p]}): the plateau is a saddle, a fixed point of one unit.", f"{NUMBERS[p]} · Fig. 4",
                one_unit, only(p), note=UNBOUNDED if p in "FH" else "") for p in "EFGH"),
        *(Claim(f"{p} ({NAMES[p]}): the loss drops exactly twice.", f"{NUMBERS[p]} · Fig. 4", drops(2), only(p),
                note=NOTES.get(p, "")) for p in "EFGH"),
        *(Claim(f"{p} ({NAMES[p]}): one large unit on the plateau, two or three at the end.", f"{NUMBERS[p]} · Fig. 4",
                one_then_two, only(p), note=NOTES.get(p, "")) for p in "EFGH"),
    ),
)  # fmt: skip
