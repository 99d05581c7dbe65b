"""Checks about limits and starts can fail: assumptions one by one, slopes beside luck, shares by their intervals."""

import numpy as np
import pytest

from saddlescope.claims import FAILS, HOLDS, UNCLEAR
from saddlescope.meanfield import Measure, StartLaw, meanfield
from saddlescope.meanfield.laws import GaussianMixing
from saddlescope.nets.activation import LeakyReLU, Sigmoid, Tanh
from saddlescope.papers.meanfield import relu_degeneracy, stationary_start
from saddlescope.papers.meanfield._kinds import KINDS, assumptions, meets_all, scaled_moments


def test_every_assumption_can_fail():
    """Each is broken by one limit, and nothing else is."""
    good = assumptions(KINDS["b-bounded"].limit, 0.0, 0.0, 0.0)
    assert [n for n, met in good.items() if not met] == ["C.4 full support"]
    data = Measure([-0.5, 0.5], [1.0, 0.0])
    twins = Measure([0.5, 0.5], [1.0, 0.0])
    broken = {
        "C.1 φ' ≥ 1/K": assumptions(meanfield(data, 1, 1, Sigmoid()), 0.0, 0.0, 0.0),
        "C.1 |L| ≤ K": assumptions(meanfield(data, 1, 1, LeakyReLU(0.1), mixing=GaussianMixing()), 0.0, 0.0, 0.0),
        "C.3 one target per x": assumptions(meanfield(twins, 1, 1, Tanh()), 0.0, 0.0, 0.0),
        "C.3 ∂ℓ bounded": assumptions(KINDS["b-leaky"].limit, 0.0, 0.0, 0.0),
        "C.5 below zero's loss": assumptions(KINDS["a-leaky"].limit, 0.25, 0.0, 0.0),
        "C.6 converges": assumptions(KINDS["b-leaky"].limit, 0.0, 1e-3, 0.0),
        "C.1 φ(H) bounded": assumptions(KINDS["b-leaky"].limit, 0.0, 0.0, 0.1),
    }
    for name, found in broken.items():
        assert not found[name]
    assert meets_all(good)
    assert not meets_all(broken["C.6 converges"])


def test_moments_of_a_start_by_hand():
    """E|z| = √(2/π), E z² = 1 and E z⁴ = 3; with a mean, E w² = mean² + std²."""
    moments = scaled_moments(StartLaw(0, 0, 1))
    assert moments[[0, 1, 3]] == pytest.approx(
        [np.sqrt(2 / np.pi), 1 / np.sqrt(2), 3**0.25 / 2], rel=1e-5
    )  # |z| has a kink
    assert scaled_moments(StartLaw(1, 0, 2))[1] == pytest.approx(np.sqrt(5 / 2), rel=1e-5)


def test_a_slope_beside_luck_is_found_with_its_interval():
    rng = np.random.default_rng(0)
    x, luck = np.repeat([4.0, 6.0, 8.0], 20), rng.standard_normal(60)
    y = 1.5 * x + 0.9 * luck + 0.01 * rng.standard_normal(60)
    slope, half = stationary_start.slope_of(x, y, luck)
    assert abs(slope - 1.5) < half < 0.01
    plain, wide = stationary_start.slope_of(x, y, np.zeros(60))
    assert abs(plain - 1.5) < wide
    assert wide > 20 * half
    assert np.isnan(stationary_start.slope_of(x[:5] * 0, y[:5], luck[:5])[1])


def test_shares_are_compared_by_their_intervals():
    assert relu_degeneracy.rarer((20, 40), (1, 40)) == HOLDS
    assert relu_degeneracy.rarer((1, 40), (20, 40)) == FAILS
    assert relu_degeneracy.rarer((4, 24), (0, 24)) == UNCLEAR
