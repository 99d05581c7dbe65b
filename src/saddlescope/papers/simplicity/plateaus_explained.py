"""Our own predictions: which saddle a plateau is, its level, and when it ends, for all plateaus of
Fig. 1 and of tanh.

From the weights on a plateau alone: the embedded fixed point nearest to them, how far it is, its
loss, and the step at which growth in its residual gives the next drop (Theorem 4 for linear units,
Proposition 5 for quadratic ones, third order for attention, φ itself for any other). Tanh is the
control: by the paper its plateau is not a saddle of one unit.
"""

import matplotlib.pyplot as plt
import numpy as np

from saddlescope.checks import holds_in_share, in_most_runs
from saddlescope.claims import Claim
from saddlescope.experiment import Experiment
from saddlescope.explanations import NextDrops, saved_weights
from saddlescope.figures import BLACK, BLUE, GREEN, ORANGE, PURPLE, RED, SKY, WIDTH, letters, plain_ticks
from saddlescope.nets import Neuron, Tanh, Units
from saddlescope.observables import Parameters
from saddlescope.optimisers import GradientDescent
from saddlescope.papers.simplicity._manifolds import KINDS, LINEAR, OFF, RELU, SAID, STEEP, along, off, residuals
from saddlescope.papers.simplicity._panels import NAMES, panel_setting
from saddlescope.setting import Setting
from saddlescope.tables import Table
from saddlescope.tasks import Teacher
from saddlescope.theory import NearestSaddle
from saddlescope.training import every

ALL = NAMES | {"tanh": "tanh"}
NARROWER = {"span": ("rays", "silent", "equal"), "rays": ("silent", "equal"), "silent": ("equal",)}
COLOURS, MARKS = (BLUE, ORANGE, GREEN, RED, PURPLE, SKY, BLACK, "0.5"), "osD^v<>p"
NEAR = 0.1  # of the weights


def setting(panel, seed):
    if panel != "tanh":
        return panel_setting(panel, seed)
    teacher = Teacher(Tanh(), ((1, 0), (0, 2)), 2048)
    return Setting(teacher, Units(50, Neuron(Tanh()), 1e-6), GradientDescent(0.02), steps=3000, seed=seed)


def save_at(panel, seed):
    budget = setting(panel, seed).budget
    return every(budget // 1000, budget)


def analyse(run, made, panel):
    """The drops; the middle plateau's level; distances from manifolds, there and at the end."""
    plateaus = run.stages.plateaus
    middle = saved_weights(run, plateaus[1]) if len(plateaus) > 2 else None
    found = {"drop_step": (("drop",), np.array(drops_after_plateaus(run)))}
    if middle is not None:
        off = residuals(panel, run, middle[1])
        found |= {"level": plateaus[1].level, "off": (("place", "kind"), off)}
    if panel in SAID:
        found["along"] = (
            ("passed",),
            np.array([along(run, drop, KINDS[SAID[panel]], k) for k, drop in enumerate(run.stages.drops[:2], 1)]),
        )
    return found


def drops_after_plateaus(run):
    """The step of the first drop after each plateau that weights were saved on."""
    falls = [d.at for d in run.stages.drops]
    read = [p.at for p in run.stages.plateaus if saved_weights(run, p) is not None]
    after = [next((at for at in falls if at > start), None) for start in read]
    return [at for at in after if at is not None]


def gaps(results):
    """|predicted - measured| of every drop over the wait for it, from the instant that was read."""
    return np.concatenate([np.zeros(0), *gaps_by_run(results)])


def gaps_by_run(results):
    return [gaps_of(run) for run in results.runs() if "drop_step" in run]


def gaps_of(run):
    said, read = (run.predicted[name].values for name in ("drop_step", "read_step"))
    drop = run["drop_step"].values
    return np.abs(said - drop) / (drop - read)


def by_panel(results, say):
    return "; ".join(f"{p}: {say(results.select(panel=p))}" for p in results.values("panel"))


def median_gap(part):
    return f"{np.median(gaps(part)):.1%}" if gaps(part).size else "no drop"


def times_within(limit):
    """Most drops come within this share of the wait; decided for each panel and drop as well."""

    def check(results):
        found = gaps(results)
        good = int(np.sum(found < limit))
        text = f"{good} of {len(found)} drops within {limit:.0%} of the wait; median gap "
        text += by_panel(results, median_gap)
        return holds_in_share(good, len(found), text, groups=by_panel_and_drop(results, limit))

    return check


def by_panel_and_drop(results, limit):
    """Good and all, for the first drop of each panel, the second, and so on."""
    groups = {}
    for panel in results.values("panel"):
        rows = gaps_by_run(results.select(panel=panel))
        for k in range(max(map(len, rows), default=0)):
            kth = [row[k] < limit for row in rows if len(row) > k]
            groups[f"{panel}, drop {k + 1}"] = sum(kth), len(kth)
    return groups


def kind_as_said(run):
    """On the plateau and at the end near the manifold that the paper names; at the end far from all smaller ones."""
    said = SAID[str(run.panel.values)]
    near = max(off(run, place, said) for place in (0, 1)) < NEAR
    return near and min(off(run, 1, kind) for kind in NARROWER[said]) > NEAR


def not_equal_units(run):
    return np.isfinite(off(run, 0, "inner")) and min(off(run, place, "inner") for place in (0, 1)) > NEAR


def distances(results):
    def say(part):
        found = [m.off.values[1] for m in part.runs() if "off" in m]
        return ", ".join(f"{n} {d:.2g}" for n, d in zip(OFF, np.median(found, axis=0), strict=True)) if found else "–"

    return f"median distance at the end from {by_panel(results, say)}"


def is_saddle(name):
    """A fixed point beside which the loss is lower: with the net's own units, or with one silent unit more."""

    def test(run):
        p = run.predicted
        return waits(run) and "fixed" in p and bool(p.fixed) and float(p[name]) > 1e-12 * float(p.level)

    return test


def follows(run):
    """Both drops stay within a tenth of the manifold of one unit, and of two."""
    found = run.along.values if "along" in run else np.zeros(0)
    return len(found) == 2 and bool(np.all(found < NEAR))


def farthest(results):
    def say(part):
        found = [m.along.values for m in part.runs() if "along" in m and len(m.along.values) == 2]
        return " and ".join(f"{d:.2g}" for d in np.median(found, axis=0)) if found else "–"

    return f"median of the largest distance, first and second drop {by_panel(results, say)}"


def kinds_seen(results):
    kinds = lambda part: sorted(set(part.predicted.saddle.values.astype(str)))  # noqa: E731
    return by_panel(results, lambda part: ", ".join(kinds(part)))


def waits(run):
    """There is a middle plateau to read."""
    return "level" in run and float(run.level) > 0  # NaN without one


def close(run):
    return waits(run) and float(run.predicted.distance) < NEAR and bool(run.predicted.fixed)


def far(run):
    """A fixed point was found, and it is not near."""
    p = run.predicted
    return waits(run) and "fixed" in p and bool(p.fixed) and float(p.distance) > NEAR


def median_distances(results):
    median = lambda part: np.nanmedian(part.predicted.distance.values)  # noqa: E731
    return "median distance " + by_panel(results, lambda part: f"{median(part):.2g}")


def tables(results):
    rows = []
    for p in results.values("panel"):
        part = results.select(panel=p)
        found, said = gaps(part), part.predicted
        columns = ((part.measured, "level"), (said, "level"), (said, "distance"))
        middle = [float(np.nanmedian(d[n])) if n in d else None for d, n in columns]
        late = (float(np.median(found)), float(found.max())) if found.size else (None, None)
        rows.append((ALL[p], part.measured.sizes["run"], *middle, *late))
    columns = ("net", "seeds", "level", "level of the fixed point", "distance from it", "drop times, median gap",
               "largest gap")  # fmt: skip
    return (Table("plateaus", "The middle plateau and the drops, measured and predicted, medians", columns, rows),)


def finite(steps):
    return np.where(np.isinf(steps), np.nan, steps)


def draw(results):
    figure, (left, right) = plt.subplots(1, 2, figsize=(WIDTH, 3.5))
    names = [p for p in ALL if results.select(panel=p).measured.sizes["run"]]
    for k, p in enumerate(names):
        part = results.select(panel=p)
        style = {"color": COLOURS[k], "marker": MARKS[k], "ls": "", "ms": 3.5, "mfc": "none", "mew": 0.7}
        for m in part.runs():
            if "drop_step" in m:
                left.loglog(m["drop_step"], finite(m.predicted["drop_step"].values), **style)
        left.plot([], [], **style, label=ALL[p])
        said = SAID.get(p, "rays")
        nearby = [max(off(m, 0, said), 1e-6) for m in part.runs() if "off" in m]
        right.semilogy(np.full(len(nearby), k) - 0.15, nearby, "o", color=BLUE, ms=3.5, mfc="none", mew=0.7)
        distance = np.maximum(part.predicted.distance, 1e-6)
        place = np.full(len(distance), k) + 0.15
        right.semilogy(place, distance, "^", color=ORANGE, ms=3.5, mfc="none", mew=0.7)
    plain_ticks(left.xaxis, left.yaxis)
    ends = np.array(left.get_xlim())
    left.plot(ends, ends, color="0.5", ls="--", lw=0.8)
    right.axhline(NEAR, color="0.6", ls=":", lw=0.8)
    right.plot([], [], "o", color=BLUE, mfc="none", label="from the manifold of one unit")
    right.plot([], [], "^", color=ORANGE, mfc="none", label="from the nearest fixed point")
    left.set(xlabel="step of a drop, measured", ylabel="step predicted from the plateau before")
    right.set(ylabel="distance over the weights' norm", xticks=range(len(names)))
    right.set_xticklabels([ALL[p] for p in names], rotation=40, ha="right", rotation_mode="anchor")
    left.legend(loc="upper left")
    right.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0))
    letters((left, right))
    return figure


PAPER = {"panel": tuple(NAMES)}
SHORT = (
    "At times a second unit is above a tenth before the first plateau is flattest, or a third is left over at the end; "
    "attention's plateaus are short."
)
VISITED = (
    ("linear units (B, C)", "Eq. 7", LINEAR, ""), ("ReLU units (D, E)", "Eq. 6", RELU, ""),
    ("heads and quadratic units (F, G)", "Eq. 5", STEEP, SHORT),
)  # fmt: skip
experiment = Experiment(
    title="Each plateau: its nearest saddle, its level and when it ends",
    source="Sections 3–5; our own predictions",
    setting=setting,
    full=dict(panel=ALL, seed=range(20)),
    where="panel != 'tanh' or seed < 10",  # slow, and far from undecided
    quick=dict(panel=("B", "G"), seed=range(1)),
    save_at=save_at,
    observe=(Parameters(),),
    analyse=analyse,
    predict=(NextDrops(), NearestSaddle()),
    draw=draw,
    drawn="A: one mark per drop, measured and predicted from the weights on the plateau before it; the dashed "
    "line is equality. B: one pair of marks per run, the distance of the weights on the middle plateau "
    "from a manifold and from a fixed point of one unit; the dotted line is a tenth. Distances below a "
    "millionth are drawn there.",
    tables=tables,
    claims=(
        *(Claim(f"The fixed points visited by {units} are those of {equation}.", "S7 · Section 3",
                in_most_runs(kind_as_said, distances, by="panel"), {"panel": panels}, note=note)
          for units, equation, panels, note in VISITED),
        Claim("The fixed points visited are not those of Eq. 4.",
              "S60 · Remark 1", in_most_runs(not_equal_units, distances, by="panel"), PAPER),
        Claim("The embedded fixed points on the way are saddles.", "S6 · Section 3",
              in_most_runs(is_saddle("lower_here"), kinds_seen, by="panel"), PAPER),
        Claim("They are saddles with one silent unit more as well.", "S6 · Section 3",
              in_most_runs(is_saddle("lower_beside"), kinds_seen, by="panel"), PAPER),
        *(Claim(f"While the loss drops, the weights of {units} stay near the manifold of one unit more.",
                "S66 · Section 5, 7", in_most_runs(follows, farthest, by="panel"), {"panel": panels}, note=note)
          for units, _, panels, note in VISITED),
        *(Claim(f"On the plateau the weights of {units} lie within a tenth of an embedded fixed point of one unit.",
                "ours", in_most_runs(close, median_distances, by="panel"), {"panel": panels}, note=note)
          for units, _, panels, note in VISITED),
        Claim("Control: on the plateau of a tanh net the weights lie near no embedded fixed "
              "point of one unit.", "S24 · Section 5.2",
              in_most_runs(far, median_distances), {"panel": "tanh"}),
        Claim("Linear units: each drop comes when the linear system at the saddle before says, to 2 % of the wait.",
              "S18 · Eq. 12", times_within(0.02), {"panel": LINEAR},
              note="With W* = diag(1, ½) the second comes 2 to 3 % of the wait later: the first mode has not settled."),
        Claim("ReLU units: each drop comes when growth at the saddle before says, to 2 % of the wait.",
              "ours", times_within(0.02), {"panel": RELU}),
        Claim("Quadratic units and attention: each drop comes when growth at the saddle "
              "before says, to 5 % of the wait.", "ours", times_within(0.05),
              {"panel": STEEP},
              note="In six runs attention's second drop comes 5 to 13 % of a short wait later than said; on the "
              "shortest plateau of each kind the next unit is taken for one that has grown."),
    ),
)  # fmt: skip
