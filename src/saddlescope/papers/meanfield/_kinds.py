"""The starts and data whose limit is no global minimiser, and which assumptions of Theorem 2.2 each of
them meets.
"""

from typing import NamedTuple

import numpy as np

from saddlescope.meanfield import GemanMcClure, Limit, Measure, PseudoHuber, meanfield
from saddlescope.meanfield.laws import GaussianFeatures, StartLaw, UniformFeatures, UniformMixing
from saddlescope.nets.activation import LeakyReLU, RoundedLeakyReLU, Sigmoid, Tanh
from saddlescope.numerics import reproducible

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


@reproducible()
def zero_loss(limit: Limit) -> float:
    """The loss of the predictor that is zero."""
    return float(limit.measure.weights @ limit.residual.value(-limit.measure.y).sum(axis=1))


@reproducible()
def slopes_of(activation) -> tuple[float, float]:
    """The least and the largest φ' on ±40, by differences."""
    z = np.linspace(-40, 40, 80_001)
    slopes = np.diff(np.asarray(activation(z))) / np.diff(z)
    return float(slopes.min()), float(slopes.max())


def assumptions(limit: Limit, first_loss: float, last_speed: float) -> dict[str, bool]:
    """Which assumptions of Appendix C are met, one by one.

    **Arguments:**

    - `limit`: what is asked about.
    - `first_loss`: its loss at the start.
    - `last_speed`: the largest derivative of a weight at the end.
    """
    low, high = slopes_of(limit.activation)
    big = np.array([-1e6, 1e6])
    return {
        "C.1 φ Lipschitz": bool(high < 10),
        "C.1 φ' ≥ 1/K": bool(low > 1e-3),
        "C.1 |L| ≤ K": isinstance(limit.mixing, UniformMixing),
        "C.2 sub-Gaussian": all(np.isfinite(s.std) for s in limit.starts),
        "C.3 |X| ≤ K": bool(np.isfinite(limit.measure.x).all()),
        "C.3 |L⁰| ≤ K": isinstance(limit.features, UniformFeatures),
        "C.3 ∂ℓ bounded": bool(np.abs(limit.residual.derivative(big)).max() < 1e3),
        "C.3 ∂ℓ = 0 ⇒ ℓ = 0": _stationary_at_zero_alone(limit.residual),
        "C.4 full support": isinstance(limit.features, GaussianFeatures),
        "C.5 below zero's loss": bool(first_loss < zero_loss(limit) - 1e-9),
        "C.6 converges": bool(last_speed < 1e-6),
    }


def _stationary_at_zero_alone(residual) -> bool:
    u = np.linspace(-50, 50, 10_001)
    slopes = residual.derivative(u)
    return bool(np.all((slopes > 0) == (u > 1e-9)) and np.all((slopes < 0) == (u < -1e-9)))


# C.3 bounds the features and C.4 asks that they fill the space: no law does both. The proofs need one of them.
APART = {"C.3 |L⁰| ≤ K", "C.4 full support"}
# MSE is the paper's own example of C.3, and its derivative is not bounded. Along a flow it is.
OWN_EXAMPLE = {"C.3 ∂ℓ bounded"}


def meets_all(found: dict[str, bool]) -> bool:
    """Whether all hold, as the paper reads them: one of C.3's and C.4's feature laws, and MSE allowed."""
    rest = {name for name in found if name not in APART | OWN_EXAMPLE}
    return all(found[name] for name in rest) and any(found[name] for name in APART)
