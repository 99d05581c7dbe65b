"""The starts and data whose limit is no global minimiser, and which assumptions of Theorem 2.2 each of
them meets.
"""

from typing import NamedTuple

import numpy as np

from saddlescope.meanfield import GemanMcClure, Limit, Measure, PseudoHuber, meanfield
from saddlescope.meanfield.laws import GaussianFeatures, StartLaw, UniformFeatures, UniformMixing
from saddlescope.nets.activation import LeakyReLU, RoundedLeakyReLU, Sigmoid, Tanh

ZERO, ONE = StartLaw(0, 0, 1), StartLaw(1, 0, 1)
STEP = Measure([-0.5, 0.5], [1.0, 0.0])
SIGNS = Measure([-0.5, 0.5], [1.0, -1.0], [0.75, 0.25])


class Kind(NamedTuple):
    """One counterexample.

    **Arguments:**

    - `limit`: laws, data and loss.
    - `T`: how long limit and nets are followed.
    - `words`: what it is.
    """

    limit: Limit
    T: float
    words: str


def _kind(data, activation, starts, bias, T, words, **options):
    mixing = UniformMixing(1.0, float(bias))
    return Kind(meanfield(data, 1, 1, activation, mixing=mixing, start=starts, **options), T, words)


LEAKY = LeakyReLU(0.1)
KINDS = {
    "a-leaky": _kind(STEP, LEAKY, (ZERO, ZERO), 0, 200, "zero-mean start, no mixing bias"),
    "a-tanh": _kind(STEP, Tanh(), (ZERO, ZERO), 0, 200, "zero-mean start, no mixing bias"),
    "b-leaky": _kind(STEP, LEAKY, (ZERO, ONE), 1, 200, "mixing bias, w₂ of mean 1"),
    "b-huber": _kind(STEP, LEAKY, (ZERO, ONE), 1, 200, "the same with a loss of bounded slope", residual=PseudoHuber()),
    "b-bounded": _kind(
        STEP,
        LEAKY,
        (ZERO, ONE),
        1,
        400,
        "the same with bounded features",
        residual=PseudoHuber(),
        features=UniformFeatures(),
    ),
    "b-rounded": _kind(STEP, RoundedLeakyReLU(0.1, 0.1), (ZERO, ONE), 1, 200, "the same without a kink"),
    "b-nonconvex": _kind(
        STEP, LEAKY, (ZERO, ONE), 1, 400, "the same with a loss that is not convex", residual=GemanMcClure(2.0)
    ),
    "b-sigmoid": _kind(STEP, Sigmoid(), (ZERO, ONE), 0, 3000, "sigmoid, no mixing bias, w₂ of mean 1"),
    "c-leaky": _kind(SIGNS, LEAKY, (StartLaw(0.5, 0, 1), ONE), 0, 200, "no mixing bias, means above zero"),
}


def zero_loss(limit: Limit) -> float:
    """The loss of the predictor that is zero."""
    values = np.asarray(limit.residual.value(-limit.measure.y))
    return float(limit.measure.weights @ values.sum(axis=1))


def slopes_of(activation) -> tuple[float, float]:
    """The least and the largest φ' on ±40, by differences."""
    z = np.linspace(-40, 40, 80_001)
    slopes = np.diff(np.asarray(activation(z), float)) / np.diff(z)
    return float(slopes.min()), float(slopes.max())


ORDERS = np.arange(1, 41)


def scaled_moments(start: StartLaw) -> np.ndarray:
    """m^(-1/2) (E|w⁰|^m)^(1/m) for m = 1 … 40, of a start law with a mean and noise alone."""
    z = np.linspace(-15, 15, 6001)
    w = np.abs(start.means(1)[0] + start.std * z)
    density = np.exp(-(z**2) / 2) / np.sqrt(2 * np.pi) * (z[1] - z[0])
    return np.array([(density @ w**m) ** (1 / m) / np.sqrt(m) for m in ORDERS])


def assumptions(limit: Limit, first_loss: float, last_speed: float, grows: float) -> dict[str, bool]:
    """Which assumptions of Appendix C are met, one by one.

    **Arguments:**

    - `limit`: what is asked about.
    - `first_loss`: its loss at the start.
    - `last_speed`: the largest derivative of a weight at the end.
    - `grows`: by how much the largest channel up to now grows in the second half of the time.
    """
    low, high = slopes_of(limit.activation)
    slopes = _slopes_of_loss(limit.residual)
    return {
        "C.1 φ Lipschitz": bool(high < 10),
        "C.1 φ' ≥ 1/K": bool(low > 1e-3),
        "C.1 φ(H) bounded": bool(grows < 1e-6),
        "C.1 |L| ≤ K": isinstance(limit.mixing, UniformMixing),
        "C.2 sub-Gaussian": all(_levels_off(scaled_moments(s)) for s in limit.starts),
        "C.3 |X| ≤ K": bool(np.isfinite(limit.measure.x).all()),
        "C.3 |L⁰| ≤ K": isinstance(limit.features, UniformFeatures),
        "C.3 ∂ℓ bounded": bool(np.abs(slopes([-1e6, 1e6])).max() < 1e3),
        "C.3 ∂ℓ Lipschitz": bool(np.abs(np.diff(slopes(FINE)) / np.diff(FINE)).max() < 10),
        "C.3 ∂ℓ = 0 ⇒ ℓ = 0": bool(np.all(np.sign(slopes(FINE)) == np.sign(FINE))),
        "C.3 one target per x": len(np.unique(limit.measure.x, axis=0)) == len(limit.measure.x),
        "C.4 full support": isinstance(limit.features, GaussianFeatures),
        "C.5 below zero's loss": bool(first_loss < zero_loss(limit) - 1e-9),
        "C.6 converges": bool(last_speed < 1e-6),
    }


FINE = np.arange(-5000, 5001) / 100  # residuals from −50 to 50, zero among them


def _slopes_of_loss(residual):
    return lambda u: np.asarray(residual.derivative(np.asarray(u)), float)


def _levels_off(moments):
    """Moments of order 40 against 20: a sub-Gaussian law's scaled ones stay or fall, those of a wider law grow."""
    return bool(moments[-1] < 1.05 * moments[len(moments) // 2 - 1])


# C.3 bounds the features and C.4 asks that they fill the space: no law does both. The proofs need one of them.
APART = {"C.3 |L⁰| ≤ K", "C.4 full support"}
# MSE is the paper's own example of C.3, and its derivative is not bounded. Along a flow it is.
OWN_EXAMPLE = {"C.3 ∂ℓ bounded"}


def meets_all(found: dict[str, bool]) -> bool:
    """Whether all hold, as the paper reads them: one of C.3's and C.4's feature laws, and MSE allowed."""
    rest = {name for name in found if name not in APART | OWN_EXAMPLE}
    return all(found[name] for name in rest) and any(found[name] for name in APART)
