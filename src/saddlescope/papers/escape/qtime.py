"""Escape paper, Section 2.1: direction and norm of the localized flow come apart in q-time.

Random data; a start near a one-neuron escape direction (noise of its own norm is added), scaled by
α. `theory` follows the direction in q-time, without α, until the norm has grown five-fold, or until
the flow slides along a kink: there adaptive solvers stall. An independent solver follows the flow
in t. At the times t(q) that theory gives, both must have the same norm and direction; q itself is ∫
‖θ‖^(L−2) dt along the solver.
"""

from itertools import takewhile

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.lines import Line2D

from saddlescope.checks import always, groups_by, share_text
from saddlescope.claims import Claim
from saddlescope.experiment import Experiment
from saddlescope.figures import BLUE, RED, letters
from saddlescope.papers.escape._flows import data_with_direction, drawn_weights, solved_flow
from saddlescope.theory.escape.gradient import flatten, gradient_of
from saddlescope.theory.escape.one_neuron import one_neuron_weights
from saddlescope.theory.escape.q_flow import TURN, q_flow

ALPHAS = (1.0, 1e-1, 1e-2, 1e-3, 1e-4)
FAR = 5.0  # times the start; near the blow-up an error of time is multiplied by (R/R₀)^(L−2)
FASTER = 10.0  # "much faster"
WIDTH, POWER = 6, 4  # power: of the paper's rate c / ‖θ‖⁴


def measure(depth, seed):
    rng = np.random.default_rng([depth, seed])
    X, G, start, theory = until_it_slides(depth, rng)
    end = 1.0001 * theory[-1].time
    flows = {a: solved(start, X, G, a, end * a ** (2.0 - depth)) for a in ALPHAS}
    gaps = [gaps_of(flow, a, theory, depth) for a, flow in flows.items()]
    norm, direction, clock = (np.array(g) for g in zip(*gaps, strict=True))
    speeds = np.array([speeds_of(flows[a], a, theory[-1].time, X, G, depth) for a in ALPHAS])
    rows = np.array([[now.q, now.time, now.log_norm] for now in theory])
    at = np.linspace(0, len(rows) - 1, 60).round().astype(int)
    printed = np.trapezoid(np.exp((depth - 2) * rows[:, 2]), rows[:, 0]) / rows[-1, 0]
    return {
        "grown": float(np.exp(rows[-1, 2])),
        "norm_gap": ("alpha", norm),
        "direction_gap": ("alpha", direction),
        "clock_gap": ("alpha", clock),
        "turn_speed": ("alpha", speeds[:, 0]),
        "growth_speed": ("alpha", speeds[:, 1]),
        "half_way_norm": ("alpha", speeds[:, 2]),
        "printed_q": float(printed),
        "own_steps": ("alpha", steps_of(start, X, G, depth - 2)),
        "paper_steps": ("alpha", steps_of(start, X, G, POWER)),
        "q": ("instant", rows[at, 0]),
        "log_norm": ("instant", rows[at, 2]),
        "solver_norm": (
            "instant",
            np.log([flows[1e-2].norm(1e-2 ** (2.0 - depth) * t) / 1e-2 for t in rows[at, 1]]),
        ),
    }


def until_it_slides(depth, rng):
    """Data, a start of norm one, and what theory says instant by instant; drawn again where the
    norm grows less than 1.5-fold before the flow slides."""
    while True:
        X, G, u, y, _ = data_with_direction(rng)
        rho = one_neuron_weights(u, y, depth, (WIDTH,) * (depth - 1))
        start = [w + n for w, n in zip(rho, drawn_weights(rng, X, len(G), depth, WIDTH), strict=True)]
        start = [w / np.linalg.norm(flatten(start)) for w in start]
        rows = list(takewhile(lambda now: not now.slides and now.log_norm <= np.log(FAR), q_flow(start, X, G)))
        if rows[-1].log_norm > np.log(1.5):
            return X, G, start, rows


def solved(start, X, G, alpha, end):
    return solved_flow([alpha * w for w in start], X, G, lambda t, norm: t >= end, budget=20_000)


def gaps_of(flow, alpha, theory, depth):
    """Largest gaps between solver and theory at the times of theory: in the norm, the direction,
    and q."""
    at = [theory[k] for k in np.unique(np.linspace(1, len(theory) - 1, 40).round().astype(int))]
    norm = turn = 0.0
    for now in at:
        weights = flow.of(alpha ** (2.0 - depth) * now.time)
        size = np.linalg.norm(flatten(weights))
        norm = max(norm, abs(size / (alpha * np.exp(now.log_norm)) - 1))
        turn = max(turn, np.linalg.norm(flatten(weights) / size - flatten(now.weights)))
    times = alpha ** (2.0 - depth) * np.array([now.time for now in at])
    q = np.array([now.q for now in at])
    return norm, turn, float(np.max(np.abs(flow.clock(depth - 2.0, times) / q - 1)))


def speeds_of(flow, alpha, end, X, G, depth):
    """‖∂θ̄/∂t‖, |∂ ln‖θ‖/∂t| and ‖θ‖ half way, from the solver's weights."""
    weights = flow.of(alpha ** (2.0 - depth) * end / 2)
    theta, gradient = flatten(weights), flatten(gradient_of(weights, X, G))
    size = np.linalg.norm(theta)
    radial = theta @ gradient / size
    return np.linalg.norm(gradient - radial * theta / size) / size, abs(radial) / size, size


def steps_of(start, X, G, power):
    """Steps of plain descent on the localized loss at a rate c ‖θ‖^(−power) until ‖θ‖ = 1.5 α; at
    most 5,000."""
    rate = TURN / np.linalg.norm(flatten(gradient_of(start, X, G)))
    return np.array([_steps(start, X, G, a, rate, power) for a in ALPHAS[:3]] + [-1] * (len(ALPHAS) - 3))


def _steps(start, X, G, alpha, rate, power):
    weights = [alpha * w for w in start]
    for k in range(5000):
        size = np.linalg.norm(flatten(weights))
        if size >= 1.5 * alpha:
            return k
        gradient = gradient_of(weights, X, G)
        weights = [w - rate * size**-power * g for w, g in zip(weights, gradient, strict=True)]
    return 5000


def agrees(name, what, within=1e-6):
    def check(results):
        gap = np.stack([run[name].values for run in results.runs()]).max(1)
        good = int(np.sum(gap <= within))
        grown = results.measured.grown.values
        text = f"{share_text(good, len(gap))}; largest gap in {what} {gap.max():.1e}, allowed {within:g}, at all α, "
        times = f"{grown.min():.2g}-fold" if np.ptp(grown) < 0.1 else f"{grown.min():.2g}- to {grown.max():.2g}-fold"
        return always(good, len(gap), f"{text}while the norm grows {times}")

    return check


def absolute_speeds(results):
    """‖∂ₜθ̄‖ over |∂ₜ‖θ‖|, as printed: above FASTER at the smallest α, and that much larger than at α = 1."""
    runs = list(results.runs())
    ratio = np.stack([r.turn_speed.values / (r.growth_speed.values * r.half_way_norm.values) for r in runs])
    last, gain = ratio[:, -1], ratio[:, -1] / ratio[:, 0]
    good = int(np.sum((last > FASTER) & (gain > FASTER)))
    text = f"{share_text(good, len(gain))}; ‖∂ₜθ̄‖ over |∂ₜ‖θ‖| at α = {ALPHAS[-1]:g}: {last.min():.2g} to "
    return always(
        good, len(gain), f"{text}{last.max():.2g}, {gain.min():.3g} times that at α = 1 or more, asked {FASTER:g}"
    )


def relative_speeds(results):
    """Turning outpaces relative growth more the smaller α is."""
    ratio = np.stack([run.turn_speed.values / run.growth_speed.values for run in results.runs()])
    gain = ratio[:, -1] / ratio[:, 0]  # smallest α over α = 1
    good = int(np.sum(gain > 2))
    text = f"‖∂ₜθ̄‖ over |∂ₜ ln‖θ‖|: median {np.median(ratio):.2g} at every α; at α = {ALPHAS[-1]:g} it is "
    return always(good, len(gain), f"{text}{gain.min():.6f} to {gain.max():.6f} times that at α = 1, asked 2")


def own_clock(name):
    """The number of steps does not depend on α."""

    def check(results):
        steps = np.stack([run[name].values[:3] for run in results.runs()])
        used = (steps[:, 0] > 0) & (steps[:, 0] < 5000)
        if not used.any():
            return None
        same = np.ptp(steps[used], axis=1) <= 1  # rounding may shift the last step
        rows = "; ".join("/".join(map(str, row)) for row in steps[used][:6])
        capped = len(used) - used.sum()
        text = f"{share_text(int(same.sum()), len(same))}; steps at α = 1, 0.1, 0.01: {rows}"
        text += f"; {capped} draws left out, which take no step or more than 5,000" if capped else ""
        several = len(results.values("seed")) > 1  # one seed per depth decides no depth
        groups = groups_by(results.where(used), "depth", same) if several else None
        return always(int(same.sum()), len(same), text, groups)

    return check


def as_printed(results):
    ratio = results.measured.printed_q.values
    good = int(np.sum(np.abs(ratio - 1) < 1e-6))
    return always(
        good,
        len(ratio),
        f"the printed integral over q is {ratio.min():.3g} to {ratio.max():.3g} times q",
    )


def draw(results):
    depths = results.values("depth")
    figure, axes = plt.subplots(2, len(depths), figsize=(6.5, 3.8), squeeze=False, sharey="row")
    for (top, bottom), depth in zip(axes.T, depths, strict=True):
        for run in results.select(depth=depth).runs():
            top.plot(run.q, run.log_norm, color=BLUE, lw=0.8)
            top.plot(run.q, run.solver_norm, ".", color=RED, ms=2)
            for name, color in (("norm_gap", BLUE), ("direction_gap", RED)):
                bottom.loglog(ALPHAS, np.maximum(run[name].values, 1e-16), "o-", color=color, ms=2, lw=0.6)
        bottom.axhline(1e-6, color="0.5", ls="--", lw=0.8)
        top.set(xlabel="q", title=f"depth {depth}")
        bottom.set(xlabel="α", xticks=(1e-4, 1e-2, 1), ylim=(1e-12, 1e-5))
    axes[0, 0].set_ylabel("ln(‖θ‖/α)")
    axes[1, 0].set_ylabel("gap to the solver")
    theory, solver = Line2D([], [], color=BLUE), Line2D([], [], color=RED, marker=".", ls="")
    norm, direction = (Line2D([], [], color=color, marker="o", ms=3) for color in (BLUE, RED))
    names = ("theory, in q", "solver, in t", "gap in the norm", "gap in the direction")
    figure.legend((theory, solver, norm, direction), names, ncols=4, loc="outside lower center")
    letters(axes.ravel())
    return figure


DEEP = {"depth": (3, 4, 5, 6)}
experiment = Experiment(
    title="Direction and norm of the localized flow in q-time",
    source="Section 2.1",
    measure=measure,
    full=dict(depth=(2, 3, 4, 5, 6), seed=range(10)),
    quick=dict(depth=(2, 3, 4, 5), seed=range(1)),
    draw=draw,
    drawn="(Above) The norm in q-time as theory has it, and of a solver in t at the same instants. (Below) The "
    "largest gaps between the two for several initial norms α; dashed: what is allowed. One line per draw.",
    claims=(
        Claim(
            "The direction follows projected flow in q-time on its own, from any α.",
            "E18, E20, E36 · Section 2.1",
            agrees("direction_gap", "the direction"),
        ),
        Claim(
            "‖θ(q)‖ = ‖θ₀‖ exp(−L ∫ L0): proportional to α.",
            "E18, E21, E37 · Section 2.1",
            agrees("norm_gap", "the norm"),
        ),
        Claim(
            "t(q) = ∫ ‖θ‖^(2−L) dq is the inverse of q(t) = ∫ ‖θ‖^(L−2) dt.",
            "E20, E22 · Section 2.1",
            agrees("clock_gap", "q"),
        ),
        Claim(
            "q(t) = ∫ ‖θ(q₁)‖^(L−2) dq₁, as printed.",
            "E20 · Section 2.1",
            as_printed,
            DEEP,
            note="The integral runs over t; over q it is another number.",
        ),
        Claim(
            "For small weights the direction moves much faster than the norm: ‖∂ₜθ̄‖ is well above |∂ₜ‖θ‖|.",
            "E19 · Section 2.1",
            absolute_speeds,
            DEEP,
        ),
        Claim(
            "The smaller the weights, the faster the direction moves against the norm's relative growth, ∂ₜ ln‖θ‖.",
            "E19, ours · Section 2.1",
            relative_speeds,
            DEEP,
            note="Relative to itself the norm grows by the same power ‖θ‖^(L−2): no scale separates the two.",
        ),
        Claim(
            "With the rate ‖θ‖^(2−L) the number of steps does not depend on α.",
            "E23 · Section 2.1",
            own_clock("own_steps"),
            DEEP,
        ),
        Claim(
            "The rate c/‖θ‖⁴ does the same at every depth.",
            "E23 · App. B, C",
            own_clock("paper_steps"),
            DEEP,
            note="It is q-time for L = 6 alone; at depth 4 that is c/‖θ‖².",
        ),
    ),
)
