"""Norms, bounds and the operator F, against brute force, closed forms and scipy."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from meanfield_net import SmallNet
from scipy.linalg import expm

from saddlescope.nets.activation import Erf, LeakyReLU
from saddlescope.theory.meanfield import apriori, difference, norms
from saddlescope.theory.meanfield.finite_width import Bounds
from saddlescope.theory.meanfield.forward_bounds import (
    first_bound,
    mixing_norm,
    moment_bound,
    next_bound,
    sum_bound,
)
from saddlescope.theory.meanfield.gram import gram_rank, smallest_eigenvalue
from saddlescope.theory.meanfield.kernel import gaussian_kernel
from saddlescope.theory.meanfield.picard import Neurons, apply_operator, iterates

SEEDS = st.integers(0, 10**6)


def test_moments_are_those_of_the_definition_and_do_not_overflow():
    rng = np.random.default_rng(0)
    u = rng.standard_normal(50)
    assert norms.moment(u, 6) == pytest.approx(np.mean(u**6) ** (1 / 6))
    assert norms.moment(1e200 * u, 50) == pytest.approx(1e200 * np.mean(u**50) ** (1 / 50))
    assert norms.moment(np.zeros(3), 2) == 0


def test_weight_norm_takes_time_then_neurons_then_channels():
    w = np.array([[[1.0, 0.0], [2.0, 0.0]], [[-3.0, 1.0], [1.0, 1.0]]])  # time × neuron × channel
    assert norms.weight_norm(w, 2) == pytest.approx(np.sqrt((9 + 4) / 2))
    assert norms.distance((w, w), (w, 0 * w)) == pytest.approx(np.sqrt(6.5))


@given(SEEDS)
@settings(max_examples=25, deadline=None)
def test_psi_norm_exceeds_the_others(seed):
    rng = np.random.default_rng(seed)
    w = rng.standard_t(3, (4, 30, 2)) * 10 ** rng.uniform(-3, 3)
    psi = norms.psi_norm(w)
    assert psi >= norms.weight_norm(w, 50) * (1 - 1e-12)
    assert psi >= norms.weight_norm(w, 2)


def test_psi_seminorm_of_a_constant_is_its_first_moment():
    assert norms.psi_seminorm(np.full(7, -2.0)) == pytest.approx(2.0)


@given(SEEDS, st.integers(1, 6))
@settings(max_examples=25, deadline=None)
def test_forward_bounds_hold_for_three_layers(seed, rank):
    rng = np.random.default_rng(seed)
    n, points = 9, 4
    features = np.tanh(rng.standard_normal((n, points)) * 3)
    L2, L3 = rng.standard_normal((2, n, rank)) * 2
    (w1, w2), (v1, v2) = rng.standard_normal((2, 2, n, rank))

    def fields(a, b):
        second = L2 @ (a.T @ features / n)
        return second, L3 @ (b.T @ np.tanh(second) / n)

    (H2, H3), (G2, G3) = fields(w1, w2), fields(v1, v2)
    below = first_bound(features, L2, w1 - v1)
    assert np.abs(H2 - G2).max() <= below * (1 + 1e-12)
    assert np.abs(H3 - G3).max() <= next_bound(below, 1.0, 1.0, L3, w2 - v2, v2) * (1 + 1e-12)
    for order in (1, 2, 7):
        largest = np.mean(np.abs(H2).max(axis=0) ** order) ** (1 / order)
        assert largest <= moment_bound(features, L2, w1[None], order) * (1 + 1e-12)


@given(SEEDS, st.sampled_from([1.0, 1.5, 2.0, 8.0]))
@settings(max_examples=25, deadline=None)
def test_sum_bound_is_minkowski(seed, order):
    rng = np.random.default_rng(seed)
    factors, values = rng.standard_normal(5), rng.standard_t(4, (40, 5))
    found, minkowski, by_max = sum_bound(factors, values, order)
    assert found == pytest.approx(np.mean(np.abs(values @ factors) ** order) ** (1 / order))
    assert found <= minkowski * (1 + 1e-12)
    assert minkowski <= by_max * (1 + 1e-12)


def test_mixing_norms_by_hand():
    L = np.array([[3.0, -4.0], [5.0, 1.0]])
    assert mixing_norm(L) == 7
    assert mixing_norm(L, 2) == pytest.approx(np.sqrt(26))


def test_log_bounds_are_those_of_the_formulas_where_these_fit_a_float():
    T, r, K, n, eps, delta = 1.0, 2, 1.0, (100, 400), 0.01, 0.1
    found = Bounds(T, r, K, n, eps, delta)
    E, log = np.exp(2 * 3), np.sqrt(np.log(3 * 2 * 400**2 / delta + np.e))
    assert 10 ** found.coupling() == pytest.approx(log / 10 * E)
    assert 10 ** found.total() == pytest.approx((0.1 + 0.1) * log * E)
    assert 10 ** found.test_function() == pytest.approx((0.1 + 0.1) * log * E**2)
    descent = np.sqrt(eps * np.log(2 * 100 * 400 * 2 / delta + np.e)) * E
    assert 10 ** found.descent() == pytest.approx(descent)
    with_r = np.sqrt(np.log(3 * 2 * 400**2 * r / delta + np.e))
    derived = 6 * with_r * (1 / 10 + 1 / 20) + 1 / 20
    assert 10 ** found.coupling_derived() == pytest.approx(derived * E)
    assert Bounds(10, 100, 1, n, 1e-3, delta).exponent == 11 * 101


def test_growth_of_bounded_activations_holds_along_a_flow():
    net, times = SmallNet(), np.linspace(0, 3, 31)
    w1, w2 = net.flow(times)
    d = np.abs(net.residuals_and_signals(w1, w2)[0]).max()
    sizes = apriori.Sizes(d, np.abs(net.features(net.x)).max(), 1.0, np.abs(net.mixing).max(), 3)
    first, second = apriori.bounded_growth(sizes, 1.0, np.abs(w2[0]).mean(), times)
    assert np.all(np.abs(w1 - w1[0]).max(axis=(1, 2)) <= first)
    assert np.all(np.abs(w2 - w2[0]).max(axis=(1, 2)) <= second)


def test_leaky_growth_solves_its_linear_system():
    sizes = apriori.Sizes(0.7, 1.3, 1.0, 0.9, 4)
    pull = 0.7 * 1.3 * 0.9
    matrix = pull * np.array([[0, 1.0], [4.0, 0]])
    expected = expm(1.7 * matrix) @ [0.3, 0.5]
    assert apriori.leaky_growth(sizes, 0.3, 0.5, 1.7) == pytest.approx(tuple(expected))


def _neurons(net):
    start = net.start
    slope = lambda z: 1 - np.tanh(z) ** 2  # noqa: E731
    given = net.features(net.x), net.mixing, start, net.y, net.weights
    return Neurons(*given, np.tanh, slope, lambda u: u)


def test_the_flow_is_the_fixed_point_of_the_operator():
    net, times = SmallNet(), np.linspace(0, 3, 301)
    path, neurons = net.flow(times), _neurons(SmallNet())
    for moved, kept in zip(apply_operator(neurons, times, path), path, strict=True):
        np.testing.assert_allclose(moved, kept, atol=1e-9)
    found = iterates(neurons, times, neurons.at_rest(times), 40)
    assert len(found) == 41
    assert norms.distance(found[-1], path) < 1e-8
    assert norms.distance(found[0], path) > 0.1


def test_constants_of_an_operator_whose_iterates_are_known():
    """For F(u) = 3 ∫u the differences are (3T)^m/m!: the constants are 3/(1 + √m), largest at m = 1."""
    T, m = 2.0, np.arange(9)
    factorials = np.cumprod(np.concatenate([[1.0], np.arange(1.0, 9)]))
    found = difference.smallest_constants((3 * T) ** m / factorials, T)
    np.testing.assert_allclose(found, 3 / (1 + np.sqrt(m[1:])))
    bound = 10 ** difference.iterate_bound(4, T, 3.0)
    assert bound == pytest.approx((T * 3 * 3) ** 4 / 24)


def test_lipschitz_bound_falls_with_the_gap_like_its_root_log():
    small, large = (difference.lipschitz_bound(1.0, g, 5.0, 0.5) for g in (1e-8, 1e-4))
    assert 1e-4 < small / large < 2e-4


def test_gram_ranks_with_and_without_bias():
    x = np.linspace(-1, 1, 7)
    rows = np.stack([x, np.ones(7)], axis=1)
    for activation, rank in ((LeakyReLU(0.1), 2), (Erf(), 3)):
        whole, bare = (gaussian_kernel(activation, u, u) for u in (rows, rows[:, :1]))
        assert smallest_eigenvalue(whole) > 1e-9
        assert gram_rank(whole, 1e-12) == 7
        assert gram_rank(bare) == rank  # two rays, or the odd half of seven points about 0
