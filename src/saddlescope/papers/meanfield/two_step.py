"""Meanfield paper, Theorem 3.1, Section 3 and Appendix H.2–H.4: channels on the two-sided step.

Targets +1 at −δ and −1 at δ. Nets of width 1,000 and rank 2 or 4 start with all weights from N(0, 1)
and follow n times their gradient to time 60, by an adaptive method of order 5. A leaky ReLU may hold
the flow on a kink, where steps have a floor of 0.006; the share of the time there is reported. At 481
times all ordered pairs of channels at both points are asked for the theorem's hypotheses and its
conclusion: with ∂_t f by Eq. 5, and for tanh by the change of R itself. (A leaky ReLU's B jumps
between saved times.) The law of mixing weights is invariant under rotations. So the chance that different
channels win at the two points follows from the angle between f(−δ) and f(δ).
"""

import matplotlib.pyplot as plt
import numpy as np

from saddlescope.checks import all_below
from saddlescope.claims import Claim
from saddlescope.experiment import Experiment
from saddlescope.figures import BLACK, BLUE, ORANGE, RED, SKY, letters
from saddlescope.figures import WIDTH as PAGE
from saddlescope.meanfield import Measure, meanfield
from saddlescope.meanfield.laws import StartLaw
from saddlescope.nets.activation import LeakyReLU, Tanh
from saddlescope.papers.meanfield._step_claims import (
    INTEGRAL,
    as_chance,
    conclusion_as_printed,
    dominance_kept,
    favourable,
    in_most,
    inequality,
    no_spike,
    one_constant,
    rises_enough,
    share_of_time,
    slides,
    stronger_term_decides,
    symmetric_point,
    winners_apart,
)
from saddlescope.papers.meanfield._step_runs import PLACES, channel_shape, read_step
from saddlescope.tables import Table

ACTIVATIONS = {"tanh": Tanh(), "leaky": LeakyReLU(0.1)}
NAMES = {"tanh": "tanh", "leaky": "leaky ReLU"}
WIDTH, T = 1000, 60.0
TIMES = np.linspace(0, T, 481)


def _net(activation, delta, rank, seed):
    data = Measure([-delta, delta], [1.0, -1.0])
    limit = meanfield(data, rank, 1, ACTIVATIONS[activation], start=StartLaw(0, 0, 1))
    return limit.net(WIDTH, seed)


def measure(activation, delta, rank, seed):
    net = _net(activation, delta, rank, seed)
    return read_step(net, net.flow(T, times=TIMES), seed)


def draw(results):
    figure, axes = plt.subplots(1, 3, figsize=(PAGE, 2.6))
    name, delta = results.values("activation")[0], results.values("delta")[-1]
    net = _net(name, delta, 2, 0)
    flow = net.flow(T, times=TIMES)
    for channel, color in ((0, BLUE), (1, RED)):
        shape = channel_shape(net, flow, channel)
        for i, alpha in ((0, 0.25), (60, 0.5), (480, 1.0)):
            label = f"$f_{channel + 1}$" if alpha == 1 else None
            axes[0].plot(PLACES, shape[i], color=color, alpha=alpha, lw=1.2, label=label)
    for place in (-delta, delta):
        axes[0].axvline(place, color="0.7", lw=0.6)
    axes[0].set(xlabel="x", ylabel="channel", title=f"{name}, δ = {delta:g}")
    axes[0].legend()
    for run in list(results.select(activation=name, delta=delta, rank=2).runs())[:30]:
        axes[1].plot(run.moment, run.ratio, color=BLACK, lw=0.4, alpha=0.6)
    axes[1].set(xlabel="time", ylabel="$R_{12}(x_0)$", title="log-ratio at $−δ$, rank 2", ylim=(-4, 4))
    for name, color in zip(results.values("activation"), (SKY, ORANGE), strict=False):
        angles = results.select(activation=name, rank=2).measured.angle.values
        axes[2].hist(angles, np.linspace(0, 180, 19), color=color, alpha=0.7, label=NAMES[name], density=True)
    axes[2].set(xlabel="angle of f(±δ), degrees", ylabel="density", yticks=[], title="rank 2, all δ")
    axes[2].legend()
    letters(axes)
    return figure


def tables(results):
    columns = ("activation", "δ", "rank", "nets", "angle of f(−δ), f(δ)", "other channel wins", "by chance")
    columns += ("(i)–(iii) hold", "ε₀ > 0", "time on the kink", "last loss")
    kinds = [
        (a, d, r) for a in results.values("activation") for d in results.values("delta") for r in results.values("rank")
    ]
    rows = []
    for activation, delta, rank in kinds:
        part = results.select(activation=activation, delta=delta, rank=rank).measured
        favourable = float(part.favourable.sum() / max(int(part.held.sum()), 1))
        numbers = [float(part[name].mean()) for name in ("distinct", "chance", "all_three")]
        middle = [float(part[name].median()) for name in ("on_floor", "loss_end")]
        angle = float(part.angle.median())
        rows.append([activation, delta, rank, part.sizes["run"], angle, *numbers, favourable, *middle])
    return [Table("winners", "Two-sided step: angles (median), winners and shares of the time", columns, rows)]


experiment = Experiment(
    title="Two-sided step: log-ratios of channels, their hypotheses, and who wins",
    source="Theorem 3.1, Section 3, Appendix H.2–H.4",
    measure=measure,
    full=dict(activation=("tanh", "leaky"), delta=(0.25, 0.5, 1.0), rank=(2, 4), seed=range(200)),
    quick=dict(activation=("tanh", "leaky"), delta=(0.5, 1.0), rank=(2,), seed=range(6)),
    draw=draw,
    drawn="A: both channels of one net at times 0, 7.5 and 60, from pale to full; grey lines are the data. B: "
    "log-ratio of the two channels, one line per net. C: angle between the channels at −δ and at δ.",
    tables=tables,
    claims=(
        Claim(
            "∂_t R₁₂ − ε₀ ≥ (1 − ρ) ξ π K (−d₀)|B₁|/|f₁| wherever (i)–(iii) hold.",
            "M57 · Theorem 3.1, as an inequality with π",
            inequality("worst_printed"),
            built=True,  # algebra of Eq. 5: any f, d, B and K obey it
        ),
        Claim(
            "It holds wherever −d B₁ f₁ ≥ 0 and (iii) hold, at both points.",
            "ours; M57, M60 · Theorem 3.1",
            inequality("worst"),
            built=True,
        ),
        Claim(
            "With the pointwise ρ(t) it is an equality where B₁f₁ and B₂f₂ have one sign.",
            "ours; M57 · Theorem 3.1",
            all_below("unequal", 1e-12, "relative gap"),
            built=True,
        ),
        Claim(
            "∂_t R₁₂ = (1 − ρ₀)… + ε₀ with one constant ρ₀, an equality.",
            "M57 · Theorem 3.1, as printed",
            conclusion_as_printed,
            note="The proof gives ≥. A constant ρ₀ makes the right-hand side too small wherever ρ(t) < ρ₀.",
        ),
        Claim(
            "The series are those of the flow: R changes by the integral of ∂_t R.",
            "M48, M56 · Eq. 5, 10",
            all_below("rate_gap", INTEGRAL, "gap over two saved steps"),
            only=dict(activation="tanh"),
        ),
        Claim(
            "Along the flow R₁₂ rises by no less than the integral of that bound, where (i)–(iii) hold.",
            "M57 · Theorem 3.1, as an inequality with π",
            rises_enough,
            only=dict(activation="tanh"),
        ),
        Claim(
            "∂_t R₁₂ ≥ 0 where (i)–(iii) hold and the leading term exceeds |ε₀|.",
            "M58 · Theorem 3.1",
            stronger_term_decides,
            built=True,  # it follows from the inequality
        ),
        Claim(
            "While (i)–(iii) hold, a lead at x₀ is not lost.",
            "M59 · Theorem 3.1",
            dominance_kept,
            only=dict(rank=2),  # the theorem has two channels
            note="ε₀ is negative and exceeds the leading term in some stretches, with leaky ReLU.",
        ),
        Claim(
            "With four channels it is not lost either.",
            "ours; M59",
            dominance_kept,
            only=dict(rank=4),
            note="ε₀ is negative and exceeds the leading term in some stretches, nearly all of them with leaky ReLU.",
        ),
        Claim(
            "ε₀ has a favourable sign where (i)–(iii) hold.",
            "M55 · Section 3.2, Theorem 3.1",
            favourable,
            note="d has opposite signs at the two points, so that K(−δ, δ) > 0 pulls against the local term. "
            "Where K is near 0, as for tanh at δ = 1, a net's draw decides.",
        ),
        Claim(
            "The result is symmetric at x₁: −d₁ ≥ 0 is typical there.",
            "M60 · Theorem 3.1, as printed",
            symmetric_point,
            note="y = −A at x₁, and a net that predicts too little in size has d₁ > 0. −d B f ≥ 0 is the right form.",
        ),
        Claim("−d₀ ≥ 0 most of the time before convergence.", "M61 · H.4", share_of_time("under")),
        Claim("B₁ has the sign of f₁ most of the time.", "M62, M49 · H.4", share_of_time("coherent")),
        Claim(
            "(iii) holds for the winner most of the time.",
            "M63 · H.4",
            share_of_time("dominant"),
            note="(iii) holds for one order of two channels at every instant, and changes sides on the way: "
            "R overshoots and falls back.",
        ),
        Claim(
            "(i)–(iii) hold together most of the time.",
            "M65, M124 · H.4",
            share_of_time("all_three"),
            note="(iii) changes sides on the way.",
        ),
        Claim(
            "Channels are well balanced at the start: within a factor of 2.",
            "M124 · H.4",
            in_most("balanced", "balanced"),
            only=dict(rank=2),
            note="Channels start as independent Gaussians, which are within a factor of 2 in 41 % of the draws.",
        ),
        Claim(
            "|ε₀| ≤ C″ψ(δ) with one constant: its maximum varies by less than a factor 10 over nets.",
            "M64 · Theorem 3.1, as printed",
            one_constant,
            note="ε₀ contains 1/|f_k|: it is large where a channel is near 0.",
        ),
        Claim(
            "Different channels win at x₀ and x₁.",
            "M4, M46 · Abstract, Section 3",
            winners_apart,
            note="With tanh f(δ) is nearly −f(−δ): one channel, the same at both points, has both signs of the "
            "step. With leaky ReLU the angle is smaller, and winners are those of a random rotation: with four "
            "channels at a right angle they differ in four nets of five.",
        ),
        Claim(
            "Different channels win as often as after a random rotation.",
            "ours; M4, M46",
            as_chance,
        ),
        Claim(
            "The winner at x₀ has a spike there: |f| over [−1, 1] is largest within 0.1 of x₀.",
            "M46, M47 · Section 3, Fig. 3",
            no_spike,
            only=dict(delta=0.5),
            note="Channels are as wide as the kernel: the largest value lies at an end of the interval.",
        ),
        Claim(
            "The channel with the largest |f| has the largest |B| at the end.",
            "M49 · Section 3.1",
            in_most("largest_signal", "with the same channel", chance=True),
            note="B at x₀ holds a part of f(x₁). With leaky ReLU, four channels and δ = 0.25 the two are at 80°, and "
            "another channel often has the larger |B|.",
        ),
        Claim(
            "The channel that leads at x₀ at the start leads at the end.",
            "M49 · H.4",
            in_most("kept_lead", "kept", chance=True),
            only=dict(rank=2),
            note="Starts are noise of size n^(−1/2), and channels grow along B, which begins independently of f.",
        ),
        Claim(
            "The channel that (iii) names when half of the loss is left wins.",
            "ours; M63",
            in_most("named", "named", chance=True),
            note="(iii) names the channel that grows fastest for its size at that instant, often a small one "
            "that catches up.",
        ),
        Claim(
            "A leaky ReLU's flow spends part of its time on a kink; that of tanh does not.",
            "ours; M34",
            slides,
        ),
    ),
)
