"""Meanfield paper, Section 3.2, Appendix B and Theorem C.1: the first layer's kernel. Nothing is trained.

Closed forms stand beside brute-force integrals at random pairs of points, in one dimension and in
three. K(−δ, δ) is then followed in δ, up to 1 for the uniform law and up to 16 for the others, with
the place where it changes its sign and the power with which it decays or grows. The paper gives no
ψ(δ), so that decay is asked for in its weakest form: |K(−δ, δ)| falls. Gram matrices of five points
show what the features span, with a bias and without.
"""

import matplotlib.pyplot as plt
import numpy as np
from scipy.optimize import brentq
from scipy.special import expit

from saddlescope.checks import all_below
from saddlescope.claims import CheckResult, Claim
from saddlescope.experiment import Experiment
from saddlescope.figures import BLACK, BLUE, GREEN, ORANGE, PURPLE, RED, WIDTH, letters
from saddlescope.meanfield.laws import GaussianFeatures, SphereFeatures, UniformFeatures
from saddlescope.meanfield.laws.features import with_one
from saddlescope.nets.activation import Erf, LeakyReLU, ReLU
from saddlescope.papers.meanfield._quadrature import (
    gaussian_average,
    sphere_average,
    uniform_average,
)
from saddlescope.tables import Table
from saddlescope.theory.meanfield.gram import gram_rank, smallest_eigenvalue

# Smooth ones as numpy functions: JAX would compile them for every number of nodes.
ACTIVATIONS = {
    "relu": ReLU(),
    "leaky .1": LeakyReLU(0.1),
    "leaky .01": LeakyReLU(0.01),
    "tanh": np.tanh,
    "erf": Erf(),
    "sigmoid": expit,
}
NAMES = {"relu": "ReLU", "leaky .1": "leaky ReLU, 0.1", "leaky .01": "leaky ReLU, 0.01"}
COLORS = dict(zip(ACTIVATIONS, (BLUE, RED, ORANGE, GREEN, BLACK, PURPLE), strict=True))
LAWS = {
    "gauss": GaussianFeatures(),
    "small bias": GaussianFeatures(1.0, 0.5),
    "uniform": UniformFeatures(),
    "sphere": SphereFeatures(),
}
UNBOUNDED = ("gauss", "small bias", "sphere")  # the uniform law's kernel ends at |x| = 1
PAIRS, ROUNDING, NEVER = 6, 1e-10, -1.0
PLACES = np.linspace(-1, 1, 201)
# Mirrored, as the paper's own data are: a uniform grid on [−1, 1], and ±δ. Odd features do not span there.
FIVE = np.array([[-0.9], [-0.4], [0.0], [0.4], [0.9]])


def measure(law, activation, seed):
    phi, features, rng = ACTIVATIONS[activation], LAWS[law], np.random.default_rng(seed)
    pairs = [_pair(law, rng, d) for d in _dimensions(law)]
    deltas = np.geomspace(0.05, 1 if law == "uniform" else 16, 30)
    cross = np.array([_at(features, phi, -d, d) for d in deltas])
    own = np.array([_at(features, phi, d, d) for d in deltas])
    mirrored = np.array([_at(features, phi, -d, -d) for d in deltas])
    shape = features.kernel(phi, PLACES[:, None], np.array([[0.5]]))[:, 0]
    gram = features.kernel(phi, FIVE, FIVE)
    change = _sign_change(features, phi, deltas, cross)
    return {
        "gap": max(_gap(law, phi, features, x, z) for x, z in pairs),
        "mirror_gap": float(np.abs(own - mirrored).max()),
        "delta": ("distance", deltas),
        "cross": ("distance", cross),
        "own": ("distance", own),
        "smallest": float(cross.min()),
        "sign_change": change,
        "sides": ("side", _sides(law, phi, features, change)),
        "power": float(np.polyfit(np.log(deltas[-5:]), np.log(np.abs(cross[-5:]) + 1e-300), 1)[0]),
        "peak": float(PLACES[shape.argmax()]),
        "at_half": _at(features, phi, -0.5, 0.5) / _at(features, phi, 0.5, 0.5),
        "gram": smallest_eigenvalue(gram),
        "bare_rank": gram_rank(_bare(law, phi)),
    }


def _at(features, phi, x, z):
    return float(features.kernel(phi, np.array([[x]]), np.array([[z]]))[0, 0])


def _bare(law, phi):
    """The Gram matrix without bias; the uniform law's by 2,000 equally spaced slopes."""
    if law == "uniform":
        slopes = (np.arange(2000) + 0.5) / 1000 - 1
        drawn = np.asarray(phi(FIVE * slopes))
        return drawn @ drawn.T / 2000
    return GaussianFeatures(1.0, 0.0).kernel(phi, FIVE, FIVE)


def _dimensions(law):
    return (1,) if law == "uniform" else (1, 3)


def _pair(law, rng, dimension):
    """Random inputs x and z, six of each."""
    size = 1.0 if law == "uniform" else 2.0
    return rng.uniform(-size, size, (2, PAIRS, dimension))


def _gap(law, phi, features, x, z):
    """The largest difference between closed form and brute force."""
    return float(np.abs(np.diag(features.kernel(phi, x, z)) - _brute(law, phi, features, x, z)).max())


def _brute(law, phi, features, x, z):
    """K(x, z) row by row, by brute force."""

    def numpy_phi(values):
        return np.asarray(phi(values))

    if law == "uniform":
        pairs = zip(x[:, 0], z[:, 0], strict=True)
        return [uniform_average(numpy_phi, a, b) for a, b in pairs]
    average = sphere_average if law == "sphere" else gaussian_average
    scale = np.append(np.ones(x.shape[1]), getattr(features, "bias_std", 1.0))
    rows = zip(with_one(x) * scale, with_one(z) * scale, strict=True)
    return [average(numpy_phi, a, b) for a, b in rows]


def _sign_change(features, phi, deltas, cross):
    """Where K(−δ, δ) becomes negative; NEVER where it does not."""
    negative = np.flatnonzero(cross < -ROUNDING)
    if not len(negative):
        return NEVER
    low, high = deltas[negative[0] - 1], deltas[negative[0]]
    root = brentq(lambda d: _at(features, phi, -d, d), low * 0.99, high, xtol=1e-12)
    return float(np.asarray(root))


def _sides(law, phi, features, change):
    """K(−δ, δ) by brute force a millionth before and after the change of sign."""
    if change == NEVER:
        return np.zeros(2)
    beside = change * np.array([[1 - 1e-6], [1 + 1e-6]])
    return np.array(_brute(law, phi, features, -beside, beside))


# ---- Checks ----


def by_kind(flag, say, among=lambda run: True):
    """A fact about formulas: true of every law and activation among these, of some, or of none."""

    def check(results):
        once = results.select(seed=results.values("seed")[0])
        kinds = [(f"{r.activation.item()}, {r.law.item()}", r) for r in once.runs() if among(r)]
        if not kinds:
            return None
        true = [name for name, r in kinds if flag(r)]
        wrong = [f"{name} ({say(r)})" for name, r in kinds if not flag(r)]
        text = f"true for {len(true)} of {len(kinds)} kinds"
        text += f"; not for {'; '.join(wrong[:8])}" if wrong else ""
        every, some = not wrong, bool(true) and bool(wrong)
        return CheckResult(every, text, partly=some, exact=True)

    return check


def _where_not_positive(r):
    if r.sign_change == NEVER:
        return f"{float(r.smallest):.0e} at the smallest"
    return f"negative from δ = {float(r.sign_change):.3f}"


def changes_where_said(r):
    """Brute force changes its sign there too; for odd φ at bias over feature deviation."""
    before, after = r.sides.values
    law = LAWS[r.law.item()]
    odd = r.activation.item() in ("tanh", "erf")
    return before > 0 > after and (not odd or abs(r.sign_change - law.bias_std / law.std) < 1e-9)


def draw(results):
    figure, axes = plt.subplots(1, 3, figsize=(WIDTH, 2.7))
    for ax, (law, word) in zip(axes, (("gauss", "Gaussian"), ("uniform", "uniform")), strict=False):
        ax.axhline(0, color="0.6", lw=0.6)
        for run in results.select(law=law, seed=results.values("seed")[0]).runs():
            name = run.activation.item()
            ax.plot(run.delta, run.cross / run.own, color=COLORS[name], lw=1, label=NAMES.get(name, name))
        ax.set(xlabel="δ", title=f"{word} features")
    axes[0].set(ylabel="K(−δ, δ) / K(δ, δ)", xscale="log")
    for name in results.values("activation"):
        shape = LAWS["gauss"].kernel(ACTIVATIONS[name], PLACES[:, None], np.array([[0.5]]))[:, 0]
        axes[2].plot(PLACES, shape / shape.max(), color=COLORS[name], lw=1)
    axes[2].axvline(0.5, color="0.6", lw=0.6)
    axes[2].set(xlabel="x", title="Gaussian features", ylabel="K(x, ½) over its maximum")
    letters(axes)
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=6)
    return figure


def _row(run):
    change = None if run.sign_change == NEVER else float(run.sign_change)
    numbers = (float(run[name]) for name in ("gap", "at_half", "power", "peak"))
    gap, half, power, peak = numbers
    return [run.law.item(), run.activation.item(), gap, half, change, power, peak]


def tables(results):
    once = results.select(seed=results.values("seed")[0])
    rows = [_row(r) for r in once.runs()]
    columns = ("law", "activation", "largest error", "K(−½,½)/K(½,½)")
    columns += ("negative from δ =", "power of δ at the end", "K(x, ½) is largest at")
    return [Table("kernels", "Kernels of the first layer", columns, rows)]


experiment = Experiment(
    title="The kernel of random features: closed forms, and the sign of K(−δ, δ)",
    source="Section 3.2, Appendix B, Theorem C.1",
    measure=measure,
    full=dict(law=tuple(LAWS), activation=tuple(ACTIVATIONS), seed=range(10)),
    quick=dict(law=tuple(LAWS), activation=("relu", "leaky .1", "tanh", "erf", "sigmoid"), seed=range(1)),
    where="law != 'sphere' or activation == 'relu' or activation == 'leaky .1'",
    draw=draw,
    drawn="Lines are closed forms of the kernel. A, B: between −δ and δ, over its value at δ. C: between x and "
    "½, which the grey line marks.",
    tables=tables,
    claims=(
        Claim(
            "Closed forms agree with brute-force integrals to 1e-13, in one and three dimensions.",
            "ours; M82 · Appendix B",
            all_below("gap", 1e-13, "gap"),
        ),
        Claim("K(−δ, −δ) = K(δ, δ).", "M52 · Section 3.2", all_below("mirror_gap", 1e-14, "gap")),
        Claim(
            "K(−δ, δ) > 0 for every δ.",
            "M53 · Section 3.2, H.2",
            by_kind(lambda r: r.smallest > ROUNDING, _where_not_positive),
            note="φ ≥ 0 makes it positive: ReLU and sigmoid. For odd φ it is negative beyond δ = bias over "
            "feature deviation, for leaky ReLU from some δ on, as −α δ².",
        ),
        Claim(
            "It changes its sign where brute force does, for odd φ at bias over feature deviation.",
            "ours; M53",
            by_kind(
                changes_where_said,
                lambda r: f"δ = {float(r.sign_change):.9f}",
                among=lambda r: r.sign_change != NEVER,
            ),
        ),
        Claim(
            "|K(−δ, δ)| decays as δ → ∞.",
            "M54 · Section 3.2, H.2",
            by_kind(lambda r: r.power < 0, lambda r: f"δ^{float(r.power):.2f}"),
            only=dict(law=UNBOUNDED),
            note="It grows as α δ² for leaky ReLU and tends to −1 for tanh and erf.",
        ),
        Claim(
            "Where it decays, it does so faster than 1/δ².",
            "M54 · Section 3.2",
            by_kind(  # a power of 2 is lenient: a ψ that falls rapidly beats every power
                lambda r: r.power < -2,
                lambda r: f"δ^{float(r.power):.2f}",
                among=lambda r: r.power < 0,
            ),
            only=dict(law=UNBOUNDED),
            note="The paper says rapidly and gives no ψ. ReLU and sigmoid decay as 1/δ.",
        ),
        Claim(
            "K(−½, ½) is below a tenth of K(½, ½).",
            "ours; M54 · Section 3.2",
            by_kind(lambda r: abs(r.at_half) < 0.1, lambda r: f"{float(r.at_half):.2f}"),
            note="Kernels of random features are wide: on [−1, 1] all points see each other. The exception is a zero.",
        ),
        Claim(
            "K(x, x*) over [−1, 1] is a bump at x*.",
            "M46, M50, M118 · Section 3.2, H.2",
            by_kind(lambda r: abs(r.peak - 0.5) < 0.02, lambda r: f"largest at x = {float(r.peak):.2f}"),
            note="K(x, x*) grows with |x| too: it is largest at or near the end of the interval.",
        ),
        Claim(
            "Features with a bias separate five points: their Gram matrix is positive definite.",
            "M3, M36, M37, M91 · Section 2.6, Theorem C.1",
            by_kind(lambda r: r.gram > 1e-10, lambda r: f"smallest eigenvalue {float(r.gram):.1e}"),
        ),
        Claim(
            "Full support of L⁰ and a φ that is no polynomial are enough, without a bias.",
            "M36 · Theorem C.1, without Section 2.1's constant input",
            by_kind(lambda r: r.bare_rank == 5, lambda r: f"rank {int(r.bare_rank)} of 5"),
            only=dict(law="gauss"),  # the uniform law has no full support; without bias the others are this one
            note="Without a constant input, features are two rays (ReLU) or odd up to a constant (tanh, "
            "sigmoid), and data lie on both sides of 0. Section 2.1 adds that input for the first layer; the theory's "
            "upper layers have none.",
        ),
    ),
)
