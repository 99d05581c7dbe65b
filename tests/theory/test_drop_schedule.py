"""The schedule of drops against descent of the wide net, and against the flow it tends to."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import solve_ivp
from scipy.stats import ortho_group
from theory.descent import COVARIANCE, EYE2, descend_linear, fastest_falls, linear_setting, passes

from saddlescope.errors import InvalidInput
from saddlescope.nets import Neuron, Tanh, Units
from saddlescope.optimisers import Adam, GradientDescent, GradientFlow, StepDecay
from saddlescope.tasks import LinearTeacher, Points
from saddlescope.theory import DropSchedule


def predict(setting):
    predicted = DropSchedule()(setting)
    assert {name: axes for name, (axes, _) in predicted.items()} == {"half_strength_step": "mode", "drop_step": "drop"}
    return predicted["half_strength_step"][1], predicted["drop_step"][1]


def half_strengths(setting, q, r, strength):
    """The steps at which qᵀ W r of the wide net passes half its final strength; columns of q and r are modes."""
    _, maps = descend_linear(setting)
    along = np.einsum("ok,noi,ik->nk", q, maps, r)
    return np.array([passes(a, f / 2) for a, f in zip(along.T, strength, strict=True)])


@pytest.mark.parametrize("seed", range(4))
def test_identity_teacher_on_the_paper_s_covariance(seed):
    setting = linear_setting(seed=seed)
    _, axes = np.linalg.eigh(np.array(COVARIANCE))
    axes = axes[:, ::-1]  # the first mode has the largest variance
    half, drop = predict(setting)
    # What is left is of second order in the rate; a drop is read to half a step.
    np.testing.assert_allclose(half, half_strengths(setting, axes, axes, (1, 1)), rtol=5e-4)
    np.testing.assert_allclose(drop, fastest_falls(descend_linear(setting)[0]), atol=0.6)


@settings(max_examples=8, deadline=None, derandomize=True)
@given(st.integers(0, 2**32 - 1), st.integers(1, 3), st.integers(1, 3))
def test_any_teacher_whose_modes_are_axes_of_the_data(seed, outputs, inputs):
    rng = np.random.default_rng(seed)
    q, r = (ortho_group.rvs(n, random_state=rng) if n > 1 else np.eye(1) for n in (outputs, inputs))
    modes = min(outputs, inputs)
    variance, strength = rng.uniform(0.5, 2, inputs), rng.uniform(0.5, 1.5, modes)
    matrix, covariance = q[:, :modes] * strength @ r[:, :modes].T, r * variance @ r.T
    covariance = (covariance + covariance.T) / 2
    setting = linear_setting(matrix, covariance, units=100, steps=4000, seed=seed % 1000)
    measured = half_strengths(setting, q[:, :modes], r[:, :modes], strength)
    order = np.argsort(-strength * variance[:modes])  # modes by their correlation with the target
    np.testing.assert_allclose(predict(setting)[0], measured[order], rtol=0.01)


def test_noise_in_the_targets_moves_nothing():
    """Noise orthogonal to the inputs raises the loss everywhere and leaves the dynamics as they are."""
    x = np.array([[1, 1], [1, -1], [-1, 1], [-1, -1]]) * (1.0, 2.0)
    noise = np.array([[1], [-1], [-1], [1]]) * (0.5, 0.3)
    clean, noisy = (linear_setting(task=Points(x, x + e)) for e in (0 * noise, noise))
    losses, _ = descend_linear(noisy)
    assert losses[-1] > 0.3
    np.testing.assert_allclose(predict(noisy)[0], predict(clean)[0], rtol=1e-12)
    np.testing.assert_allclose(predict(noisy)[1], fastest_falls(losses), rtol=0.01)


def test_the_rate_of_descent_is_not_that_of_the_flow():
    """Without the logarithm, at the flow's rate 2 lr s, the first mode comes out 4 % early."""
    setting = linear_setting()
    _, axes = np.linalg.eigh(np.array(COVARIANCE))
    measured = half_strengths(setting, axes[:, 1:], axes[:, 1:], (1,))[0]
    predicted, s = predict(setting)[0][0], (5 + np.sqrt(13)) / 2
    uncorrected = predicted * np.log1p(0.02 * s) / (0.02 * s)
    assert abs(predicted / measured - 1) < 0.01
    assert abs(uncorrected / measured - 1) > 0.015


@pytest.mark.parametrize("seed", range(2))
def test_what_is_left_is_of_second_order_in_the_rate(seed):
    """The relative error falls with the square of the learning rate; without the constant it would fall with the rate.
    White data and one mode: no other mode's part hides it."""
    rates, errors = np.array([0.04, 0.02, 0.01, 0.005]), []
    for lr in rates:
        setting = linear_setting(((2,),), ((1,),), units=20, lr=lr, seed=seed, steps=round(10 / lr))
        measured = half_strengths(setting, np.eye(1), np.eye(1), (2,))[0]
        errors.append(predict(setting)[0][0] / measured - 1)
    slope = np.polyfit(np.log(rates), np.log(np.abs(errors)), 1)[0]
    assert slope == pytest.approx(2, abs=0.2)
    assert abs(errors[0]) < 1e-3


@pytest.mark.parametrize("seed", range(2))
def test_small_learning_rates_tend_to_the_flow(seed):
    """dθ/dt = -∇L/2 (theory time 2 lr n), by scipy."""
    setting, xx = linear_setting(lr=1e-6, seed=seed), np.array(COVARIANCE)
    start = setting.initial_params()

    def slope(_, flat):
        u, v = flat.reshape(2, 50, 2)
        E = xx - v.T @ u @ xx
        return np.concatenate([(v @ E).ravel(), (u @ E.T).ravel()])

    begin = np.concatenate([start["u"].ravel(), start["v"].ravel()])
    run = solve_ivp(slope, (0, 25), begin, rtol=1e-8, atol=1e-12, dense_output=True)
    time = np.linspace(0, 25, 5001)
    u, v = run.sol(time).reshape(2, 50, 2, -1)
    maps = np.einsum("hot,hit->toi", v, u)
    _, axes = np.linalg.eigh(xx)
    along = np.einsum("ok,toi,ik->kt", axes[:, ::-1], maps, axes[:, ::-1])
    measured = np.array([np.interp(passes(a, 0.5), np.arange(len(time)), time) for a in along])
    predicted = 2 * 1e-6 * predict(setting)[0]
    np.testing.assert_allclose(predicted[0], measured[0], rtol=1e-4)
    np.testing.assert_allclose(predicted[1], measured[1], rtol=5e-3)  # modes share units: an overlap of about 1/50


# ---- Refusals ----


@pytest.mark.parametrize("covariance", [COVARIANCE, ((1, 0.1), (0.1, 2))])
def test_refuses_moments_that_do_not_commute(covariance):
    with pytest.raises(InvalidInput, match="do not commute"):
        DropSchedule()(linear_setting(((1, 0), (0, 0.5)), covariance))


def test_refuses_a_draw_of_white_data():
    with pytest.raises(InvalidInput, match="do not commute"):
        DropSchedule()(linear_setting(task=LinearTeacher(((1, 0), (0, 0.5)), EYE2, samples=1000)))


def test_takes_a_draw_for_an_identity_teacher():
    predict(linear_setting(task=LinearTeacher(EYE2, COVARIANCE, samples=1000)))


@pytest.mark.parametrize("change", [
    dict(optimiser=GradientDescent(0.01, momentum=0.9)),
    dict(optimiser=GradientDescent(0.01, clip=1.0)),
    dict(optimiser=Adam(0.01)),
    dict(optimiser=GradientFlow(0.01)),
    dict(schedule=StepDecay(0.9, 10)),
    dict(task=LinearTeacher(EYE2, COVARIANCE, samples=64), batch=8, steps=None, epochs=10),
], ids=["momentum", "clipping", "Adam", "flow", "schedule", "minibatch"])  # fmt: skip
def test_refuses_other_ways_to_step(change):
    with pytest.raises(InvalidInput, match="full-batch gradient descent"):
        DropSchedule()(linear_setting(**change))


def test_refuses_what_linear_modes_refuse():
    task = LinearTeacher(EYE2, COVARIANCE, samples=8)
    for setting in (
        linear_setting(((1, 0), (0, 0)), EYE2),
        linear_setting(units=1),
        linear_setting(task=task, net=Units(4, Neuron(Tanh()), 0.1)),
    ):
        with pytest.raises(InvalidInput):
            DropSchedule()(setting)


def test_a_mode_that_leaks_into_inputs_without_target_is_refused():
    """Σ_yx = (1, 1), Σ_xx = (1 1; 1 4): rᵀ Σ_xx r is one number, so 'diagonal', but r is no axis of Σ_xx. 6 % off."""
    with pytest.raises(InvalidInput, match="do not commute"):
        DropSchedule()(linear_setting(((1, 0),), COVARIANCE, steps=1500))


def test_modes_that_tie_are_refused():
    """White data and W* = I: the modes have no order, and the basis of the decomposition is nobody's choice."""
    with pytest.raises(InvalidInput, match="tie"):
        DropSchedule()(linear_setting(EYE2, EYE2))


@pytest.mark.parametrize("seed", range(6))
def test_few_units_which_the_modes_share(seed):
    """What of c₂ lies along c₁ (over units) is lost to mode 1; with two units that is most of it for some draws."""
    setting = linear_setting(units=2, seed=seed)
    _, axes = np.linalg.eigh(np.array(COVARIANCE))
    axes = axes[:, ::-1]
    half, _ = predict(setting)
    np.testing.assert_allclose(half, half_strengths(setting, axes, axes, (1, 1)), rtol=0.01)


def test_refuses_initial_weights_that_are_not_small():
    """a0 > a∞: the logarithm of a negative number."""
    with pytest.raises(InvalidInput):
        DropSchedule()(linear_setting(scale=1.0))
