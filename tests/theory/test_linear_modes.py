"""The escaping directions against the matrix exponential of the linearised flow (Eq. 32 and 34)."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.linalg import expm
from theory.descent import linear_setting, random_problem

from saddlescope.errors import InvalidInput
from saddlescope.nets import Neuron, Tanh, Units
from saddlescope.tasks import LinearTeacher
from saddlescope.theory.linear_modes import linear_modes


def flow(setting, times):
    """θ = (v; u) of every unit under dθ/dt = M θ, M = (0 Σ_yx; Σ_yxᵀ 0), at these times in units of 1/s₁."""
    yx = np.array(setting.task.matrix) @ np.array(setting.task.covariance)
    outputs, inputs = yx.shape
    M = np.block([[np.zeros((outputs, outputs)), yx], [yx.T, np.zeros((inputs, inputs))]]) / np.linalg.norm(yx, 2)
    start = setting.initial_params()
    return [expm(M * time) @ np.vstack([start["v"].T, start["u"].T]) for time in times]


def check_growth(setting):
    """What the modes leave out of the flow never outgrows the start, however much the rest has grown."""
    m, times = linear_modes(setting), (0.0, 1.0, 3.0, 20.0)
    thetas = flow(setting, times)
    start = np.linalg.norm(thetas[0])
    for time, theta in zip(times, thetas, strict=True):
        kept = np.vstack([m.q, m.r]) @ (np.exp(m.s / m.s[0] * time)[:, None] * m.c)
        assert np.linalg.norm(theta - kept) <= start + 1e-9 * np.linalg.norm(theta)
    assert np.linalg.norm(thetas[-1]) > 1e6 * start


@settings(max_examples=20, deadline=None, derandomize=True)
@given(st.integers(0, 2**32 - 1), st.integers(1, 4), st.integers(1, 4))
def test_modes_are_all_that_grows(seed, outputs, inputs):
    W, xx = random_problem(np.random.default_rng(seed), outputs, inputs)
    check_growth(linear_setting(W, xx, units=5, scale=1.0, seed=seed))


def test_tied_modes_are_all_that_grows():
    check_growth(linear_setting(np.eye(3), np.eye(3), units=5, scale=1.0))


@pytest.mark.parametrize(("matrix", "covariance"), [
    (((1, 0), (0, 0)), ((1, 0.5), (0.5, 1))),
    (((1, 2), (2, 4), (0, 0)), ((1, 0), (0, 1))),
    (((0, 0), (0, 0)), ((1, 0), (0, 1))),
], ids=["one", "rank one of two", "none"])  # fmt: skip
def test_refuses_a_mode_that_never_escapes(matrix, covariance):
    with pytest.raises(InvalidInput, match="never escapes"):
        linear_modes(linear_setting(matrix, covariance))


def test_refuses_fewer_units_than_modes():
    with pytest.raises(InvalidInput, match="1 unit cannot learn 2 modes"):
        linear_modes(linear_setting(units=1))
    linear_modes(linear_setting(units=2))


def test_refuses_a_net_that_is_not_linear():
    task = LinearTeacher(((1, 0), (0, 1)), ((1, 0), (0, 1)), samples=8)
    with pytest.raises(InvalidInput, match="linear nets"):
        linear_modes(linear_setting(task=task, net=Units(4, Neuron(Tanh()), 0.1)))
