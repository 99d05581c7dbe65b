"""Mean-field paper, beyond it: does the law of L decide whether channels mean anything? Nothing is trained.

Two channels start in one direction of the plane, at `angle` degrees from the first axis, the same at
all points; the block above starts with weights of mean 1. Mixing laws have variance 1: Rademacher and
uniform have lighter tails than Gauss, Laplace heavier ones. If the law is invariant under rotations,
the output cannot depend on the angle, and the direction of f(x) cannot leave its line. The limit is
solved on 48² quadrature nodes to T = 20, with a leaky ReLU that is rounded by 1.
"""

import matplotlib.pyplot as plt
import numpy as np

from saddlescope.checks import always, decided_by
from saddlescope.claims import Claim
from saddlescope.experiment import Experiment
from saddlescope.figures import BLACK, WIDTH, letters
from saddlescope.meanfield import Measure, meanfield
from saddlescope.meanfield.by_nodes import follow_nodes
from saddlescope.meanfield.laws import (
    GaussianMixing,
    LaplaceMixing,
    RademacherMixing,
    StartLaw,
    UniformMixing,
)
from saddlescope.nets.activation import RoundedLeakyReLU

NODES, TIME = 48, 20.0
LAWS = {
    "Rademacher": RademacherMixing(),
    "uniform": UniformMixing(np.sqrt(3)),
    "Gauss": GaussianMixing(),
    "Laplace": LaplaceMixing(),
}
OTHERS = ("Rademacher", "uniform", "Laplace")
TARGETS = {"step": (1.0, -1.0), "constant": (1.0, 1.0), "uneven": (1.0, 0.5)}
SAME = 1e-5  # outputs: the rule of 48² nodes is exact to 4e-7
TURNED = 1e-3  # degrees


def measure(law, target, angle):
    way = np.cos(np.radians(angle)), np.sin(np.radians(angle))
    start = (StartLaw(mean=way, slope=way), StartLaw(mean=1, slope=0))
    data = Measure((-0.5, 0.5), TARGETS[target])
    limit = meanfield(data, 2, 1, RoundedLeakyReLU(1.0, 0.1), mixing=LAWS[law], start=start)
    channels, outputs = follow_nodes(limit, np.linspace(0, TIME, 21), nodes=NODES)
    found = np.degrees(np.arctan2(channels[..., 1], channels[..., 0]))
    return {
        "output": (("save", "point"), outputs[:, :, 0]),
        "turn": (("point",), (found[-1] - angle + 90) % 180 - 90),  # of a line: f may change its sign
    }


def spread(results):
    """How much outputs depend on the angle, in each target."""
    found = []
    for target in results.values("target"):
        outputs = results.select(target=target).measured.output.values
        found.append(np.ptp(outputs, axis=0).max())
    return np.array(found)


def invariant(results):
    if len(results.values("angle")) < 2:
        return None
    gaps = spread(results)
    text = f"largest change of an output with the angle {gaps.max():.1e} over {len(gaps)} targets, allowed {SAME:g}"
    return decided_by({"Gauss": bool((gaps <= SAME).all())}, text)


def dependent(results):
    if len(results.values("angle")) < 2:
        return None
    gaps = {law: spread(results.select(law=law)) for law in OTHERS if law in results.values("law")}
    text = ", ".join(f"{law} {g.min():.1e} to {g.max():.1e}" for law, g in gaps.items())
    return decided_by({law: bool((g > 10 * SAME).all()) for law, g in gaps.items()}, f"change of an output: {text}")


def stays(results):
    turn = np.abs(results.measured.turn.values)
    good = (turn <= TURNED).all(axis=1)
    return always(int(good.sum()), good.size, f"largest turn {turn.max():.1e}°, allowed {TURNED}°")


def between(results):
    """Flows that start on no axis and no diagonal."""
    return results.where(np.isin(results.measured.angle.values % 45, (0.0,), invert=True))


def turns(results):
    part = between(results.select(law=OTHERS)).measured
    turn = np.abs(part.turn.values).max(axis=1)
    good = turn > TURNED
    text = ", ".join(
        f"{law} {np.median(turn[part.law == law]):.2f}°" for law in dict.fromkeys(part.law.values.tolist())
    )
    return always(int(good.sum()), good.size, f"{good.sum()} of {good.size} flows; median turn {text}")


def draw(results):
    targets = results.values("target")
    figure, axes = plt.subplots(1, len(targets), figsize=(WIDTH, 2.7), squeeze=False)
    for ax, target in zip(axes[0], targets, strict=True):
        for law in results.values("law"):
            m = results.select(law=law, target=target).measured.sortby("angle")
            ax.plot(m.angle, m.turn.values[:, -1], "o-", ms=3, lw=1, label=law)
        ax.axhline(0, color=BLACK, lw=0.6)
        ax.set(xlabel="angle at the start, degrees", xticks=(0, 15, 30, 45))
        ax.set_title(f"targets {' and '.join(f'{y:g}' for y in TARGETS[target])}".replace("-", "−"))
    axes[0, 0].set_ylabel("turn of f(0.5) at T = 20, degrees")
    letters(axes[0])
    figure.legend(*axes[0, 0].get_legend_handles_labels(), loc="outside lower center", ncols=4)
    return figure


experiment = Experiment(
    title="The law of the mixing weights decides whether channel axes mean anything",
    source="Section 3, Remark G.1",
    measure=measure,
    full=dict(law=tuple(LAWS), target=tuple(TARGETS), angle=(0.0, 7.5, 15.0, 22.5, 30.0, 37.5, 45.0)),
    quick=dict(law=tuple(LAWS), target=("step", "constant"), angle=(0.0, 15.0, 30.0, 45.0)),
    draw=draw,
    drawn="Each mark is one flow of the limit: by how much the line of the two channels at x = ½ has turned, "
    "against its angle at the start.",
    claims=(
        Claim(
            "With Gaussian mixing outputs do not depend on the angle of the channels.",
            "ours",
            invariant,
            only={"law": "Gauss"},
        ),
        Claim(
            "With Gaussian mixing channels stay on their line: axes mean nothing.", "ours", stays, only={"law": "Gauss"}
        ),
        Claim("With other laws outputs depend on the angle.", "ours", dependent),
        Claim("With other laws channels leave their line, unless it is an axis or a diagonal.", "ours", turns),
    ),
)
