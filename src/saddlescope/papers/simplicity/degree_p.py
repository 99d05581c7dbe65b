"""Simplicity paper, Eq. 15 and 16 and the conjecture for degree p: the largest start grows away.

Closed form of v̇ = v^p: v(t) = (v(0)^{1-p} - (p - 1) t)^{-1/(p-1)}, against a solver. When the largest of ten reaches
one, how large is the second? For p = 1 all keep their ratio. That the second grows less for a higher p is algebra here.
The paper's conjecture is about nets whose units are of degree p: linear, quadratic and cubic nets of ten units from the
same draw, on a teacher of two units like theirs; at the first drop, by which factor has the second largest unit grown?
"""

import matplotlib.pyplot as plt
import numpy as np
from scipy.integrate import solve_ivp

from saddlescope.checks import always, holds_in_share, share_text
from saddlescope.claims import Claim
from saddlescope.experiment import Experiment
from saddlescope.figures import BLUE, ORANGE
from saddlescope.nets import Cube, Identity, Neuron, Square, Units
from saddlescope.observables import Parameters
from saddlescope.optimisers import GradientDescent
from saddlescope.results import Run
from saddlescope.setting import Setting
from saddlescope.tasks import Teacher
from saddlescope.training import SaveAt, train

UNITS, EPS, SMALL = 10, 1e-3, 0.1
NETS = {1: (Identity(), 0.01), 2: (Square(), 0.01), 3: (Cube(), 0.002)}  # by degree, with a stable learning rate
NET_EPS, STEPS = 0.03, 3000
NONE = -1.0  # no drop in time


def grown(v0, t, p):
    """v(t) of v̇ = v^p."""
    return v0 * np.exp(t) if p == 1 else (v0 ** (1 - p) - (p - 1) * t) ** (-1 / (p - 1))


def time_to_one(v0, p):
    return -np.log(v0) if p == 1 else (v0 ** (1 - p) - 1) / (p - 1)


def measure(p, seed):
    v0 = np.sort(np.abs(EPS * np.random.default_rng(seed).standard_normal(UNITS)))[::-1]
    t = time_to_one(v0[0], p)
    theory = grown(v0, t, p)
    return {"second": float(theory[1]), "gap": solver_gap(v0, t, theory, p)} | (
        {"net_growth": in_net(p, seed)} if p in NETS else {}
    )


def solver_gap(v0, t, theory, p):
    """The largest gap to a solver: of the time at which the first reaches one, and of the others' sizes then."""

    def one(_, v):
        return v[0] - 1

    one.terminal = True
    run = solve_ivp(lambda _, v: v**p, (0, 2 * t), v0, rtol=1e-12, atol=1e-18, method="DOP853", events=one)
    return max(abs(run.t[-1] / t - 1), float(np.abs(theory[1:] / run.y[1:, -1] - 1).max()))


def in_net(p, seed):
    """The second largest unit's growth from the start to the first drop; NONE without one."""
    activation, lr = NETS[p]
    task = Teacher(activation, ((1, 0), (0, 1)), None)
    setting = Setting(task, Units(UNITS, Neuron(activation), NET_EPS), GradientDescent(lr), steps=STEPS, seed=seed)
    drop = next((d.at for d in Run(train(setting, quiet=True)).stages.drops), None)
    if drop is None:
        return NONE
    run = train(setting.replace(steps=round(drop)), (Parameters(),), SaveAt((0,)), quiet=True)  # and the last
    size = np.linalg.norm(np.concatenate([run.param_u.values, run.param_v.values], axis=2), axis=2)  # instant × unit
    second = int(np.argsort(size[-1])[-2])
    return float(size[-1, second] / size[0, second])


def closed_form(results):
    gap = results.measured.gap.values
    return always(np.sum(gap < 1e-5), len(gap), f"largest gap to the solver {gap.max():.1e}")


def stays_small(results):
    second = results.measured.second.values
    good = int(np.sum(second < SMALL))
    spread = f"median {np.median(second) / EPS:.2g} ε, largest {second.max() / EPS:.3g} ε"
    return holds_in_share(good, len(second), f"{share_text(good, len(second))} below {SMALL:g}; {spread}")


def keeps_up(results):
    second = results.measured.second.values
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
    figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.4))
    for m in results.runs():
        left.semilogy(int(m.p), m.second, "o", color=BLUE, ms=4, mfc="none")
        if int(m.p) in NETS and m.net_growth != NONE:
            right.semilogy(int(m.p), m.net_growth, "o", color=ORANGE, ms=4, mfc="none")
    left.axhline(EPS, color="0.5", ls="--", lw=0.8, label="ε")
    left.set(xlabel="degree p", ylabel="second largest when the first is one", xticks=results.values("p"),
             title="$\\dot v = v^p$")  # fmt: skip
    right.set(xlabel="degree p of the units", ylabel="growth of the second unit", xticks=list(NETS),
              title="nets, at the first drop")  # fmt: skip
    left.legend(fontsize=7)
    return figure


experiment = Experiment(
    title="The largest start grows away from the rest",
    source="Eq. 15, 16; Section 5.2",
    measure=measure,
    full=dict(p=(1, 2, 3, 4), seed=range(50)),
    quick=dict(p=(1, 2, 3), seed=range(3)),
    draw=draw,
    claims=(
        Claim("v̇ = v^p has the closed form of Eq. 15 and its siblings.", "S22 · Eq. 15", closed_form),
        Claim("For p = 2 the others are still small when the largest is one.", "S22 · Eq. 16", stays_small, {"p": 2}),
        Claim("So they are for p = 3 and 4.", "ours", stays_small, {"p": (3, 4)}),
        Claim("Control: for p = 1 the second keeps up.", "ours", keeps_up, {"p": 1}),
        Claim("Control: of linear units the second has grown more than of quadratic ones.", "ours", stronger(1, 2)),
        Claim("Conjecture: in nets the separation is stronger for cubic units than for quadratic ones.",
              "S23 · Section 5.2", stronger(2, 3)),
    ),
)  # fmt: skip
