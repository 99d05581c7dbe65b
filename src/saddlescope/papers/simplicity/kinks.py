"""Simplicity paper, abstract: ReLU nets learn solutions with an increasing number of kinks.

Counted on the map itself, not on the weights. Without biases a map of ReLUs is linear between lines through the
origin: on a circle its second difference is zero but where the slope jumps. Jumps within ten degrees are one kink, and
those below a tenth of the largest are none. Two-layer nets of Fig. 1 D and E, in E on the two planes that a kernel
sees; the net of three layers of Fig. 5C. Linear units are the control: they have none.
"""

import numpy as np

from saddlescope.checks import holds_in_share, in_most_runs, share_text
from saddlescope.claims import Claim
from saddlescope.experiment import Experiment
from saddlescope.figures import BLACK, BLUE, ORANGE, WIDTH, letters
from saddlescope.observables import Parameters
from saddlescope.papers.simplicity import fig5
from saddlescope.papers.simplicity._panels import SAMPLES, STEPS, panel_setting
from saddlescope.training import every

NAMES = {"1B": "linear", "1D": "ReLU", "1E": "ReLU convolution", "5C": "ReLU, ReLU"}
ANGLES, NEAR, SMALL, FLAT = 1440, 10.0, 0.1, 1e-9  # on the circle; degrees; of the largest jump; of the map


def setting(panel, seed):
    return panel_setting(panel[1:], seed) if panel[0] == "1" else fig5.setting(panel[1:], seed, SAMPLES, smaller=5)


def save_at(panel, seed):
    steps = STEPS[panel[1:]] if panel[0] == "1" else 5 * fig5.STEPS[panel[1:]]
    return every(steps // 1000, steps)


def analyse(run, made):
    """Kinks of the map on the middle plateau, or -1 without one, and at the end; and the maps themselves."""
    plateaus = run.stages.plateaus
    middle = int(np.argmin(np.abs(run.times - plateaus[1].at))) if len(plateaus) > 2 else None
    both = [on_circles(run, made, i) for i in (middle, -1) if i is not None]
    counts = [kinks(maps) for maps in both]
    return {
        "kinks": (("place",), np.array(counts if len(both) == 2 else [-1, *counts])),
        "map": (("place", "angle"), np.array([maps[0] for maps in (both if len(both) == 2 else [both[0]] * 2)])),
    }


def on_circles(run, made, i):
    """The first output around the unit circle of each pair of inputs."""
    names = [str(n).removeprefix("param_") for n in run.measured if str(n).startswith("param_")]
    params = {n: run[f"param_{n}"].values[i] for n in names if not n.endswith("length")}
    angle, inputs = 2 * np.pi * np.arange(ANGLES) / ANGLES, made.task.inputs
    circles = np.zeros((inputs // 2, ANGLES, inputs))
    for k, circle in enumerate(circles):
        circle[:, 2 * k], circle[:, 2 * k + 1] = np.cos(angle), np.sin(angle)
    return [np.asarray(made.net(params, circle))[:, 0] for circle in circles]


def kinks(maps):
    """Different lines through the origin at which the slope jumps, of all circles together."""
    half, jumps = ANGLES // 2, np.zeros(ANGLES // 2)
    for f in maps:  # a map linear here has f(θ + δ) + f(θ - δ) = 2 cos δ f(θ)
        jump = np.abs(np.roll(f, 1) + np.roll(f, -1) - 2 * np.cos(2 * np.pi / ANGLES) * f)
        jumps = np.maximum(jumps, np.maximum(jump[:half], jump[half:]))
    size = max(np.abs(f).max() for f in maps)
    if jumps.max() < FLAT * size:
        return 0
    return groups(np.flatnonzero(jumps > SMALL * jumps.max()))


def groups(places):
    """How many groups there are of places on a half circle, of which neighbours lie within ten degrees."""
    near = NEAR / 360 * ANGLES
    around = np.append(places, places[0] + ANGLES // 2)
    return max(1, int(np.sum(around[1:] - around[:-1] > near)))


def grows(run):
    """One kink on the plateau, two at the end."""
    return tuple(run.kinks.values) == (1, 2)


def more(run):
    """More kinks at the end than on the plateau, and one or more there."""
    return 1 <= run.kinks.values[0] < run.kinks.values[1]


def counted(results):
    of = lambda p: [tuple(map(int, m.kinks.values)) for m in results.select(panel=p).runs()]  # noqa: E731
    pairs = {p: of(p) for p in results.values("panel")}
    return "kinks on the plateau and at the end " + "; ".join(
        f"{NAMES[p]}: {', '.join(f'{a} then {b} ({found.count((a, b))})' for a, b in sorted(set(found)))}"
        for p, found in pairs.items()
    )


def none(results):
    found = np.array([m.kinks.values for m in results.runs()])
    good = int(np.sum(np.all(found == 0, axis=1)))
    return holds_in_share(good, len(found), f"{share_text(good, len(found))}; {counted(results)}")


def draw(results):
    import matplotlib.pyplot as plt

    shown = [p for p in NAMES if results.select(panel=p).measured.sizes["run"]]
    figure, axes = plt.subplots(1, len(shown), figsize=(WIDTH, 2.1), squeeze=False)
    degrees = 360 * np.arange(ANGLES) / ANGLES
    for ax, p in zip(axes[0], shown, strict=True):
        m = next(iter(results.select(panel=p).runs()))
        for values, colour, word in zip(m["map"].values, (BLUE, ORANGE), ("middle plateau", "end"), strict=True):
            ax.plot(degrees, values, color=colour, label=word)
        ax.axhline(0, color=BLACK, lw=0.4)
        ax.set(title=NAMES[p], xlabel="angle (degrees)", xticks=(0, 180, 360))
    axes[0, 0].set_ylabel("output of the net")
    figure.legend(*axes[0, 0].get_legend_handles_labels(), loc="outside lower center", ncols=2)
    letters(axes[0])
    return figure


RELU = ("1D", "1E")
experiment = Experiment(
    title="ReLU nets: the number of kinks of the map grows from one to two",
    source="Abstract",
    setting=setting,
    full=dict(panel=NAMES, seed=range(20)),
    quick=dict(panel=("1B", "1D"), seed=range(2)),
    save_at=save_at,
    observe=(Parameters(),),
    analyse=analyse,
    draw=draw,
    drawn="The map of the first seed, by the angle of the input on the unit circle of the first two inputs, on the "
    "middle plateau and at the end. Between kinks it is a sine.",
    claims=(
        Claim("Two-layer ReLU nets have a map of one kink on the plateau, and of two at the end.", "S67 · Abstract",
              in_most_runs(grows, counted, by="panel"), {"panel": RELU}),
        Claim("A ReLU net of three layers has more kinks at the end than on the plateau.", "S67 · Abstract",
              in_most_runs(more, counted), {"panel": "5C"}),
        Claim("Control: the map of a linear net has no kink.", "ours", none, {"panel": "1B"}),
    ),
)  # fmt: skip
