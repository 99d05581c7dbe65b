"""Gradient flow against another solver, and descent against the flow."""

import numpy as np
from cases import linear_setting
from scipy.integrate import solve_ivp

from saddlescope.nets import linear_units
from saddlescope.observables import Balancedness
from saddlescope.optimisers import GradientDescent, GradientFlow
from saddlescope.papers.simplicity import flow_limit
from saddlescope.results import Run
from saddlescope.training import every, train


def setting(optimiser, steps):
    return linear_setting(net=linear_units(6, 0.05), optimiser=optimiser, steps=steps)


def gap(descent):
    """As the experiment analyses it, of descent and the flow beside it."""
    flow = descent.replace(optimiser=GradientFlow(descent.optimiser.lr))
    runs = {"descent": Run(train(descent)), "flow": Run(train(flow))}
    return runs, flow_limit.analyse(runs, {}, 1e-2)["gap"]


def test_flow_is_that_of_another_solver():
    s = setting(GradientFlow(0.02, rtol=1e-10, atol=1e-14), 150)
    S = np.array(s.task.covariance)
    u0, v0 = (s.initial_params()[k] for k in "uv")

    def slope(t, y):
        u, v = y.reshape(2, 6, 2)
        E = (v.T @ u - np.eye(2)) @ S
        return -2 * np.stack([v @ E, u @ E.T]).ravel()

    times = 0.02 * np.arange(151)
    y = solve_ivp(slope, (0, 3), np.stack([u0, v0]).ravel(), "DOP853", times, rtol=1e-12, atol=1e-14).y
    errors = [v.T @ u - np.eye(2) for u, v in y.T.reshape(-1, 2, 6, 2)]
    expected = [np.trace(E @ S @ E.T) for E in errors]
    np.testing.assert_allclose(train(s)["loss"].values, expected, rtol=1e-7, atol=1e-12)


def test_flow_conserves_balance_and_descent_nearly():
    flow = train(setting(GradientFlow(0.02), 150), (Balancedness(),), every(50, 150))["balancedness"].values
    assert np.abs(flow - flow[0]).max() < 1e-9
    descent = train(setting(GradientDescent(0.02), 150), (Balancedness(),), every(50, 150))["balancedness"].values
    assert 1e-6 < np.abs(descent - descent[0]).max() < 0.1


def test_descent_tends_to_the_flow_at_first_order():
    gaps = [gap(setting(GradientDescent(lr), round(2 / lr)))[1] for lr in (4e-3, 2e-3, 1e-3, 5e-4)]
    slopes = np.diff(np.log2(gaps)) * -1
    np.testing.assert_allclose(slopes, 1, atol=0.1)
    assert abs(slopes[-1] - 1) < abs(slopes[0] - 1)


def test_flow_that_blows_up_is_marked():
    run = train(linear_setting(net=linear_units(5, 1e60), optimiser=GradientFlow(1.0), steps=4))
    assert "diverged" in str(run["status"].values)


def test_the_gap_is_the_largest_and_divergence_is_not_hidden():
    runs, found = gap(setting(GradientDescent(4e-3), 100))
    assert found == np.abs(runs["descent"].loss.values - runs["flow"].loss.values).max()
    _, wild = gap(linear_setting(net=linear_units(5, 1.0), optimiser=GradientDescent(50.0), steps=10))
    assert not np.isfinite(wild)
