"""Escape paper, footnote 2 and conjecture 2 on Example 1: 1/2 is the best speed at every depth from
three on. Proved.

Footnote 2 leaves open whether something is faster than the rank-two direction of Eq. 2. Nothing is,
at any depth: a closed set of nine weight vectors proves it, and every comparison is made in ℚ(√2)
without rounding. Controls that must fail: a target below 1/2, the set with a vector left out, and G
with one sign reversed, which nets escape faster.

The same by floating point, from data alone: s*(L) for L = 2 … 8, and s*(3) of nets with one, two or
three neurons in the first layer, with enumerated cones. Weights of depth L are those of depth three
with layers [1] in between (Prop. 3.2).
"""

from fractions import Fraction
from functools import wraps

import matplotlib.pyplot as plt
import numpy as np

from saddlescope.claims import CheckResult, Claim
from saddlescope.experiment import Experiment
from saddlescope.figures import BLUE, ORANGE, letters
from saddlescope.theory.escape.certificates import EXACT, depth3_optimum, speed_bound
from saddlescope.theory.escape.certificates.by_width import width_optimum
from saddlescope.theory.escape.certificates.octagon import ALTERNATING, CLOSED_SET, HALF, attained, is_closed
from saddlescope.theory.escape.certificates.sqrt2 import Sqrt2
from saddlescope.theory.escape.localized import circle, localized_loss

BELOW = Sqrt2(Fraction(499_999, 1_000_000))
REVERSED = "-" + ALTERNATING[1:]
PROOFS = {
    "proof": (HALF, CLOSED_SET),
    "control: target 0.499999": (BELOW, CLOSED_SET),
    "control: a vector left out": (HALF, CLOSED_SET[:-1]),
    "control: a sign reversed": (HALF, (REVERSED, *CLOSED_SET)),
}
DEPTHS = {f"depth {depth}": depth for depth in range(2, 9)}
WIDTHS = {f"width {width}": width for width in (1, 2, 3, 4)}
RANK_ONE, CLOSE = 2**0.5 - 1, 1e-9
NOTHING = {"proved": False, "certified": False, "speed": 0.0, "bound": 0.0, "linear": 0.0}
NOTHING |= {"rank_first": 0, "rank_later": 0}


def measure(case):
    if case in PROOFS:
        return NOTHING | proof(case)
    found = by_depth(DEPTHS[case]) if case in DEPTHS else by_width(WIDTHS[case])
    return NOTHING | found


def proof(case):
    """Whether the closed set proves its target, and the best speed known of the data that it is
    about.
    """
    target, members = PROOFS[case]
    speed = float(attained())
    if members[0] == REVERSED:
        X, G = circle(8)
        G[0, 0] *= -1
        speed = depth3_optimum(X, G).speed
    return {"proved": is_closed(target, members), "speed": speed, "bound": float(target)}


def by_depth(depth):
    X, G = circle(8)
    found = speed_bound(X, G, depth)
    assert found.weights is not None  # every depth of Example 1 has a direction
    ranks = [np.linalg.matrix_rank(w, tol=1e-6) for w in found.weights]
    return {
        "speed": -localized_loss(found.weights, X, G), "bound": found.bound, "certified": found.kind == EXACT,
        "rank_first": ranks[0], "rank_later": max(ranks[1:]), "linear": np.linalg.norm(G @ X.T),
    }  # fmt: skip


def by_width(width):
    """Widths up to three by enumeration; at four Eq. 2, with W_3 = [−1], beside the bound without a limit on widths."""
    X, G = circle(8)
    if width < 4:
        found = width_optimum(X, G, width)
        return {"speed": found.speed, "bound": found.bound, "certified": found.kind == EXACT}
    rows = np.array([[1, 0], [0, 1], [-1, 0], [0, -1.0]]) / 2
    speed = -localized_loss([rows, np.array([[1, -1, 1, -1]]) / 2, np.array([[-1.0]])], X, G)
    bound = depth3_optimum(X, G).bound
    return {"speed": speed, "bound": bound, "certified": abs(bound - speed) <= CLOSE}


def value(results, case, name):
    """What was measured in one case."""
    return results.measured[name].values[results.measured.case.values.astype(str) == case][0]


def asks(*cases):
    """A check that is not made where one of these cases was not run."""

    def wrapped(check):
        @wraps(check)
        def made(results):
            return check(results) if set(cases) <= set(results.measured.case.values.astype(str)) else None

        return made

    return wrapped


def exactly(holds, evidence):
    return CheckResult(bool(holds), evidence, exact=True)


@asks("proof")
def nothing_faster(results):
    proved, speed = value(results, "proof", "proved"), value(results, "proof", "speed")
    text = (
        f"{len(CLOSED_SET)} weight vectors are closed under the step of the proof for the target 1/2, tested in ℚ(√2) "
        f"without rounding; Eq. 2 attains {speed:g}"
    )
    return exactly(proved and speed == 0.5, text)


@asks(*PROOFS)
def controls_fail(results):
    found = {case: bool(value(results, case, "proved")) for case in PROOFS if case != "proof"}
    faster = value(results, "control: a sign reversed", "speed")
    text = "; ".join(f"{case[9:]}: {'proved' if p else 'not proved'}" for case, p in found.items())
    return exactly(not any(found.values()) and faster > 0.5, f"{text}; with a sign reversed nets reach {faster:.4f}")


def depths_in(results, least):
    present = set(results.measured.case.values.astype(str))
    return [case for case, depth in DEPTHS.items() if case in present and depth >= least]


@asks("proof", "depth 3")
def same_at_all_depths(results):
    rows = [(c, value(results, c, "bound"), value(results, c, "certified")) for c in depths_in(results, 3)]
    good = value(results, "proof", "proved") and all(abs(b - 0.5) <= CLOSE and ok for _, b, ok in rows)
    return exactly(good, "; ".join(f"{case}: {bound:.9f}" for case, bound, _ in rows))


@asks("depth 4")
def rank_one_from_third(results):
    """Construction: layers from the second on are rank one, and the speed is the optimum."""
    rows = [(c, value(results, c, "speed"), value(results, c, "rank_later")) for c in depths_in(results, 4)]
    good = all(abs(s - 0.5) <= CLOSE and rank == 1 for _, s, rank in rows)
    return exactly(
        rows and good, "; ".join(f"{c}: speed {s:.9f}, layers from the second on of rank {rank}" for c, s, rank in rows)
    )


@asks("depth 2", "depth 3")
def converse(results):
    """All layers after the first are rank one: L₀ = 1. The paper's form gives s*(L) = s*(1), or s*(2) with L₀ = 2."""
    s1, s3, later = (value(results, "depth 3", name) for name in ("linear", "bound", "rank_later"))
    s2 = value(results, "depth 2", "bound")
    text = (
        f"layers from the second on have rank {later}, yet s*(3) = {s3:.6f} while s*(2) = {s2:.6f} and s*(1) = {s1:.1e}"
    )
    return exactly(later == 1 and abs(s3 - s2) <= CLOSE, text)


@asks("depth 3", "depth 4")
def mended(results):
    """s*(L) = s*(L₀ + 2) with L₀ = 1: all depths have the speed of depth three."""
    s3, later = value(results, "depth 3", "bound"), value(results, "depth 3", "rank_later")
    rows = [value(results, c, "bound") for c in depths_in(results, 4)]
    text = f"L₀ = 1: s*(3) = {s3:.9f}, deeper {min(rows):.9f} to {max(rows):.9f}"
    return exactly(later == 1 and max(abs(b - s3) for b in rows) <= CLOSE, text)


@asks("depth 2", "depth 3")
def not_rank_one(results):
    """Nets of rank-one layers reach s*(2) at most, at any depth."""
    s2, s3 = (value(results, f"depth {n}", "bound") for n in (2, 3))
    rank = value(results, "depth 3", "rank_first")
    return exactly(s3 > s2 + CLOSE and rank == 2, f"rank one {s2:.9f}, best {s3:.9f} with a first layer of rank {rank}")


@asks(*WIDTHS)
def four_needed(results):
    """Certified at every width: s* is at most √2 − 1 up to three neurons, and 1/2 with four."""
    cases = list(WIDTHS)
    bounds, speeds, certified = ([value(results, c, n) for c in cases] for n in ("bound", "speed", "certified"))
    good = max(bounds[:-1]) <= RANK_ONE + CLOSE and speeds[-1] >= 0.5 - CLOSE and all(certified)
    rows = zip(cases, bounds, certified, strict=True)
    return exactly(good, "; ".join(f"{c}: {b:.9f}{'' if ok else ', not certified'}" for c, b, ok in rows))


def draw(results):
    figure, (left, right) = plt.subplots(1, 2, figsize=(6.5, 3), sharey=True)
    right.set_title("depth 3, by width")
    left.set_title("any width, by depth")
    for ax, cases, word in ((left, DEPTHS, "depth L"), (right, WIDTHS, "neurons in the first layer")):
        shown = [c for c in cases if c in results.measured.case.values.astype(str)]
        number = [cases[c] for c in shown]
        speed, bound = ([value(results, c, name) for c in shown] for name in ("speed", "bound"))
        ax.plot(number, bound, "_", color=ORANGE, ms=14, mew=2, label="proved bound")
        ax.plot(number, speed, "o", color=BLUE, ms=4, label="attained")
        ax.set(xlabel=word, ylim=(0.38, 0.52), xticks=number)
        for level, name in ((0.5, "1/2"), (RANK_ONE, "$\\sqrt{2} - 1$")):
            ax.axhline(level, color="0.6", lw=0.7, ls="--")
            ax.annotate(name, (max(cases.values()), level - 0.003), va="top", ha="right")
    left.set_ylabel("best speed $s^*$")
    left.legend(loc="center right")
    letters((left, right))
    return figure


QUICK = ("depth 2", "depth 3", "depth 4", "depth 6", "width 1", "width 2", "width 4")
experiment = Experiment(
    title="Example 1 settled: nothing is faster than 1/2 at any depth",
    source="Example 1, footnote 2, conjecture 2",
    measure=measure,
    full=dict(case=(*PROOFS, *DEPTHS, *WIDTHS)),
    quick=dict(case=(*PROOFS, *QUICK)),
    draw=draw,
    drawn="Best speeds on Example 1: what weights attain (dots) and what is proved to bound them (bars). Dashed: 1/2 "
    "and the best speed of rank-one nets.",
    claims=(
        Claim("No direction of any depth is faster than 1/2, which Eq. 2 attains.", "E69 · footnote 2", nothing_faster),
        Claim("Controls: a lower target, a smaller set and faster data are not proved.", "ours", controls_fail),
        Claim("The fastest escape direction is not rank one.", "E70 · footnote 2", not_rank_one),
        Claim("A hidden width of four is needed for 1/2.", "E67 · Example 1", four_needed),
        Claim("The optimum has finitely many high-rank layers: s*(L) = 1/2 for every L ≥ 3.", "E80 · conjecture 2",
              same_at_all_depths),
        Claim("Where s* is constant from L₀ on, an optimum has rank-one layers from there.", "E81 · conjecture 2",
              rank_one_from_third, built=True),  # a deeper net is that of depth three with layers [1] in between
        Claim("Conversely, rank-one layers after the L₀-th give s*(L) = s*(L₀).", "E82 · conjecture 2", converse,
              note="They give s*(L) = s*(L₀ + 2): one layer makes the one-dimensional signal, one more reads it."),
        Claim("Rank-one layers after the L₀-th give s*(L) = s*(L₀ + 2).", "ours", mended),
    ),
)  # fmt: skip
