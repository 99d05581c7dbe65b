"""Mean-field paper, Remark G.1: is there an advantage in large entries of L? Nothing is trained.

Gaussian mixing of deviation σ, in the exact limit: the loss at T = 40 on eight points of cos πx, with
leaky ReLU and with erf. Nets of width 256 tell the price: their distance from the limit. With erf the
upper weights start as ΣL/σ, with leaky ReLU at mean 1, so that their size does not depend on σ.
"""

from functools import cache

import matplotlib.pyplot as plt
import numpy as np

from saddlescope.checks import always
from saddlescope.claims import Claim
from saddlescope.experiment import Experiment
from saddlescope.figures import WIDTH, letters
from saddlescope.meanfield import meanfield
from saddlescope.meanfield.distance import follow_nets, gaps_over_time
from saddlescope.meanfield.laws import GaussianMixing, StartLaw
from saddlescope.nets import LeakyReLU
from saddlescope.nets.activation import Erf
from saddlescope.papers.meanfield._coupling import by_net, nets_of, points, slope_check

TIME, SAVES, NEURONS = 40.0, 41, 256
SIZES = (0.25, 0.5, 1.0, 2.0, 4.0)


@cache
def flow_of(case, std):
    """The limit and its flow; a worker solves it once for all nets."""
    upper = {"leaky ReLU": StartLaw(mean=1, slope=0), "erf": StartLaw(slope=1 / std)}[case]
    activation = {"leaky ReLU": LeakyReLU(0.1), "erf": Erf()}[case]
    start = (StartLaw(mean=0.5, slope=1), upper)
    limit = meanfield(points(), 2, 1, activation, mixing=GaussianMixing(std), start=start)
    return limit, limit.flow(TIME, times=SAVES, rtol=1e-7)


def measure(case, std, seed):
    limit, flow = flow_of(case, std)
    nets = nets_of(limit, NEURONS, seed)
    states = follow_nets(nets, flow.data.time.values)
    rows = [{"rms": gaps_over_time(flow, *pair)["rms"].max()} for pair in zip(nets, states, strict=True)]
    return {"time": (("save",), flow.data.time.values), "level": (("save",), flow.loss.values), **by_net(rows)}


def no_advantage(results):
    """The loss at the end is not lower where L is larger, between neighbouring sizes."""
    good, said = [], []
    for case in results.values("case"):
        m = results.select(case=case, seed=results.values("seed")[0]).measured.sortby("std")
        ends = m.level.values[:, -1]
        good += (np.diff(ends) >= 0).tolist()
        said.append(f"{case} " + " → ".join(f"{e:.3f}" for e in ends))
    sizes = " → ".join(f"{s:g}" for s in sorted(results.values("std")))
    return always(
        sum(good), len(good), f"{sum(good)} of {len(good)} steps in σ = {sizes}; loss at T: {', '.join(said)}"
    )


def draw(results):
    cases = results.values("case")
    figure, axes = plt.subplots(1, len(cases), figsize=(WIDTH / 2 * len(cases), 2.6), squeeze=False)
    shades = plt.get_cmap("viridis")(np.linspace(0.05, 0.9, len(SIZES)))
    for ax, case in zip(axes[0], cases, strict=True):
        for std, colour in zip(SIZES, shades, strict=True):
            part = results.select(case=case, std=std)
            for run in list(part.runs())[:1]:
                ax.loglog(run.time.values[1:], run.level.values[1:], color=colour, label=f"σ = {std:g}")
        ax.set(xlabel="time", ylabel="loss of the limit")
        ax.set_title(case)
    letters(axes[0])
    axes[0, 0].legend()
    return figure


experiment = Experiment(
    title="The loss of the limit by the size of the mixing weights",
    source="Remark G.1",
    measure=measure,
    full=dict(case=("leaky ReLU", "erf"), std=SIZES, seed=range(4)),
    quick=dict(case=("erf",), std=SIZES, seed=range(2)),
    draw=draw,
    drawn="Losses of the exact limit for mixing weights of deviation σ.",
    claims=(
        Claim(
            "There is no advantage in large entries of L.",
            "M111 · Remark G.1, as printed",
            no_advantage,
            note="Larger entries speed up both layers at a given learning rate; beyond a size of 2 they gain little.",
        ),
        Claim(
            "Their price is a larger distance from the limit, by a positive power of σ.",
            "ours",
            slope_check("rms", "std", ("leaky ReLU", "erf"), (0.0, np.inf)),
        ),
    ),
)
