"""Meanfield paper, Lemmas D.1–D.4, E.1, E.2, F.1 and Appendix D.6: bounds on random weights and paths.

Nets of width 48 have Gaussian features with bias, Gaussian mixing, N(0, 1) weights and three points;
the loss is the pseudo-Huber one, whose derivative is bounded. Inequalities are given as their left
side over their right one, which must not exceed 1. The operator F is applied to the path at rest, 40
times, and to paths made to break its lemmas. Growth is that of the exact limit (leaky ReLU) or of a
net of width 256 (tanh) on one point of target 10⁸: there d stays near −1, as the bounds allow.
"""

import matplotlib.pyplot as plt
import numpy as np

from saddlescope import figures
from saddlescope.claims import Claim
from saddlescope.experiment import Experiment
from saddlescope.meanfield import Measure, PseudoHuber, meanfield
from saddlescope.nets.activation import LeakyReLU, Tanh
from saddlescope.papers.meanfield._lemma_claims import (
    at_most_one,
    constants_do_not_grow,
    decays_like_gauss,
    exponential,
    no_lower_bound,
    polynomial,
    power_of_two,
    same_ratio,
    stays_inside,
)
from saddlescope.papers.meanfield._lemma_paths import (
    LONG,
    SLOPE,
    TIMES,
    WIDTH,
    across_zero,
    drawn_neurons,
    large_second_layer,
)
from saddlescope.theory.meanfield import norms
from saddlescope.theory.meanfield.apriori import Sizes, bounded_growth, leaky_growth
from saddlescope.theory.meanfield.difference import lipschitz_bound, smallest_constants
from saddlescope.theory.meanfield.forward_bounds import (
    first_bound,
    mixing_norm,
    moment_bound,
    next_bound,
    sum_bound,
)
from saddlescope.theory.meanfield.picard import apply_operator, iterates

COUNT, SPAN = 40, 12.0
GAPS = 10.0 ** -np.arange(1, 7)
RADII = (10.0, 1e3, 1e6)
DRAWS = 1_000_000


def measure(activation, rank, seed):
    rng = np.random.default_rng([rank, seed])
    neurons = drawn_neurons(activation, rank, rng)
    return {
        **forward(neurons, rng),
        **operator(neurons),
        **growth(activation, rank, seed),
    }


def forward(neurons, rng):
    """Left sides over right sides of Lemmas D.1, E.1, E.2 and F.1, and of the norms in D.2."""
    rank, features, L = neurons.mixing.shape[1], neurons.features, neurons.mixing
    change = rng.standard_normal((WIDTH, rank))
    w1, upper = neurons.start[0], rng.standard_normal((3, WIDTH, rank))
    phi, L3 = neurons.activation, rng.standard_normal((WIDTH, rank))
    H = [neurons.channels(w[None])[0] @ L.T for w in (w1, w1 + change)]
    up = [(phi(h) @ w / WIDTH) @ L3.T for h, w in zip(H, upper[:2], strict=True)]
    below, top = first_bound(features, L, change), max(np.abs(phi(h)).max() for h in H)
    sums = [sum_bound(rng.standard_normal(rank), rng.standard_t(5, (200, rank)), m) for m in (1, 2, 8)]
    a, U = rng.standard_normal(rank), rng.standard_t(5, (200, rank))
    largest, null = np.abs(L).max(), np.linalg.svd(features.T)[2][-1]
    paths = np.stack([w1, w1 + change])
    size = np.abs(np.stack(H)).max(axis=(0, 2))
    return {
        "d1": np.abs(H[0] - H[1]).max() / below,
        "d1_phi": np.abs(phi(H[0]) - phi(H[1])).max() / below,
        "d1_next": np.abs(up[0] - up[1]).max() / next_bound(below, top, 1.0, L3, upper[0] - upper[1], upper[1]),
        "e1": max(s / m for s, m, _ in sums),
        "e1_max": max(m / t for _, m, t in sums),
        "e1_psi": norms.psi_seminorm(U @ a) / (np.abs(a).sum() * norms.psi_seminorm(U).max()),
        "e2": max(norms.moment(size, m) / moment_bound(features, L, paths, m) for m in (1, 2, 8)),
        "norms": max(norms.weight_norm(paths, m) for m in (2, 50)) / norms.psi_norm(paths),
        "mixing": max(mixing_norm(L) / (rank * largest), mixing_norm(L, 2) / (np.sqrt(rank) * largest)),
        "d1_over_r": np.abs(H[0] - H[1]).max() / (below / mixing_norm(L) * largest),
        "lower": np.abs(L @ np.ones((rank, 1)) * (null @ features) / WIDTH).max() / np.abs(null).mean(),
    }


def operator(neurons):
    """Lemmas D.3 and D.4 on paths made for them, and Picard differences."""
    found = iterates(neurons, TIMES, neurons.at_rest(TIMES), COUNT)
    gaps = np.array([norms.distance(a, b) for a, b in zip(found[1:], found[:-1], strict=True)])
    outside = []
    for radius in RADII:
        path = large_second_layer(neurons, radius / np.sqrt(50))
        moved = apply_operator(neurons, LONG, path)
        outside.append(max(map(norms.psi_norm, moved)) / max(map(norms.psi_norm, path)))
    ratios = []
    for gap in GAPS:
        one, two = across_zero(neurons, gap)
        moved = [apply_operator(neurons, TIMES, path) for path in (one, two)]
        apart = norms.distance(one, two)
        ratios.append(norms.distance(*moved) / lipschitz_bound(TIMES[-1], apart, 1.0, 1.0))
    inside = [max(map(norms.psi_norm, path)) for path in found]
    return {
        "gaps": ("iterate", gaps),
        "constants": ("iterate", np.append(smallest_constants(gaps, TIMES[-1]), 0.0)),
        "outside": ("radius", np.array(outside)),
        "iterate_norm": max(inside) / inside[-1],
        "lipschitz": ("gap", np.array(ratios)),
    }


def growth(activation, rank, seed):
    """‖w‖ over time for a target that is out of reach, its exponents, and its tail over neurons."""
    phi = {"tanh": Tanh(), "leaky": LeakyReLU(SLOPE)}[activation]
    x = np.random.default_rng(seed).uniform(-1, 1)
    limit = meanfield(Measure([x], [1e8]), rank, 1, phi, residual=PseudoHuber())
    times = np.linspace(0, SPAN, 49)
    if activation == "leaky":
        flow, own = limit.flow(SPAN, times=times), limit.net(1000, seed)
    else:
        own = limit.net(256, seed)
        flow = own.flow(SPAN, times=times)
    w = [own.start[i] + flow.weights_at(i, own.frozen[i]) for i in (0, 1)]
    size = np.array([max(norms.weight_norm(v[: i + 1], 2) for v in w) for i in range(len(times))])
    kernel = float(limit.first_kernel(limit.measure.x, limit.measure.x)[0, 0])
    return {
        "size": ("time", size),
        "exponents": ("half", np.array([_exponent(times, size, i) for i in (24, 48)])),
        "rate": float(np.log(size[-1] / size[-9]) / (times[-1] - times[-9])),
        "said_rate": float(np.sqrt(kernel * (1 + SLOPE**2) / 2)),
        "tail_slope": _tail(limit, flow, seed) if activation == "leaky" else 2.0,
        "over_bound": _over_bound(own, w, times, activation == "tanh"),
    }


def _exponent(times, size, i):
    """d log size / d log t at one time."""
    return np.log(size[i] / size[i - 4]) / np.log(times[i] / times[i - 4])


def _tail(limit, flow, seed):
    """The slope of log(−log P(|w₂| > B)) in log B between P = 10⁻² and 10⁻⁴.

    An exponential has 1 and a Gaussian 1.68. The flow moves w₂ by a function of L along f alone,
    since f keeps its direction; so a million neurons cost one interpolation."""
    f = flow.data.channels.values[-1, 0, 0]
    along, rank = f / np.linalg.norm(f), limit.rank
    grid = np.linspace(-8, 8, 1601)
    frozen = np.append(np.outer(grid, along), np.zeros((1601, 1)), axis=1)
    moved = flow.weights_at(1, frozen)[-1, :, 0]
    L = np.random.default_rng(seed).standard_normal((DRAWS, rank))
    start = L.sum(axis=1) + np.random.default_rng(seed + 1).standard_normal(DRAWS)
    sizes = np.abs(start + np.interp(L @ along, grid, moved))
    low, high = np.quantile(sizes, [0.99, 0.9999])
    return float(np.log(2) / np.log(high / low))


def _over_bound(net, w, times, bounded):
    """The largest change of weights over its bound for bounded activations, or averages over theirs."""
    features = np.abs(net.features(net.limit.measure.x)).max()
    sizes = Sizes(1.0, features, 1.0, np.abs(net.frozen[1]).max(), net.limit.rank)
    if bounded:
        bounds = bounded_growth(sizes, 1.0, np.abs(net.start[1]).mean(), times[1:])
        found = [np.abs(v[1:] - v[0]).max(axis=(1, 2)) for v in w]
    else:
        averages = [np.abs(v).mean(axis=1).max(axis=1) for v in w]
        bounds = leaky_growth(sizes, averages[0][0], averages[1][0], times[1:])
        found = [a[1:] for a in averages]
    return float(max((m / b).max() for m, b in zip(found, bounds, strict=True)))


def draw(results):
    figure, axes = plt.subplots(1, 3, figsize=(figures.WIDTH, 2.6))
    for name, color in (("tanh", figures.BLUE), ("leaky", figures.RED)):
        for k, run in enumerate(results.select(activation=name).runs()):
            label = None if k else {"tanh": "tanh", "leaky": "leaky ReLU"}[name]
            axes[0].semilogy(np.arange(1, COUNT + 1), run.gaps, color=color, lw=0.5, label=label)
            axes[1].loglog(GAPS, run.lipschitz, color=color, lw=0.5)
            axes[2].semilogy(np.linspace(0, SPAN, 49), run["size"], color=color, lw=0.5)
    axes[0].set(xlabel="iterate m", ylabel="$‖F^{m}W − F^{m−1}W‖$", title="Picard iterates")
    axes[1].loglog(GAPS, 1 / GAPS, ":", color=figures.BLACK, lw=0.8, label="1/ε")
    axes[1].set(xlabel="distance ε of channels", ylabel="constant $k_1$ that F needs", title="Lemma D.4")
    axes[2].set(xlabel="time", ylabel="‖w‖", title="growth of weights")
    figures.letters(axes)
    for ax in axes[:2]:
        ax.legend()
    return figure


experiment = Experiment(
    title="Lemmas of well-posedness: what holds, and what a leaky ReLU breaks",
    source="Lemmas D.1–D.4, E.1, E.2, F.1, Appendix D.6",
    measure=measure,
    full=dict(activation=("tanh", "leaky"), rank=(1, 2, 4, 8), seed=range(20)),
    quick=dict(activation=("tanh", "leaky"), rank=(2,), seed=range(4)),
    draw=draw,
    drawn="One line per net. A: change from one iterate of F to the next, to T = 4. B: the constant that Lemma "
    "D.4 would need for two paths whose channels differ by ε. C: the norm of the weights for a target "
    "that is out of reach.",
    claims=(
        # Inequalities that are algebra, true of any numbers, are shown and not counted (`built`).
        Claim("H₂ is Lipschitz in w₁ with K‖L‖.", "M94, M35 · Lemma D.1", at_most_one("d1"), built=True),
        Claim(
            "φ₂(H₂) has the same bound, for activations of slope 1 or less.",
            "M94 · Lemma D.1",
            at_most_one("d1_phi"),
            built=True,
        ),
        Claim("H₃ is Lipschitz with K‖L‖(E|Δw| + E|w″|·…).", "M94 · Lemma D.1", at_most_one("d1_next"), built=True),
        Claim(
            "The rank multiplies the constant of H₂ by r at most.",
            "M35 · Section 2.5, F.1",
            at_most_one("d1_over_r", by_rank=True),
            built=True,
        ),
        Claim(
            "H₂ is bi-Lipschitz in w₁: it changes whenever w₁ does.",
            "M38, M94 · Section 2.6, Lemma D.1, as printed",
            no_lower_bound,
            note="Only the upper bound exists: a change of w₁ orthogonal to the data's features leaves H₂ as it is. "
            "And H₂ is linear in w₁, so that its Lipschitz constant says nothing about φ₂.",
        ),
        Claim("‖L‖_{∞,1} ≤ rK and ‖L‖_{∞,2} ≤ √r K.", "M103 · E.1", at_most_one("mixing"), built=True),
        Claim(
            "Moments and ψ₂ norms of Σ a_k U_k obey Minkowski.",
            "M101 · Lemma E.1",
            at_most_one("e1", "e1_max", "e1_psi"),
            built=True,
        ),
        Claim(
            "Moments of H₂ are at most K‖L‖ times those of w₁.", "M94 · Lemmas E.2, F.1", at_most_one("e2"), built=True
        ),
        Claim("√50 makes the ψ₂ norm the largest.", "M95 · D.2", at_most_one("norms"), built=True),
        Claim(
            "Bounded activations: w₂ grows as t at most and w₁ as t².",
            "ours; M96 · Lemma D.2",
            power_of_two,
            only=dict(activation="tanh"),
        ),
        Claim(
            "Weights grow as a power of t that does not depend on t.",
            "M83, M96 · Lemma D.2, as printed",
            polynomial,
            note="A leaky ReLU is not bounded: while d stays near −1, weights grow as e^{λt}.",
        ),
        Claim(
            "With leaky ReLU they grow as e^{λt}, λ = √(K (1 + α²)/2) for |d| = 1.",
            "ours; M96",
            exponential,
            only=dict(activation="leaky"),
        ),
        Claim(
            "With leaky ReLU averages of |w| obey an exponential bound, where Lemma D.2 has a power.",
            "ours; M96",
            at_most_one("over_bound"),
            only=dict(activation="leaky"),
            built=True,
        ),
        Claim(
            "Tails over neurons are Gaussian ones.", "M97 · Lemma D.2", decays_like_gauss, only=dict(activation="leaky")
        ),
        Claim(
            "F maps every path of ψ₂ norm K₀ into the same ball.",
            "M98 · Lemma D.3, as printed",
            stays_inside,
            note="F₁ is linear in w₂ and multiplies it by T: the ratio does not depend on K₀. "
            "The iterates of the path at rest stay bounded.",
        ),
        Claim(
            "‖FW′ − FW″‖ obeys Lemma D.4 with one k₁, however near W′ and W″ are.",
            "M99 · Lemma D.4",
            same_ratio,
            note="φ₂′ of a leaky ReLU jumps at 0, and so does B where all channels vanish.",
        ),
        Claim(
            "Picard differences fall as (T k (1 + √m))^m/m! with one k.",
            "M100 · D.6",
            constants_do_not_grow,
            note="With leaky ReLU the iterates of some nets cycle for ever, where B jumps; seen on 201 times.",
        ),
    ),
)
