"""Escape paper, Section 2, Lemmas A.4 and A.7: what holds by algebra, on random nets and matrices.

Homogeneity and Euler's rule of the localized loss, the product of norms, non-negative singular
vectors (with tied singular values, rows of zeros and blocks, where a solver returns mixed signs),
the gradient and the differentiability of the true loss at the origin. The loss is differentiable at
0 for L ≥ 2: |C(Y_θ) − C(0)| = O(‖θ‖^L).
"""

import jax
import jax.numpy as jnp
import matplotlib.pyplot as plt
import numpy as np

from saddlescope.checks import always, holds_in_share, share_text
from saddlescope.claims import Claim
from saddlescope.experiment import Experiment
from saddlescope.figures import BLUE, GREEN, ORANGE, PURPLE, RED, WIDTH
from saddlescope.papers.escape._flows import drawn_weights, outputs_of, random_data
from saddlescope.theory.escape.bounds import nonnegative_pair
from saddlescope.theory.escape.gradient import flatten, gradient_of
from saddlescope.theory.escape.localized import localized_loss

FACTORS = (0.1, 0.5, 2.0, 10.0)
SIZES = 10.0 ** -np.arange(1, 6)


def measure(depth, seed):
    rng = np.random.default_rng([depth, seed])
    X, G = random_data(rng)
    net = drawn_weights(rng, X, len(G), depth, 6)
    loss, gradient = localized_loss(net, X, G), flatten(gradient_of(net, X, G))
    scaled = [([k * w for w in net], k) for k in FACTORS]
    powers = [abs(localized_loss(w, X, G) / (k**depth * loss) - 1) for w, k in scaled]
    slopes = [np.abs(flatten(gradient_of(w, X, G)) / k ** (depth - 1) - gradient).max() for w, k in scaled]
    back = localized_loss([-w for w in net], X, G)
    targets = rng.standard_normal((len(G), X.shape[1]))
    change = [abs(change_of_cost([k * w for w in net], X, targets)) for k in SIZES]
    at_zero = jax.grad(cost)([jnp.zeros_like(w) for w in net], X, targets)
    return {
        "degree_gap": float(max(powers)),
        "gradient_gap": float(max(slopes) / np.abs(gradient).max()),
        "euler_gap": float(abs(flatten(net) @ gradient / (depth * loss) - 1)),
        "backwards": float(back / ((-1.0) ** depth * loss)),
        "product_over": float(np.prod([np.linalg.norm(w) for w in net]) * depth ** (depth / 2) - 1),
        "at_zero": float(max(np.abs(g).max() for g in at_zero)),
        "change": ("size", np.array(change)),
        "order": float(np.polyfit(np.log(SIZES[:3]), np.log(change[:3]), 1)[0]),
        "pair_gap": pair_gap(rng),
    }


def cost(net, X, targets):
    return jnp.mean(jnp.sum((outputs_of(net, X) - targets) ** 2, axis=0))


def change_of_cost(net, X, targets):
    """cost(Y) − cost(0), multiplied out: the difference itself would be lost in rounding for small
    weights."""
    Y = np.asarray(outputs_of(net, X))
    return np.mean(np.sum(Y * (Y - 2 * targets), axis=0))


def pair_gap(rng):
    """By how much A v = s₁u, Aᵀu = s₁v and u, v ≥ 0 fail at most, for random matrices A ≥ 0 of four
    kinds."""
    A = np.abs(rng.standard_normal((5, 7)))
    kinds = A, np.where(A < 0.8, 0, A), np.eye(5, 7), np.kron(np.eye(2), A[:2, :3])
    return max(_gap_of(np.vstack([B, np.zeros(B.shape[1])])) for B in kinds)


def _gap_of(B):
    u, v = nonnegative_pair(B)
    s = np.linalg.norm(B, 2)
    return float(max(np.abs(B @ v - s * u).max(), np.abs(B.T @ u - s * v).max(), -u.min(), -v.min()) / s)


def below(name, within, what):
    def check(results):
        gap = results.measured[name].values
        good = int(np.sum(gap <= within))
        return always(
            good,
            len(gap),
            f"{share_text(good, len(gap))}; largest {what} {gap.max():.2g}, allowed {within:g}",
        )

    return check


def not_differentiable(results):
    """The loss would not be differentiable if its change were of order ‖θ‖: of degree one or
    less."""
    order, depth = results.measured.order.values, results.measured.depth.values
    good = int(np.sum(order < 1.5))
    said = ", ".join(f"{np.median(order[depth == d]):.2f} at L = {d}" for d in np.unique(depth))
    return always(good, len(order), f"|loss − loss(0)| falls as ‖θ‖ to the power {said}")


def negative_factors(results):
    """A control: L0(−θ) is not (−1)^L L0(θ), by more than a hundredth of it."""
    gap = np.abs(results.measured.backwards.values - 1)
    good = int(np.sum(gap > 0.01))
    text = f"relative gap between L0(−θ) and (−1)^L L0(θ): {gap.min():.2g} to {gap.max():.2g}"
    return holds_in_share(good, len(gap), f"{share_text(good, len(gap))} with a gap above 0.01; {text}")


def draw(results):
    figure, ax = plt.subplots(figsize=(WIDTH, 2.8))
    depths = results.values("depth")
    for depth, color in zip(depths, (BLUE, ORANGE, GREEN, RED, PURPLE), strict=False):
        for k, run in enumerate(results.select(depth=depth).runs()):
            ax.loglog(SIZES, run.change, "o-", color=color, ms=2, lw=0.5, label=None if k else f"L = {depth}")
    ax.set(xlabel="‖θ‖", ylabel="|loss − loss at the origin|")
    ax.legend()
    return figure


experiment = Experiment(
    title="Algebra of the localized loss, and two lemmas",
    source="Section 2, Lemmas A.4 and A.7",
    measure=measure,
    full=dict(depth=(2, 3, 4, 5, 6), seed=range(50)),
    quick=dict(depth=(2, 3, 5), seed=range(4)),
    draw=draw,
    drawn="How far the loss is from its value at the origin, for random weights scaled to several norms: one line "
    "per draw. A slope of L says that it is differentiable there.",
    claims=(
        Claim(
            "The origin is a critical point.",
            "E11 · Section 2",
            below("at_zero", 0.0, "entry of the gradient there:"),
        ),
        Claim(
            "The loss is not differentiable at the origin.",
            "E12 · Section 2",
            not_differentiable,
            note="Its change is O(‖θ‖^L): for L ≥ 2 the derivative at 0 exists and is 0. It is not smooth near 0.",
        ),
        Claim(
            "L0 is homogeneous of degree L, for factors λ > 0.",
            "E16 · Section 2",
            below("degree_gap", 1e-11, "relative gap"),
        ),
        Claim("Control: L0 is not homogeneous for λ = −1.", "ours", negative_factors),
        Claim(
            "∇L0 is homogeneous of degree L − 1.",
            "E17 · A.2",
            below("gradient_gap", 1e-11, "relative gap"),
        ),
        Claim(
            "θᵀ∇L0 = L·L0, so that the speed of an escape direction is −L0.",
            "E17, E26 · A.2",
            below("euler_gap", 1e-11, "relative gap"),
        ),
        Claim("Π‖W_ℓ‖_F ≤ 1 on ‖θ‖² = L.", "E92 · Lemma A.4", below("product_over", 1e-12, "product less one")),
        Claim(
            "A ≥ 0 has u₁, v₁ ≥ 0, also with tied s₁ and rows of zeros.",
            "E93 · Lemma A.7",
            below("pair_gap", 1e-12, "gap"),
        ),
    ),
)
