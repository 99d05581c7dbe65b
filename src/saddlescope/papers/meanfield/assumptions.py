"""Mean-field paper, Section 2.4 and Appendix C: the assumptions, each on the examples that the paper
names for it.

Nothing is trained. Slopes of activations on ±40; moments of start laws, m^(-1/2) (E|w|^m)^(1/m),
which a sub-Gaussian law keeps bounded; the largest of n feature weights, which a bounded law keeps
bounded and a law of full support cannot; the derivative of the squared loss; E ℓ at the u with
E ∂ℓ = 0 where one input has two targets, and where it has one; and the kernel's eigenvalues on four
points in one dimension, with and without a bias.
"""

import matplotlib.pyplot as plt
import numpy as np
from scipy.special import gammaln

from saddlescope.checks import always, share_text
from saddlescope.claims import CheckResult, Claim
from saddlescope.errors import InvalidInput
from saddlescope.experiment import Experiment
from saddlescope.figures import BLUE, GREEN, ORANGE, RED, letters
from saddlescope.meanfield import Measure, PseudoHuber, Squared, meanfield
from saddlescope.meanfield.laws import GaussianFeatures, GaussianMixing, StartLaw, UniformFeatures, UniformMixing
from saddlescope.nets.activation import LeakyReLU, ReLU, Sigmoid, Tanh
from saddlescope.papers.meanfield._kinds import ORDERS, scaled_moments, slopes_of

ACTIVATIONS = {"leaky": LeakyReLU(0.1), "sigmoid": Sigmoid(), "tanh": Tanh(), "relu": ReLU()}
NAMES = {"leaky": "leaky ReLU, slope 0.1", "relu": "ReLU"}
COUNTS = (100, 10_000, 1_000_000)
FAR = np.array([1e3, 1e6])  # residuals at which ∂ℓ is read
WIDE = 4.0  # beyond which a law of full support has some of a million draws
AWAY = 1e-3  # a slope that counts as bounded away from zero on ±40
ROUNDING = 1e-12  # of numbers of size 1


def measure(seed):
    rng = np.random.default_rng(seed)
    low = [slopes_of(a)[0] for a in ACTIVATIONS.values()]
    noise = rng.uniform(0.1, 2, 2)
    return {
        "least_slope": ("activation", np.array(low)),
        "gaussian_features": ("count", largest(GaussianFeatures(), rng)),
        "uniform_features": ("count", largest(UniformFeatures(), rng)),
        "gaussian_mixing": ("count", largest(GaussianMixing(), rng)),
        "uniform_mixing": ("count", largest(UniformMixing(), rng)),
        "gaussian_moments": ("order", scaled_moments(StartLaw(0, 0, 1))),
        "laplace_moments": ("order", laplace_moments()),
        "squared_slope": ("far", np.abs(Squared().derivative(FAR))),
        "huber_slope": ("far", np.abs(PseudoHuber().derivative(FAR))),
        "noisy_loss": noisy_loss(*noise),
        "plain_loss": noisy_loss(noise[0], -noise[0]),
        "least_eigenvalue": ("bias", least_eigenvalues(rng)),
        "refused_without_bias": refuses(),
    }


def largest(law, rng):
    """The largest |L| among n draws, for rising n."""
    return np.array([np.abs(law.draw(rng, n, 1)[:, 0]).max() for n in COUNTS])


def laplace_moments():
    """m^(-1/2) (E|w|^m)^(1/m) of the two-sided exponential law, E|w|^m = m!."""
    return np.exp(gammaln(ORDERS + 1) / ORDERS) / np.sqrt(ORDERS)


def noisy_loss(up, down):
    """E ℓ at u = E y, where E ∂ℓ = 0, for the targets `up` and −`down` at one input, squared loss."""
    y = np.array([up, -down])
    u = y.mean()
    assert abs(Squared().derivative(u - y).mean()) < ROUNDING
    return float(Squared().value(u - y).mean())


def least_eigenvalues(rng):
    """Of K on four points over its largest, leaky ReLU, without and with a bias; 0: some targets cannot be fitted."""
    x = (np.array([-0.9, -0.3, 0.3, 0.9]) + rng.uniform(-0.2, 0.2, 4))[:, None]
    laws = GaussianFeatures(1.0, 0.0), GaussianFeatures(1.0, 1.0)
    values = [np.linalg.eigvalsh(law.kernel(ACTIVATIONS["leaky"], x, x)) for law in laws]
    return np.array([v[0] / v[-1] for v in values])


def refuses():
    """Whether a 1-D net without bias is refused with a sentence, for a target that it cannot fit."""
    try:
        meanfield(Measure([0.5, 1.0], [1.0, 0.0]), 1, features=GaussianFeatures(1.0, 0.0))
    except InvalidInput:
        return True
    return False


def first(results):
    return next(results.runs())


def slopes_away(names):
    def check(results):
        found = dict(zip(ACTIVATIONS, first(results).least_slope.values, strict=True))
        text = ", ".join(f"{n} {found[n]:.1e}" for n in names)
        return CheckResult(all(found[n] > AWAY for n in names), f"least φ' on ±40: {text}", exact=True)

    return check


def levels_off(found):
    """In which runs the largest of a million draws is within 5 % of that of ten thousand.

    For a uniform law the two differ by 5 % with a chance below 1e-200, for a Gaussian one by 22 % in the mean.
    """
    return found[:, -1] <= 1.05 * found[:, 1]


def bounded(name):
    """The largest of n draws does not grow with n."""

    def check(results):
        found = results.measured[name].values
        grows = ~levels_off(found)
        good = int(np.sum(~grows))
        means = ", ".join(f"{v:.2f} of {n:,}" for v, n in zip(found.mean(axis=0), COUNTS, strict=True))
        return always(good, len(grows), f"largest |L|: {means}; bounded in {share_text(good, len(grows))}")

    return check


def sub_gaussian(name):
    def check(results):
        found = first(results)[name].values
        ratio = found[-1] / found[len(found) // 2 - 1]  # moments of order 40 against 20: 1 or less if bounded
        text = f"m^(-1/2) (E|w|^m)^(1/m): {found[0]:.2f} at m = 1, {found[-1]:.2f} at m = {ORDERS[-1]}"
        return CheckResult(ratio < 1.05, text, exact=True)

    return check


def both_laws(results):
    """C.3's bounded features and C.4's full support: no law named has both."""
    m = results.measured
    bound = {n: bool(levels_off(m[n].values).all()) for n in ("gaussian_features", "uniform_features")}
    wide = {n: bool((m[n].values[:, -1] > WIDE).all()) for n in bound}
    text = ", ".join(
        f"{n.replace('_', ' ')}: {'' if b else 'not '}bounded, {'' if wide[n] else 'not '}wide"
        for n, b in bound.items()
    )
    both = any(bound[n] and wide[n] for n in bound)
    return CheckResult(
        both, f"{text}; full support is mass beyond every K, which bounded features do not have", exact=True
    )


def loss_bounded(name):
    """From u = 1e3 to 1e6 the slope grows by less than a hundredth."""

    def check(results):
        near, far = first(results)[name].values
        return CheckResult(far < 1.01 * near, f"|∂ℓ| = {near:.3g} at u = 1e3, {far:.3g} at u = 1e6", exact=True)

    return check


def zero_mean_slope(results):
    """By arithmetic: two targets at one input, where E ∂ℓ = 0 at their mean. With one target it is true."""
    two, one = results.measured.noisy_loss.values, results.measured.plain_loss.values
    text = f"where E ∂ℓ = 0, E ℓ = {two.min():.2f} to {two.max():.2f} with two targets, {one.max():.2g} with one"
    return CheckResult(bool((np.concatenate([two, one]) < ROUNDING).all()), text, exact=True)


def bias_needed(results):
    """Without a bias K is singular on four points, and the package says so; with one it is not."""
    without, biased = results.measured.least_eigenvalue.values.T
    # singular to rounding, and far from it
    good = (without < ROUNDING) & (biased > 1e-9) & results.measured.refused_without_bias.values.astype(bool)
    sizes = (
        f"least over largest eigenvalue: at most {np.abs(without).max():.0e} without, at least {biased.min():.0e} with"
    )
    return always(int(good.sum()), len(good), f"{share_text(int(good.sum()), len(good))}; {sizes}")


def draw(results):
    figure, axes = plt.subplots(1, 2, figsize=(6.5, 2.8))
    run, z = first(results), np.linspace(-8, 8, 801)
    for (name, a), color in zip(ACTIVATIONS.items(), (BLUE, ORANGE, GREEN, RED), strict=True):
        slope = np.gradient(np.asarray(a(z)), z)
        axes[0].semilogy(z, np.maximum(slope, 1e-8), color=color, label=NAMES.get(name, name))
    axes[0].set(xlabel="z", ylabel="φ'(z)", title="slopes of activations", ylim=(1e-4, 100))
    axes[0].legend(ncols=2, loc="upper center")
    for name, color in (("gaussian", BLUE), ("laplace", RED)):
        axes[1].plot(ORDERS, run[f"{name}_moments"], color=color, label=f"{name.title()} start")
    axes[1].set(xlabel="order m", ylabel="$m^{-1/2}\\,(E|w|^m)^{1/m}$", title="moments of start laws")
    axes[1].legend()
    letters(axes)
    return figure


experiment = Experiment(
    title="The assumptions of the theorems, on the examples named for them",
    source="Section 2.4, Appendix C",
    measure=measure,
    full=dict(seed=range(20)),
    quick=dict(seed=range(4)),
    draw=draw,
    drawn="A: the derivative φ′ of each activation. B: scaled moments of a Gaussian and of a Laplace law; a "
    "sub-Gaussian law keeps them bounded.",
    claims=(
        Claim("Leaky ReLU has φ' bounded away from zero.", "M32 · Section 2.4", slopes_away(("leaky",))),
        Claim(
            "Sigmoid and tanh have φ' bounded away from zero.",
            "M32 · Section 2.4",
            slopes_away(("sigmoid", "tanh")),
            note="Both flatten: φ' falls to zero as e^{−|z|} and e^{−2|z|}. It is so only while H stays bounded.",
        ),
        Claim("Mixing weights are bounded, Uniform law.", "M84 · C.1", bounded("uniform_mixing"), built=True),
        Claim(
            "Mixing weights are bounded, Gaussian law.",
            "M84 · C.1, Section 2.4",
            bounded("gaussian_mixing"),
            note="Section 2.4 allows Gaussian laws, which C.1 excludes.",
        ),
        Claim("A Gaussian start is sub-Gaussian.", "M85 · C.2", sub_gaussian("gaussian_moments")),
        Claim(
            "Control: a Laplace start is sub-Gaussian.",
            "ours",
            sub_gaussian("laplace_moments"),
            note="Its moments grow as m, and not as √m.",
        ),
        Claim(
            "Features are bounded and have full support.",
            "M86 · C.3, C.4",
            both_laws,
            note="The two contradict each other. For leaky ReLU a ball is enough: it is homogeneous.",
        ),
        Claim(
            "∂ℓ is bounded for the squared loss.",
            "M87 · C.3",
            loss_bounded("squared_slope"),
            note="ŷ − y is not bounded. Along a flow it is, since the loss falls.",
        ),
        Claim("∂ℓ is bounded for the pseudo-Huber loss.", "ours", loss_bounded("huber_slope")),
        Claim(
            "E[∂ℓ | x] = 0 gives E[ℓ | x] = 0.",
            "M88 · C.3",
            zero_mean_slope,
            note="It needs a target that is a function of x. With two targets at one x, E ℓ is half their variance.",
        ),
        Claim(
            "In one dimension leaky ReLU features need a bias, as a constant input.",
            "M25 · Section 2.1",
            bias_needed,
        ),
    ),
)
