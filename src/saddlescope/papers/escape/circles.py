"""Escape paper, Example 1 for other numbers of points: the exact best speeds at depth two and
three.

Points on the circle with alternating G, as in Example 1, where N = 8. Depth two by its activation
cones, depth three by the minimax over favourable sets, each with weights from below and a dual from
above. σ(cos φ) has the Fourier modes 0, 1 and the even ones, and alternating G picks out the modes
N/2, 3N/2 and so on. So depth two sees nothing where N/2 is odd and above one. The closed forms of
depth three, with α = 2π/N, were guessed from N ≤ 14; 16 to 22 points test them:

    1/s*(3) = 1 + cot α for N divisible by four,   1/sin α + 2 Σ cos kα over odd k < N/4 for the other even N above two.
"""

import matplotlib.pyplot as plt
import numpy as np

from saddlescope.checks import always
from saddlescope.claims import Claim
from saddlescope.experiment import Experiment
from saddlescope.figures import BLUE, ORANGE, WIDTH
from saddlescope.theory.escape.certificates import EXACT, depth2_optimum, depth3_optimum, every_depth_bound
from saddlescope.theory.escape.localized import circle

CLOSE = 1e-9


def measure(points):
    X, G = circle(points)
    two, three = depth2_optimum(X, G), depth3_optimum(X, G)
    assert three.weights is not None  # every circle has a direction at depth 3
    return {
        "two": two.speed, "two_gap": two.gap, "three": three.speed, "three_gap": three.gap,
        "certified": two.kind == three.kind == EXACT, "every_depth": every_depth_bound(X, G),
        "form_two": form_two(points), "form_three": form_three(points),
        "rank": np.linalg.matrix_rank(three.weights[0], tol=1e-6),
    }  # fmt: skip


def form_two(points):
    return np.tan(np.pi / points) if points % 4 == 0 else 0.0


def form_three(points):
    angle = 2 * np.pi / points
    if points % 4 == 0:
        return 1 / (1 + 1 / np.tan(angle))
    odd = np.arange(1, points / 4, 2)
    return 1 / (1 / np.sin(angle) + 2 * np.cos(odd * angle).sum())


def counted(test, say):
    """test(measured) for every number of points."""

    def check(results):
        m = results.measured
        good = np.asarray(test(m), bool)
        return always(good.sum(), good.size, f"{good.sum()} of {good.size} circles; {say(m)}")

    return check


def listed(name):
    return lambda m: ", ".join(f"N = {n}: {v:.9f}" for n, v in zip(m.points.values, m[name].values, strict=True))


def ranks(m):
    return f"ranks of the first layer {', '.join(map(str, m['rank'].values))}"


def at_no_first_order(results):
    """Depth two escapes exactly where N is divisible by four."""
    m = results.measured
    good = (m.two.values > CLOSE) == (m.points.values % 4 == 0)
    without = [str(n) for n, s in zip(m.points.values, m.two.values, strict=True) if s <= CLOSE]
    return always(good.sum(), good.size, f"no first-order escape for N = {', '.join(without)}")


def draw(results):
    m = results.measured.sortby("points")
    figure, ax = plt.subplots(figsize=(WIDTH, 2.8))
    ax.plot(m.points, m.three, "o", color=BLUE, label="depth 3, exact")
    ax.plot(m.points, m.form_three, color=BLUE, lw=0.8, ls="--", label="depth 3, closed form")
    ax.plot(m.points, m.two, "s", color=ORANGE, ms=8, mfc="none", mew=1.5, label="depth 2, exact")
    ax.set(
        xlabel="points on the circle",
        ylabel="best escape speed $s^*$",
        xticks=m.points,
    )
    ax.legend()
    return figure


TESTS = (16, 18, 20, 22)  # of the closed form of depth three: smaller numbers suggested it
LARGER = (6, 8, 10, 12, 14, *TESTS)
experiment = Experiment(
    title="Best escape speeds of alternating circles at depth two and three",
    source="Example 1",
    measure=measure,
    full=dict(points=(4, *LARGER)),
    quick=dict(points=(4, 6, 8, 10, 12)),
    draw=draw,
    drawn="Exact best escape speeds of points on a circle with alternating G, with two and three layers. Dashed: the "
    "closed form for three layers, joined by lines.",
    claims=(
        Claim("The optimal speed does not fall from depth two to depth three.", "E48 · Proposition 3.2",
              counted(lambda m: m.three >= m.two - CLOSE, listed("three"))),
        Claim("Each speed is certified: weights and dual agree to 1e-9.", "ours",
              counted(lambda m: m.certified & (m.two_gap <= CLOSE) & (m.three_gap <= CLOSE),
                      lambda m: f"largest gap {float(max(m.two_gap.max(), m.three_gap.max())):.1e}")),
        Claim("Depth two has a first-order escape exactly where N is divisible by four.", "ours", at_no_first_order),
        Claim("s*(2) = tan(π/N) where N is divisible by four, and 0 elsewhere.", "ours",
              counted(lambda m: abs(m.two - m.form_two) <= CLOSE, listed("two"))),
        Claim("1/s*(3) = 1 + cot α, or 1/sin α + 2 Σ cos kα over odd k < N/4 where N/2 is odd; α = 2π/N.", "ours",
              counted(lambda m: abs(m.three - m.form_three) <= CLOSE, listed("three")), {"points": TESTS}),
        Claim("For N above four the fastest direction is not rank one.", "E70 · footnote 2",
              counted(lambda m: (m.three > m.two + CLOSE) & (m["rank"] == 2), ranks), {"points": LARGER}),
    ),
)  # fmt: skip
