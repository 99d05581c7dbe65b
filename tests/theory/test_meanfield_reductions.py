"""Superposition, log-ratios and one spike, against flows in all weights that know none of them."""

import numpy as np
import pytest
from meanfield_net import SmallNet
from scipy.integrate import solve_ivp

from saddlescope.theory.meanfield.log_ratio import intervals, log_ratio
from saddlescope.theory.meanfield.one_spike import OneSpike, half_space, lemma_signal
from saddlescope.theory.meanfield.superposition import (
    accumulate_gamma,
    channel_velocity,
    split_velocity,
    superpose,
)

TIMES = np.linspace(0, 6, 601)
ELSEWHERE = np.array([-1.5, 0.0, 0.4, 2.0])


@pytest.fixture(scope="module")
def net():
    return SmallNet()


@pytest.fixture(scope="module")
def path(net):
    return net.flow(TIMES)


def test_channels_are_a_superposition_of_kernels_with_pi(net, path):
    d, B = net.residuals_and_signals(*path)
    kernel = net.features(ELSEWHERE).T @ net.features(net.x) / net.width
    f = net.channels(path[0], ELSEWHERE)
    right = superpose(f[0], kernel, accumulate_gamma(TIMES, d, B, net.weights))
    np.testing.assert_allclose(right, f, atol=2e-9)
    printed = superpose(f[0], kernel, accumulate_gamma(TIMES, d, B, np.ones(3)))
    assert np.abs(printed - f).max() > 0.1


def test_a_schedule_enters_gamma():
    ones, times = np.ones((11, 1)), np.linspace(0, 1, 11)
    found = accumulate_gamma(times, ones, ones[:, :, None], np.ones(1), schedule=times**2)
    np.testing.assert_allclose(found[:, 0, 0], times**3 / 3, atol=1e-12)


def test_velocity_of_channels_is_the_slope_of_the_flow(net, path):
    d, B = net.residuals_and_signals(*path)
    f = net.channels(path[0], net.x)
    kernel = net.features(net.x).T @ net.features(net.x) / net.width
    slope = (f[2:] - f[:-2]) / (TIMES[2:] - TIMES[:-2])[:, None, None]
    velocity = channel_velocity(kernel, net.weights, d, B)
    np.testing.assert_allclose(velocity[1:-1], slope, atol=2e-4)
    local, cross = split_velocity(kernel, net.weights, d, B)
    np.testing.assert_allclose(local + cross, velocity, atol=1e-14)
    by_hand = -kernel[0, 0] * net.weights[0] * d[:, 0, None] * B[:, 0]
    np.testing.assert_allclose(local[:, 0], by_hand, atol=1e-14)


def test_log_ratio_is_that_of_the_flow_and_obeys_its_inequality(net, path):
    d, B = net.residuals_and_signals(*path)
    f = net.channels(path[0], net.x)
    kernel = net.features(net.x).T @ net.features(net.x) / net.width
    for point in range(3):
        for pair in ((0, 1), (1, 2), (2, 0)):
            found = log_ratio(f, d, B, kernel, net.weights, point, pair)
            value = np.log(np.abs(f[:, point, pair[0]] / f[:, point, pair[1]]))
            quiet = np.abs(f[:, point][:, pair]).min(axis=1) > 0.02
            quiet = quiet[:-2] & quiet[1:-1] & quiet[2:]
            slope = (value[2:] - value[:-2]) / (TIMES[2:] - TIMES[:-2])
            np.testing.assert_allclose(found.rate[1:-1][quiet], slope[quiet], atol=2e-2, rtol=2e-2)
            for flags in (found.hypotheses, found.right_hypotheses):
                assert np.all(found.slack[flags] >= -1e-12 * (1 + np.abs(found.rate[flags])))
            assert np.all(found.right_hypotheses[found.hypotheses])
            equal = found.right_hypotheses & (found.coherent == found.other_coherent)
            np.testing.assert_allclose(found.slack[equal], 0, atol=1e-10)


def test_hypothesis_iii_holds_for_one_order_of_two(net, path):
    d, B = net.residuals_and_signals(*path)
    f, kernel = net.channels(path[0], net.x), np.eye(3)
    there, back = (log_ratio(f, d, B, kernel, net.weights, 0, pair) for pair in ((0, 1), (1, 0)))
    assert np.all(there.dominant ^ back.dominant)
    np.testing.assert_allclose(there.rho * back.rho, 1)


def test_intervals_are_runs_of_true():
    flags = np.array([True, True, False, True, False, True, True, True])
    assert intervals(flags) == [slice(0, 2), slice(5, 8)]
    assert intervals(np.zeros(4, bool)) == []


def _full_one_spike(spike, nodes, times):
    """Eq. 11–13 with K for every neuron of a finite law with equal weights; f and w₂ together."""
    rank = nodes.shape[1]

    def velocity(_, state):
        f, w = state[:rank], state[rank:]
        fields = nodes @ f
        d = np.mean(w * np.maximum(fields, 0)) - spike.target
        B = nodes.T @ (w * (fields > 0)) / len(nodes)
        return np.concatenate([-spike.kernel * d * B, -d * np.maximum(fields, 0)])

    start = np.concatenate([[spike.start], np.zeros(rank - 1), np.full(len(nodes), spike.weight)])
    span = times[0], times[-1]
    return solve_ivp(velocity, span, start, "DOP853", times, rtol=1e-11, atol=1e-12).y[:rank]


@pytest.mark.parametrize("kernel", [0.3, 1.0, 2.5])
def test_one_spike_is_the_whole_system_on_its_axis(kernel):
    size = np.array([-2.0, -1.0, 1.0, 2.0])
    nodes = np.stack([a.ravel() for a in np.meshgrid(size, size)], axis=1)
    spike = OneSpike(0.4, 0.7, 2.0, kernel, float(np.abs(size).mean()), float((size**2).mean()))
    times = np.linspace(0, 20, 201)
    f = _full_one_spike(spike, nodes, times)
    a, b = spike.solve(times)
    np.testing.assert_allclose(f[0], a, rtol=1e-8)
    assert np.abs(f[1]).max() < 1e-12
    np.testing.assert_allclose([a[-1], b[-1]], spike.end(), rtol=1e-6)
    np.testing.assert_allclose(spike.constant(a, b), spike.constant(a[0], b[0]), atol=1e-9)
    said = lemma_signal(times, a * b - spike.target, a, spike.weight, spike.mean_size, spike.mean_square)
    np.testing.assert_allclose(said, b, atol=1e-4)


def test_half_spaces_of_a_symmetric_law_and_of_another():
    values, weights = np.array([-3.0, -1.0, 0.0, 1.0, 3.0]), np.array([0.1, 0.2, 0.4, 0.2, 0.1])
    for a in (-2.0, 0.5):
        assert half_space(values, weights, a) == pytest.approx((np.sign(a) * 0.5, 1.1))
    lopsided, _ = half_space(values, np.array([0.1, 0.2, 0.4, 0.1, 0.2]), 1.0)
    assert abs(lopsided - 0.5) > 0.1
