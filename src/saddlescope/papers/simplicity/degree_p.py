"""Simplicity paper, Eq. 15 and 16 and the conjecture for degree p: the largest initial unit
dominates.

Closed form of v̇ = v^p: v(t) = (v(0)^{1-p} - (p - 1) t)^{-1/(p-1)}, against a solver. When the
largest of ten reaches one, how large is the second? For p = 1 all keep their ratio. That the second
grows less for a higher p is algebra here. The paper's conjecture is about nets whose units are of
degree p: linear, quadratic and cubic nets of ten units from the same draw, on a teacher of two
units like theirs; at the first drop, by which factor has the second largest unit grown?
"""

import matplotlib.pyplot as plt
import numpy as np
from scipy.integrate import solve_ivp

from saddlescope.checks import always, groups_by, holds_in_share, share_text
from saddlescope.claims import Claim
from saddlescope.experiment import Experiment
from saddlescope.figures import BLACK, BLUE, ORANGE, WIDTH, letters, plain_ticks
from saddlescope.nets import Cube, Identity, Neuron, Square, Units
from saddlescope.observables import Parameters
from saddlescope.optimisers import GradientDescent
from saddlescope.setting import Setting
from saddlescope.sweeps import TrainJob
from saddlescope.tasks import Teacher
from saddlescope.theory import FirstDrop, PowerGrowth
from saddlescope.training import SaveAt

UNITS, EPS, SMALL = 10, 1e-3, 0.1
NETS = {1: (Identity(), 0.01), 2: (Square(), 0.01), 3: (Cube(), 0.002)}  # by degree, with a stable learning rate
NET_EPS, STEPS = 0.03, 3000
NONE = -1.0  # no drop in time


def start(seed):
    return np.sort(np.abs(EPS * np.random.default_rng(seed).standard_normal(UNITS)))[::-1]


def setting(p, seed):
    """A net of units of degree p; none of degree four."""
    if p not in NETS:
        return {}
    activation, lr = NETS[p]
    task = Teacher(activation, ((1, 0), (0, 1)), None)
    net = Units(UNITS, Neuron(activation), NET_EPS)
    return {"whole": Setting(task, net, GradientDescent(lr), steps=STEPS, seed=seed)}


def follow(runs, settings):
    """The same net once more, up to its first drop, with its weights at the start and there."""
    drop = first_drop(runs["whole"]) if runs else None
    if not drop:
        return {}
    return {"to the drop": TrainJob(settings["whole"].replace(steps=drop), (Parameters(),), SaveAt(steps=(0,)))}


def first_drop(run):
    return next((round(d.at) for d in run.stages.drops), None)


def predict(p, seed):
    return (PowerGrowth(p, tuple(start(seed))), *((FirstDrop(),) if p in NETS else ()))


def analyse(runs, _, p, seed):
    """The equation, by a solver; and the growth of a net's second unit until the first drop."""
    found = solved(start(seed), p)
    return found | ({"net_growth": in_net(runs.get("to the drop"))} if p in NETS else {})


def solved(v0, p):
    """When the first unit reaches one, and the size of all units then."""

    def one(_, v):
        return v[0] - 1

    one.terminal = True
    longest = 2 * (-np.log(v0[0]) if p == 1 else v0[0] ** (1 - p) / (p - 1))
    exact = dict(rtol=1e-12, atol=1e-18, method="DOP853")
    run = solve_ivp(lambda _, v: v**p, (0, longest), v0, events=one, **exact)  # type: ignore[arg-type]
    return {"time": float(run.t[-1]), "size": (("unit",), run.y[:, -1])}


def in_net(run):
    """The second largest unit's growth from the start to the first drop; NONE without one."""
    if run is None:
        return NONE
    theta = np.concatenate([run.param_u.values, run.param_v.values], axis=2)  # instant × unit × weight
    begin, end = (np.linalg.norm(theta[i], axis=1) for i in (0, -1))
    second = int(np.argsort(end)[-2])
    return float(end[second] / begin[second])


def closed_form(results):
    gap = gaps(results)
    good = int(np.sum(gap < 1e-5))
    text = f"{share_text(good, len(gap))}; largest gap to the solver {gap.max():.1e}, allowed 1e-5"
    return always(good, len(gap), text)


def gaps(results):
    """The largest gap to the solver: of the time when the first is one, or of the others' size."""
    m, said = results.measured, results.predicted
    time = np.abs(m.time.values / said.time.values - 1)
    size = np.abs(said["size"].values[:, 1:] / m["size"].values[:, 1:] - 1).max(axis=1)
    return np.maximum(time, size)


def seconds(results):
    """The second largest unit when the first is one, by the solver."""
    return results.measured["size"].values[:, 1]


def stays_small(results):
    second = seconds(results)
    good = int(np.sum(second < SMALL))
    spread = f"median {np.median(second) / EPS:.2g} ε, largest {second.max() / EPS:.3g} ε"
    text = f"{share_text(good, len(second))} below {SMALL:g}; {spread}"
    return holds_in_share(good, len(second), text, groups=groups_by(results, "p", second < SMALL))


def keeps_up(results):
    second = seconds(results)
    good = int(np.sum(second > SMALL))
    return holds_in_share(
        good, len(second), f"{share_text(good, len(second))} above {SMALL:g}; median {np.median(second):.2g}"
    )


def stronger(lower, higher):
    """In nets the second unit has grown by less at the higher degree, draw by draw."""

    def check(results):
        growth = {p: results.select(p=p).measured.sortby("seed").net_growth.values for p in (lower, higher)}
        if any(not len(g) for g in growth.values()):
            return None
        seen = (growth[lower] != NONE) & (growth[higher] != NONE)
        good = int(np.sum(seen & (growth[higher] < growth[lower])))
        text = ", ".join(f"p = {p}: {np.median(g[g != NONE]):.3g}" for p, g in growth.items())
        text += f"; {np.sum(~seen)} without a drop" if not seen.all() else ""
        text = f"{share_text(good, len(seen))}; growth of the second unit, median {text}"
        return holds_in_share(good, len(seen), text)

    return check


def draw(results):
    figure, (left, right) = plt.subplots(1, 2, figsize=(WIDTH, 2.7))
    for m in results.runs():
        p, said = int(m.p), m.predicted
        left.semilogy(p, m["size"][1], "o", color=BLUE, ms=4, mfc="none")
        left.semilogy(p, said["size"][1], "x", color=BLACK, ms=3)
        if p in NETS and m.net_growth != NONE:
            right.semilogy(p - 0.05, m.net_growth, "o", color=ORANGE, ms=4, mfc="none")
            right.semilogy(p + 0.05, said["net_growth"], "x", color=BLACK, ms=3)
    for ax, colour, word in ((left, BLUE, "by a solver"), (right, ORANGE, "trained")):
        ax.plot([], [], "o", color=colour, mfc="none", label=word)
        ax.plot([], [], "x", color=BLACK, label="predicted")
    left.axhline(EPS, color="0.5", ls="--", lw=0.8, label="ε")
    left.set(xlabel="degree p", ylabel="second largest when the first is one", xticks=results.values("p"),
             title="$\\dot v = v^p$")  # fmt: skip
    right.set(xlabel="degree p of the units", ylabel="growth of the second unit", xticks=list(NETS),
              title="nets, at the first drop")  # fmt: skip
    for ax in (left, right):
        ax.legend()
    plain_ticks(right.yaxis)
    letters((left, right))
    return figure


experiment = Experiment(
    title="Growth of v̇ = v^p: the largest initial unit dominates",
    source="Eq. 15, 16; Section 5.2",
    setting=setting,
    full=dict(p=(1, 2, 3, 4), seed=range(50)),
    quick=dict(p=(1, 2, 3), seed=range(3)),
    analyse=analyse,
    follow=follow,
    predict=predict,
    draw=draw,
    drawn="A: the second largest of ten units when the largest is one, by the degree p, one mark per draw. B: "
    "the factor by which the second unit of a trained net has grown by the first drop. Crosses are "
    "predicted.",
    claims=(
        Claim("v̇ = v^p has the closed form of Eq. 15 and its siblings.", "S22 · Eq. 15", closed_form),
        Claim("For p = 2 the others are still small when the largest is one.", "S22 · Eq. 16", stays_small, {"p": 2}),
        Claim("For p = 3 and 4 the others are still small when the largest is one.",
              "ours", stays_small, {"p": (3, 4)}),
        Claim("Control: for p = 1 the second unit keeps up with the largest.", "ours", keeps_up, {"p": 1}),
        Claim("Control: of linear units the second has grown more than of quadratic ones.", "ours", stronger(1, 2)),
        Claim("Conjecture: in nets the separation is stronger for cubic units than for quadratic ones.",
              "S23 · Section 5.2", stronger(2, 3)),
    ),
)  # fmt: skip
