"""Plateau levels against the best fit of every width, found by minimising the factorised loss."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize
from theory.descent import COVARIANCE, EYE2, descend_linear, linear_setting, random_problem, waits_at

from saddlescope.errors import InvalidInput
from saddlescope.nets import Neuron, Tanh, Units
from saddlescope.tasks import LinearTeacher, Points
from saddlescope.theory import LinearLevels


def levels(setting):
    axes, values = LinearLevels()(setting)["plateau_level"]
    assert axes == "stage"
    return values


def best_fit(rank, yx, xx, power, starts=3):
    """The smallest loss of a map V Uᵀ of this width."""
    outputs, inputs = yx.shape
    rng = np.random.default_rng(0)

    def loss(flat):
        V, U = flat[: outputs * rank].reshape(outputs, rank), flat[outputs * rank :].reshape(inputs, rank)
        W = V @ U.T
        slope = 2 * (W @ xx - yx)
        value = power - 2 * np.sum(W * yx) + np.sum((W @ xx) * W)
        return value, np.concatenate([(slope @ U).ravel(), (slope.T @ V).ravel()])

    if rank == 0:
        return power
    begin = rng.standard_normal((starts, (outputs + inputs) * rank))
    return min(minimize(loss, b, jac=True, method="BFGS", options=dict(gtol=1e-7)).fun for b in begin)


def best_fits(x, y):
    yx, xx, power = y.T @ x / len(x), x.T @ x / len(x), np.mean(np.sum(y**2, axis=1))
    return [best_fit(r, yx, xx, power) for r in range(min(yx.shape) + 1)]


@settings(max_examples=8, deadline=None, derandomize=True)
@given(st.integers(0, 2**32 - 1), st.integers(1, 4), st.integers(1, 4))
def test_levels_are_the_best_fits_of_each_width(seed, outputs, inputs):
    W, xx = random_problem(np.random.default_rng(seed), outputs, inputs)
    power = np.trace(W @ xx @ W.T)
    brute = [best_fit(r, W @ xx, xx, power) for r in range(min(W.shape) + 1)]
    np.testing.assert_allclose(levels(linear_setting(W, xx)), brute, rtol=1e-6, atol=1e-6 * power)


def test_identity_teacher_on_the_paper_s_covariance():
    np.testing.assert_allclose(levels(linear_setting()), [5, (5 - np.sqrt(13)) / 2, 0], rtol=1e-14, atol=1e-15)


def test_tied_modes_share_the_power():
    np.testing.assert_allclose(levels(linear_setting(np.eye(3), np.eye(3))), [3, 2, 1, 0], atol=1e-14)


def test_a_draw_has_the_levels_of_its_own_moments():
    matrix = ((1, 0, 0.3), (0, 0.5, -0.2))
    covariance = ((1, 0.5, 0), (0.5, 2, 0), (0, 0, 1))
    setting = linear_setting(task=LinearTeacher(matrix, covariance, samples=30), data_seed=5)
    x = np.asarray(setting.data().x)
    drawn, population = levels(setting), levels(linear_setting(matrix, covariance))
    np.testing.assert_allclose(drawn, best_fits(x, x @ np.array(matrix).T), rtol=1e-6, atol=1e-6)
    assert abs(drawn[1] / population[1] - 1) > 0.05  # a draw of 30 is not the population


def test_noise_is_a_floor_that_no_width_removes():
    rng = np.random.default_rng(3)
    x, W = rng.standard_normal((30, 3)), rng.standard_normal((2, 3))
    y = x @ W.T + 0.5 * rng.standard_normal((30, 2))
    found = levels(linear_setting(task=Points(x, y)))
    floor = np.sum(np.linalg.lstsq(x, y)[1]) / len(x)
    assert floor > 0.1
    np.testing.assert_allclose(found[-1], floor, rtol=1e-12)
    np.testing.assert_allclose(found, best_fits(x, y), rtol=1e-6)


@pytest.mark.parametrize("samples", [3, 12], ids=["fewer samples than inputs", "two inputs the same"])
def test_a_covariance_without_full_rank(samples):
    rng = np.random.default_rng(samples)
    x = rng.standard_normal((samples, 4))
    x[:, 3] = x[:, 2]
    y = rng.standard_normal((samples, 3))
    found = levels(linear_setting(task=Points(x, y)))
    np.testing.assert_allclose(found, best_fits(x, y), rtol=1e-6, atol=1e-6)


def test_a_wide_net_waits_at_the_level():
    # Between the drops, 600 steps apart, the first mode relaxes and the second has hardly risen.
    np.testing.assert_allclose(waits_at(descend_linear(linear_setting())[0]), levels(linear_setting())[1], rtol=1e-5)


def test_a_net_that_learns_modes_in_another_order_waits_above_the_level():
    """The docstring's condition is needed: growth follows s = (4, 3), levels follow the eigenvalues (4, 9)."""
    setting = linear_setting(((1, 0), (0, 3)), ((4, 0), (0, 1)), scale=1e-20)
    np.testing.assert_allclose(levels(setting), [13, 4, 0], rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(waits_at(descend_linear(setting)[0]), 9, rtol=1e-3)


def test_refuses_a_net_that_is_not_linear():
    with pytest.raises(InvalidInput, match="linear nets"):
        LinearLevels()(
            linear_setting(task=LinearTeacher(EYE2, COVARIANCE, samples=8), net=Units(4, Neuron(Tanh()), 0.1))
        )


@pytest.mark.parametrize("units", [1, 2])
def test_fewer_units_than_modes_end_at_the_best_fit_of_their_width(units):
    found = levels(linear_setting(np.diag([1, 0.7, 0.4]), np.eye(3), units=units))
    W, xx = np.diag([1, 0.7, 0.4]), np.eye(3)
    np.testing.assert_allclose(found[-1], best_fit(units, W, xx, np.trace(W @ W.T)), rtol=1e-6)
