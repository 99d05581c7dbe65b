"""Meanfield paper, Section 2.4 and Appendix C: which named laws, activations and losses satisfy what is assumed.

Facts about formulas are checked on the formulas: slopes, bounds and supports. Assumption C.5 is
counted on nets of width 1,000 with N(0, 1) weights on a cosine at 32 points: whether their first loss
is below that of the output 0. Largest entries of Gaussian draws are those of 10², 10⁴ and 10⁶ numbers.
"""

import matplotlib.pyplot as plt
import numpy as np

from saddlescope.checks import always, share_text
from saddlescope.claims import CheckResult, Claim
from saddlescope.experiment import Experiment
from saddlescope.figures import BLUE, RED
from saddlescope.meanfield import GemanMcClure, Measure, PseudoHuber, Squared, meanfield
from saddlescope.meanfield.laws import StartLaw
from saddlescope.nets.activation import LeakyReLU, Sigmoid, Tanh
from saddlescope.statistics import wilson

ACTIVATIONS = {"leaky": LeakyReLU(0.1), "tanh": Tanh(), "sigmoid": Sigmoid()}
LOSSES = {"squared": Squared(), "pseudo-Huber": PseudoHuber(), "Geman–McClure": GemanMcClure()}
# Frozen laws: whether they are bounded, and whether their support is everything.
LAWS = {"Gauss": (False, True), "Laplace": (False, True), "uniform": (True, False), "Rademacher": (True, False)}
WIDTH, RANK, FAR = 1000, 4, 40.0
X = np.linspace(-1, 1, 32)


def measure(activation, seed):
    phi, rng = ACTIVATIONS[activation], np.random.default_rng(seed)
    limit = meanfield(Measure(X, np.cos(np.pi * X)), RANK, 1, phi, start=StartLaw(0, 0, 1))
    net = limit.net(WIDTH, seed)
    system, start = net.system()
    zero = float(np.mean(np.cos(np.pi * X) ** 2) / 2)
    z = np.linspace(-FAR, FAR, 8001)
    values = np.asarray(phi(z))
    return {
        "loss_over_zero": float(system.loss(start)) / zero,
        "smallest_slope": float(np.abs(np.diff(values) / np.diff(z)).min()),
        "largest_value": float(np.abs(values).max()),
        "largest_draws": ("draws", np.array([np.abs(rng.standard_normal(n)).max() for n in (100, 10**4, 10**6)])),
        "moments": ("order", _gaussian_moments()),
    }


def _gaussian_moments():
    """m^(−1/2) E[|g|^m]^(1/m) of a Gaussian for m = 1 … 100."""
    from scipy.special import gammaln

    m = np.arange(1, 101)
    logs = m / 2 * np.log(2) + gammaln((m + 1) / 2) - np.log(np.pi) / 2
    return np.exp(logs / m) / np.sqrt(m)


def _by_activation(results, name, flag, say):
    """A fact about each activation."""
    found = {a: float(results.select(activation=a).measured[name].values[0]) for a in results.values("activation")}
    good = [a for a, v in found.items() if flag(v)]
    text = "; ".join(f"{a}: {say} {v:.2g}" for a, v in found.items())
    every = len(good) == len(found)
    return CheckResult(every, text, partly=bool(good) and not every, exact=True)


def slopes(results):
    return _by_activation(results, "smallest_slope", lambda v: v > 1e-3, "smallest |φ′| on ±40 is")


def bounded_values(results):
    return _by_activation(results, "largest_value", lambda v: v <= 1 + 1e-12, "largest |φ| on ±40 is")


def bounded_and_full(results):
    good = [name for name, (bounded, full) in LAWS.items() if bounded and full]
    text = "; ".join(
        f"{n}: {'bounded' if b else 'unbounded'}, {'full' if f else 'compact'} support" for n, (b, f) in LAWS.items()
    )
    return CheckResult(bool(good), text, exact=True)


def gaussian_is_bounded(results):
    top = results.measured.largest_draws.values
    good = int(np.sum(top[:, -1] <= top[:, 0]))
    means = ", ".join(f"{v:.2f}" for v in top.mean(axis=0))
    text = f"largest |L| of 10², 10⁴, 10⁶ draws on average {means}"
    return always(good, len(top), f"{share_text(good, len(top))} without growth; {text}")


def sub_gaussian(results):
    k = results.measured.moments.values[0]
    text = f"m^(−1/2) E[|g|^m]^(1/m) is {k.max():.3f} at most, at m = {1 + int(k.argmax())}"
    return CheckResult(bool(k.argmax() == 0 and k.max() < 1), text, exact=True)


def bounded_loss(results):
    far = {name: abs(loss.derivative(1e6)) for name, loss in LOSSES.items()}
    good = [n for n, v in far.items() if v <= 1]
    text = "; ".join(f"{n}: |∂L| = {v:.2g} at ŷ − y = 10⁶" for n, v in far.items())
    return CheckResult(len(good) == 3, text, partly=0 < len(good) < 3, exact=True)


def loss_condition(results):
    """Y = ±1 with equal chance and u = 0: E ∂L = 0 by symmetry, E L = ℓ(1)."""
    found = {n: (l.derivative(1.0) + l.derivative(-1.0), l.value(1.0)) for n, l in LOSSES.items()}
    text = "; ".join(f"{n}: E ∂L = {a:.1g}, E L = {b:.2g}" for n, (a, b) in found.items())
    return CheckResult(all(b == 0 for _, b in found.values()), f"Y = ±1, u = 0: {text}", exact=True)


def better_than_zero(results):
    ratio = results.measured.loss_over_zero.values
    good = ratio < 1
    text = f"loss over that of ŷ = 0: median {np.median(ratio):.4f}, from {ratio.min():.3f} to {ratio.max():.3f}"
    low, high = wilson(int(good.sum()), good.size)  # high probability: 95 % or more
    text = f"{share_text(int(good.sum()), good.size)}; {text}"
    return CheckResult(low >= 0.95, text, unclear=low < 0.95 <= high)


def draw(results):
    figure, (left, right) = plt.subplots(1, 2, figsize=(6.5, 2.8), layout="constrained")
    ratio = results.measured.loss_over_zero.values
    left.hist(ratio - 1, 31, color=BLUE)
    left.axvline(0, color=RED, lw=1)
    left.set(xlabel="first loss over that of ŷ = 0, less 1", ylabel="nets", title="(a) Assumption C.5")
    z = np.linspace(-4, 4, 401)
    for name, phi in ACTIVATIONS.items():
        right.semilogy(z[1:], np.diff(np.asarray(phi(z))) / np.diff(z), label=name)
    right.set(xlabel="z", ylabel="φ′(z)", title="(b) Assumption C.1")
    right.legend(fontsize=7)
    figure.suptitle(f"{ratio.size} nets, {len(results.values('seed'))} seeds", fontsize=9)
    return figure


experiment = Experiment(
    title="Assumptions of the theorems, one by one, for named laws, activations and losses",
    source="Section 2.4, Appendix C, Assumption G.1",
    measure=measure,
    full=dict(activation=tuple(ACTIVATIONS), seed=range(200)),
    quick=dict(activation=tuple(ACTIVATIONS), seed=range(12)),
    draw=draw,
    claims=(
        Claim(
            "φ′ of leaky ReLU, sigmoid and tanh is bounded away from 0.",
            "M32 · Section 2.4, C.1",
            slopes,
            note="Sigmoid and tanh are flat far away; leaky ReLU alone has it.",
        ),
        Claim(
            "φ is bounded.",
            "M83 · Assumption C.1",
            bounded_values,
            note="Leaky ReLU is not. No named activation has both this and a slope bounded away from 0.",
        ),
        Claim(
            "Gaussian mixing weights are bounded.",
            "M84, M106 · Assumptions C.1, G.1",
            gaussian_is_bounded,
            note="The largest of n Gaussian draws grows as √(2 ln n). Uniform laws satisfy it.",
        ),
        Claim("Gaussian starts are sub-Gaussian with K < 1.", "M85 · Assumption C.2", sub_gaussian),
        Claim(
            "Some law of features is bounded and has full support.",
            "M86 · Assumptions C.3, C.4",
            bounded_and_full,
            note="‖L⁰‖ ≤ K and a support of R^d exclude each other.",
        ),
        Claim(
            "∂L is bounded, for the squared loss too.",
            "M87 · Assumption C.3",
            bounded_loss,
            note="The squared loss's derivative is ŷ − y, without bound.",
        ),
        Claim(
            "E[∂L | x] = 0 implies E[L | x] = 0.",
            "M88 · Assumption C.3",
            loss_condition,
            note="It holds where y is a function of x. With noise in y it fails for every loss.",
        ),
        Claim(
            "The first loss is below that of the output 0, with high probability.",
            "M89 · Assumption C.5",
            better_than_zero,
            note="With zero-mean weights the output is 0 in the limit: equality. At finite width it is a coin toss.",
        ),
    ),
)
