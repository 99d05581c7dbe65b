"""Escape paper, Section 5: a small start makes the layers of linear nets rank one, but not the first of a ReLU net.

Depth three. ReLU nets of width 64 learn Example 1, whose optimal escape direction has rank two in W_1. Linear nets
learn a teacher with singular values in the ratio 3 : 2 : 1. The same draw is scaled to several sizes. A run ends when
its loss has fallen by a twentieth, and s₂/s₁ of every layer is read there, with the speed of the direction in units in
which G is ±1. The scales go down to 1e-8: a first form ended at 1e-4, where the direction of ReLU nets has not
converged when they escape, and s₂/s₁ of W_2 is .56.
"""

import matplotlib.pyplot as plt
import numpy as np

from saddlescope.checks import holds_in_share, in_most_runs, share_text
from saddlescope.claims import CheckResult, Claim
from saddlescope.experiment import Experiment
from saddlescope.figures import BLUE, GREEN, ORANGE, letters
from saddlescope.nets import BiasFreeMLP, Identity, ReLU
from saddlescope.observables import Parameters
from saddlescope.optimisers import LossBelow, NormScaledDescent
from saddlescope.papers.escape._example1 import successes
from saddlescope.setting import Setting
from saddlescope.tasks import LinearTeacher, Points
from saddlescope.theory.escape.localized import circle, localized_loss, norm_of

DEPTH, WIDTH, STEPS = 3, 64, 20_000
SCALES = (1e-2, 1e-4, 1e-6, 1e-8)
LEFT = 0.95  # of the loss at the start, which is 1
CHANGED = "The scales of a first form ended at 1e-4, where the direction of ReLU nets has not converged."
ONE, TWO = 0.1, 0.5  # s₂/s₁ of a layer that counts as rank one, and of one that does not


def setting(net, scale, seed):
    X, G = circle(8)
    example = Points(X.T, -G.T)  # squared loss: G = -(2/N) y
    teacher = LinearTeacher(np.diag((3.0, 2.0, 1.0)) / np.sqrt(14), np.eye(3), samples=2000)
    return Setting(
        task=example if net == "relu" else teacher,
        net=BiasFreeMLP((WIDTH,) * (DEPTH - 1), scale, ReLU() if net == "relu" else Identity()),
        optimiser=NormScaledDescent(0.5 if net == "relu" else 0.1, 1),
        steps=STEPS,
        stop=LossBelow(LEFT),
        seed=seed,
    )


def analyse(run, made, net):
    """At the end, where the run has escaped."""
    weights = [run[f"param_W{j}"].values[-1] for j in range(1, DEPTH + 1)]
    values = [np.linalg.svd(w, compute_uv=False) for w in weights]
    size = np.sqrt(DEPTH) / norm_of(weights)
    speed = -localized_loss([size * w for w in weights], *circle(8)) if net == "relu" else 0.0
    # A last layer with one output has one singular value.
    ratio = np.array([v[1] / v[0] if len(v) > 1 else 0.0 for v in values])
    return {"ratio": (("layer",), ratio), "speed": float(speed), "escaped": bool(run["loss"].values[-1] < LEFT)}


def smallest(results):
    """Runs from the smallest start."""
    return results.select(scale=min(results.values("scale")))


def at_smallest(test, only_fast=False):
    """test(ratios) in most runs from the smallest start, if asked those faster than every rank-one direction."""

    def check(results):
        part = smallest(results)
        if only_fast:
            part = part.where(successes(part.measured.speed.values))
            if not part.measured.sizes["run"]:
                return CheckResult(False, "no run escapes along a rank-two direction", unclear=True)
        return in_most_runs(lambda run: bool(run.escaped) and test(run.ratio.values), lambda r: said(results))(part)

    return check


def said(results):
    rows = []
    for scale in results.values("scale"):
        part = results.select(scale=scale).measured
        ratios = " ".join(f"{v:.2g}" for v in np.median(part.ratio.values, axis=0) if v > 0)  # one output has no s₂
        rows.append(f"{scale:g}: {ratios}{_along_rank_two(part)}")
    return f"median s₂/s₁ by layer at scale {'; '.join(rows)}"


def _along_rank_two(part):
    """How many ReLU nets leave along a direction of rank two; a linear net has none."""
    if "linear" in part.net.values:
        return ""
    return f" ({int(successes(part.speed.values).sum())} of {part.sizes['run']} along rank two)"


def direction_found(results):
    """From the smallest start most runs leave along a direction that is faster than rank one."""

    def left_fast(run):
        return bool(run.escaped) and bool(successes(run.speed.values))

    return in_most_runs(left_fast, lambda r: said(results))(smallest(results))


def falls(results):
    """s₂/s₁ of W_2 is at the smallest start at most half of that at the largest, draw by draw; both have escaped."""
    large = results.select(scale=max(results.values("scale"))).measured
    small = smallest(results).measured
    if len(results.values("scale")) < 2:
        return None
    factors = large.ratio.values[:, 1] / np.maximum(small.ratio.values[:, 1], 1e-300)
    good = (factors >= 2) & large.escaped.values.astype(bool) & small.escaped.values.astype(bool)
    text = f"{share_text(int(good.sum()), good.size)}; falls by a factor of {np.median(factors):.2g} (median)"
    return holds_in_share(good.sum(), good.size, f"{text}; {said(results)}")


def draw(results):
    nets = results.values("net")
    figure, axes = plt.subplots(1, len(nets), squeeze=False, figsize=(6.5, 2.8), sharey=True)
    for ax, net in zip(axes[0], nets, strict=True):
        part = results.select(net=net).measured
        for layer, colour in enumerate((BLUE, ORANGE, GREEN)):
            there = part.ratio.values[:, layer] > 0  # one output has one singular value
            ax.loglog(
                part.scale.values[there] * 1.5 ** (layer - 1),  # beside each other
                part.ratio.values[there, layer],
                "o",
                ms=3,
                color=colour,
                label=f"layer {layer + 1}",
            )
        ax.axhline(ONE, color="0.5", ls="--", lw=0.8)
        ax.set(xlabel="deviation of initial weights", title={"relu": "ReLU", "linear": "linear"}[net])
    axes[0, 0].set_ylabel("$s_2/s_1$ at the escape")
    most = max(axes[0], key=lambda ax: len(ax.lines))
    figure.legend(*most.get_legend_handles_labels(), ncols=3, loc="outside lower center")
    letters(axes[0])
    return figure


experiment = Experiment(
    title="Smaller starts at depth three: the first layer of a ReLU net stays rank two",
    source="Section 5",
    setting=setting,
    observe=(Parameters(),),
    analyse=analyse,
    full=dict(net=("relu", "linear"), scale=SCALES, seed=range(12)),
    quick=dict(net=("relu", "linear"), scale=(1e-2, 1e-8), seed=range(5)),
    draw=draw,
    drawn="s₂/s₁ of each layer at the escape, by the deviation of initial weights: one dot per run, layers side by "
    "side. Dashed: what counts as rank one. The last layer of the ReLU net has one output, and so one singular "
    "value.",
    claims=(
        Claim(
            "Descent from a small start leaves along a direction that is faster than any of rank one.",
            "E77 · Section 5, conjecture 1",
            direction_found,
            {"net": "relu"},
            note=CHANGED,
        ),
        Claim(
            f"A small start is not enough: in ReLU nets that leave faster than rank one, W_1 keeps s₂/s₁ > {TWO:g}.",
            "E87 · Section 5",
            at_smallest(lambda ratio: ratio[0] > TWO, only_fast=True),
            {"net": "relu"},
            note=CHANGED,
        ),
        Claim(
            f"Its second layer becomes rank one (s₂/s₁ < {ONE:g}).",
            "E87 · Section 5",
            at_smallest(lambda ratio: ratio[1] < ONE),
            {"net": "relu"},
            note=f"It does so slowly: from 1e-2 to 1e-8 its s₂/s₁ falls from .7 to .15. {CHANGED}",
        ),
        Claim(
            "Its second layer comes nearer to rank one as the start becomes smaller: s₂/s₁ halves at least.",
            "ours",
            falls,
            {"net": "relu"},
            note="Asked after the claim above had failed.",
        ),
        Claim(
            "Control: in a linear net a small start makes every layer rank one.",
            "E87 · Section 5",
            at_smallest(lambda ratio: bool(np.all(ratio < ONE))),
            {"net": "linear"},
            note=CHANGED,
        ),
    ),
)
