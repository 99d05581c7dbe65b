"""Simplicity paper, Fig. 5: deep nets visit a saddle of one effective unit as well, and the first
layer shows it.

A: three linear layers. B: a convolution, then linear layers. C: three ReLU layers. D: a ReLU
convolution, then a ReLU layer. E: a linear transformer. F: a quadratic layer, then a linear one.
Data as in Fig. 1; B, D and F have the scalar output split in two: by tap of the kernel (B, D) and
by unit of the teacher (F). E has residual connections around both parts, without which nothing is
learned, and with which its dense layers stay idle: it does what Fig. 1F does. D starts at 0.001,
where the others do at 0.005. A, B and F are trained on the population. The theory assumes small
weights. At these scales a rest of the initial draw is still visible: our own control starts from
weights five times smaller. Levels dashed in the figure are those of nets with narrower layers,
found by minimising their loss.
"""

import numpy as np

from saddlescope.checks import (
    drops,
    holds_in_share,
    in_most_runs,
    plateau_levels,
    share_text,
    width_on_plateaus,
    widths,
)
from saddlescope.claims import Claim
from saddlescope.experiment import Experiment
from saddlescope.nets import ConvUnit, DeepUnits, Identity, LinearTransformer, Neuron, ReLU, Square
from saddlescope.observables import ByNorm, ByRank, ByRays, EffectiveWidth, Parameters, SingularValues
from saddlescope.optimisers import GradientDescent
from saddlescope.papers.simplicity._panels import FOUR_POINTS, KERNEL_TEACHER, SAMPLES, losses_and_weights, task
from saddlescope.setting import Setting
from saddlescope.tables import Table
from saddlescope.tasks import InContextRegression, LinearTeacher, Points, Teacher
from saddlescope.theory import DeepLevels, Rays, Silent, Span, manifold_residual
from saddlescope.training import every

NAMES = {
    "A": "linear, linear", "B": "linear convolution, linear", "C": "ReLU, ReLU", "D": "ReLU convolution, ReLU",
    "E": "linear transformer", "F": "quadratic, linear",
}  # fmt: skip
RULES = {"A": ByRank(), "B": ByRank(), "C": ByRays(), "D": ByRays(), "E": ByNorm(), "F": ByNorm()}
KINDS = {"A": Span(), "B": Span(), "C": Rays(), "D": Rays(), "E": Silent(), "F": Silent()}
SMALLER = 5  # than the paper's, the initial weights of the control
STEPS = {"A": 4000, "B": 4000, "C": 6000, "D": 20_000, "E": 20_000, "F": 3000}
BOTH, WIDER = ((1, 1), (2, 2)), {"D": ((1, 1), (1, 2), (2, 2))}  # widths of the two layers, plateau by plateau
TRIES = {"C": 20, "D": 30, "E": 2}  # of ReLU nets most starts lead to worse minima
TAP = np.array([0, 1, 0, 1])  # of each input, in a kernel of two
NEAR = 0.1  # of the weights, as in `simplicity.plateaus_explained`: all but a hundredth of their square
WORDS = {"A": "direction", "B": "direction", "C": "ray", "D": "ray", "F": "unit"}
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
        "B": lambda: DeepUnits(50, ConvUnit(2, Identity()), (50,), 0.005 / smaller),
        "C": lambda: DeepUnits(50, Neuron(ReLU()), (50,), 0.005 / smaller, ReLU()),
        "D": lambda: DeepUnits(50, ConvUnit(2, ReLU()), (50,), 0.001 / smaller, ReLU()),
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


def predict(panel, **_):
    """Levels of nets of narrower layers. In D the second layer recruits before the first."""
    return (DeepLevels(WIDER.get(panel, BOTH), tries=TRIES.get(panel, 5)),)


def observe(panel, **_):
    second = (SingularValues(),) if panel == "A" else ()
    return EffectiveWidth(RULES[panel]), Parameters(("u",)), *second


def analyse(run, made, panel):
    """How far the first layer is from the manifold of one direction, ray or unit on each middle plateau; from that of
    one and of two at the end; over the weights."""
    u, at = run.param_u.values, [p.at for p in run.stages.plateaus[1:-1]]
    middle = [off(u[int(np.argmin(np.abs(run.times - t)))], KINDS[panel], 1) for t in at]
    end = [off(u[-1], KINDS[panel], k) for k in (1, 2)]
    found = {"off_middle": (("middle",), np.array(middle)), "off_end": (("units_left",), np.array(end))}
    return found | (second_values(run) if panel == "A" else {})


def off(u, kind, width):
    return manifold_residual({"u": u, "v": u[:, :0]}, kind, width)


def near_one_then_two(results):
    """Within a tenth of the manifold of one on every middle plateau; at the end of two, and not of one."""
    there = [m.finite and "off_middle" in m for m in results.runs()]
    rows = [(m.off_middle.values, m.off_end.values) if t else (np.zeros(0), np.zeros(2))
            for t, m in zip(there, results.runs(), strict=True)]  # fmt: skip
    good = [len(mid) > 0 and mid.max() < NEAR and end[1] < NEAR < end[0] for mid, end in rows]
    first = sum(tuple(width_on_plateaus(m, width)) == (1, 2) for m in results.runs() if m.finite)
    largest = max((mid.max() for mid, _ in rows if len(mid)), default=np.nan)
    text = f"{share_text(sum(good), len(good))}; largest distance on a plateau {largest:.2g}, at the end "
    text += f"{max(end[1] for _, end in rows):.2g}, allowed {NEAR:g}; widths 1 then 2, counted, in {first}"
    return holds_in_share(sum(good), len(good), text)


def second_values(run):
    """The three largest singular values of the second hidden layer, where the middle plateau is flattest (NaN without
    one) and at the end."""
    middle, end = (np.full(3, np.nan) if s is None else s[:3] for s in middle_and_end(run, "singular_values_W2"))
    return {"second_values": (("place", "value"), np.array([middle, end]))}


def middle_and_end(run, name):
    """A variable where the middle plateau is flattest, or nothing without one, and at the end."""
    plateaus, values = run.stages.plateaus, run[name].values
    middle = values[int(np.argmin(np.abs(run.times - plateaus[1].at)))] if len(plateaus) > 2 else None
    return middle, values[-1]


def second_layer(run):
    """The second hidden layer has rank one on the plateau and two at the end, by the rule of a tenth."""
    return [int(np.sum(s > 0.1 * s[0])) for s in run.second_values.values] == [1, 2]


def second_over_first(results):
    ratios = [m.second_values.values[0, 1] / m.second_values.values[0, 0] for m in results.runs()]
    return f"second over first singular value on the plateau {np.nanmin(ratios):.2g} to {np.nanmax(ratios):.2g}"


def held(u, kind, width):
    """The share of the squared first-layer weights that so many directions, rays or units hold."""
    return 1 - off(u, kind, width) ** 2


def tables(results):
    rows = []
    for panel, smaller in ((p, s) for s in (1, SMALLER) for p in NAMES):
        pairs = [middle_and_end(m, "param_u") for m in results.select(panel=panel, smaller=smaller).runs()]
        first = [held(u, KINDS[panel], 1) for u, _ in pairs if u is not None]
        ratio = [np.divide(*np.linalg.svd(u)[1][1::-1]) for u, _ in pairs if u is not None]
        last = [held(u, KINDS[panel], 2) for _, u in pairs]
        if first:
            numbers = [f(v) for v in (first, last) for f in (np.median, np.min)]
            rows.append((panel, smaller, KINDS[panel].name, len(pairs), *numbers, np.min(ratio), np.max(ratio)))
    columns = ("panel", "times smaller", "kind", "runs", "held by one on the plateau, median", "least",
               "held by two at the end, median", "least ", "second over first singular value, least",
               "largest")  # fmt: skip
    title = "Shares of the squared first-layer weights that one direction, ray or unit holds, and two"
    return (Table("held", title, columns, rows),)


def draw(results):
    part = results.select(smaller=1)
    return losses_and_weights(part if part.measured.sizes["run"] else results, NAMES, columns=3)


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
    "C": "One ray holds 98.8 % of the squared weights or more, two at the end 98 % or more; small units beside or "
    "between them count as rays of their own.",
    "D": TWO_PLATEAUS,
    "E": "As in Fig. 1F: a head above a tenth of the largest is there early, or left over at the end.",
    "F": "Several units grow together from weights this large: one holds a median of 92 % of the squared weights.",
}  # fmt: skip
CLOSER = {
    "D": TWO_PLATEAUS,
    "F": "Nearer: one unit holds a median of 99.6 % on the plateau, but in some runs units still grow together.",
}
# A and C wait ten times as long as a drop lasts, so that what decays on the way is below a thousandth, or half a per
# cent where units between the rays decay slowly. The others leave before they have settled.
LEVELS = {"A": 1e-3, "C": 5e-3}
experiment = Experiment(
    title="Deep nets: drops of the loss and effective units in the first layer",
    source="Fig. 5",
    setting=setting,
    full=dict(panel=NAMES, seed=range(40), samples=(SAMPLES,), smaller=(1, SMALLER)),
    quick=dict(panel=("A", "C"), seed=range(1), samples=(SAMPLES,), smaller=(1,)),
    # Of F at either scale, and of C from smaller weights, 20 and 10 could not tell. E is slow, and as Fig. 1F.
    where="(smaller == 1 and seed < 20) or (smaller > 1 and seed < 10 and panel != 'E') or panel == 'F' "
    "or (smaller > 1 and panel == 'C')",
    save_at=save_at,
    predict=predict,
    observe=observe,
    analyse=analyse,
    keep=("loss", width.name, "param_u"),
    draw=draw,
    drawn="Above, the loss of every run from the paper's initial weights, the first seed thick, until it is "
    "learned. Dashed: levels of nets with narrower layers. Below, the first seed's first-layer weights, "
    "one dot per unit, on the middle plateau and at the end.",
    tables=tables,
    claims=(
        *(Claim(f"{p} ({name}): the loss drops exactly twice.", "S37 · Fig. 5", drops(2),
                {"panel": p, "smaller": 1}, note=DROPS.get(p, "")) for p, name in NAMES.items()),
        *(Claim(f"{p} ({name}): the first layer has one effective unit on the plateau, two at the end.", "S37 · Fig. 5",
                widths(width, (1, 2)), {"panel": p, "smaller": 1}, note=WIDTHS.get(p, ""))
          for p, name in NAMES.items()),
        *(Claim(f"{p} ({name}): plateaus lie at the levels of nets with layers of "
                f"{' and '.join(map(str, WIDER.get(p, BOTH)[:-1]))} units, to {LEVELS.get(p, 0.05):.3g}.", "ours",
                plateau_levels(LEVELS.get(p, 0.05)),
                {"panel": p, "smaller": 1}, note=DROPS.get(p, "")) for p, name in NAMES.items()),
        Claim("A (linear, linear): the second hidden layer has rank one on the plateau, two at the end.",
              "S62 · Section 7", in_most_runs(second_layer, second_over_first), {"panel": "A", "smaller": 1}),
        *(Claim(f"{p} ({name}), from weights {SMALLER} times smaller: two drops.", "ours", drops(2),
                {"panel": p, "smaller": SMALLER}, note=DROPS.get(p, "")) for p, name in NAMES.items() if p != "E"),
        *(Claim(f"{p} ({name}), from weights {SMALLER} times smaller: the first layer is near one "
                f"{WORDS[p]} on the plateau, near two at the end.", "ours", near_one_then_two,
                {"panel": p, "smaller": SMALLER}, note=CLOSER.get(p, "")) for p, name in NAMES.items() if p != "E"),
    ),
)  # fmt: skip
