"""t_∞ of a quadratic unit against the equations of motion, solved by somebody else."""

import numpy as np
import pytest
from cases import quadratic_setting
from scipy.integrate import solve_ivp

from saddlescope.nets import Neuron, Square, Units
from saddlescope.optimisers import GradientDescent
from saddlescope.theory import QuadraticDrops
from saddlescope.theory.quadratic import _turning_point, explosion_time


def by_solver(v, a, s):
    """Where the solution of Eq. 48 leaves for infinity: followed to 1e7 times its size, then v̇ = s_m v² to the end."""
    size = np.sqrt(v**2 + a @ a)
    large = 1e7 * size

    def far(t, z):
        return np.abs(z[0]) - large

    far.terminal = True
    rhs = lambda t, z: np.append(s @ z[1:] ** 2, s * z[0] * z[1:])  # noqa: E731
    found = solve_ivp(rhs, (0, 1e6 / size), np.append(v, a), rtol=1e-11, atol=1e-14 * size, events=far, method="DOP853")
    end = found.y[0, -1]
    grown = s[np.argmax(np.abs(found.y[1:, -1]))]
    return found.t[-1] + 1 / (grown * end)


@pytest.mark.parametrize("seed", range(12))
def test_explosion_time_is_that_of_the_equations(seed):
    rng = np.random.default_rng(seed)
    d = rng.integers(2, 6)
    s = rng.standard_normal(d)
    s[0], s[1] = abs(s[0]) + 0.1, -abs(s[1]) - 0.1  # both signs, as Proposition 5 asks
    v, a = 1e-3 * rng.standard_normal(), 1e-3 * rng.standard_normal(d)
    np.testing.assert_allclose(explosion_time(v, a, s), by_solver(v, a, s), rtol=1e-6)


@pytest.mark.parametrize("v", [0.05, -0.05, 0.0])
def test_sign_flips_are_followed(v):
    """v starts small against the a that pull it the other way: it turns."""
    s = np.array([1.0, -2.0]) * (1 if v >= 0 else -1)
    a = np.array([0.2, 1.0])
    turned = _turning_point(lambda x: v**2 + a**2 @ np.expm1(2 * s * np.sign(v or -1) * x), a, s * np.sign(v or -1))
    assert turned is not None or v == 0
    np.testing.assert_allclose(explosion_time(v, a, s), by_solver(v, a, s), rtol=1e-6)


def test_one_dimension_has_a_closed_form():
    """D = 1, v² = a²: v̇ = s v², so t_∞ = 1 / (s v)."""
    assert explosion_time(0.01, [0.01], [2.0]) == pytest.approx(1 / (2 * 0.01), rel=1e-9)


def test_what_never_grows_has_no_time():
    assert explosion_time(-0.5, [0.1], [1.0]) == np.inf  # v < 0 shrinks a, and stops
    assert explosion_time(0.0, [0.0], [1.0]) == np.inf


def test_time_scales_as_the_inverse_of_the_start():
    v, a, s = 0.3, np.array([0.2, -0.5, 0.1]), np.array([1.0, -0.7, 0.4])
    assert explosion_time(v / 100, a / 100, s) == pytest.approx(100 * explosion_time(v, a, s), rel=1e-9)


def test_a_mode_without_weight_is_left_out():
    assert explosion_time(0.5, [0.9, 0.0], [-1.0, 400.0]) == pytest.approx(
        by_solver(0.5, np.array([0.9]), np.array([-1.0])), rel=1e-5
    )


def test_steps_are_those_of_a_plain_numpy_net():
    """Plain descent of three quadratic units: the first to pass 10 does so when it is said to explode."""
    setting = quadratic_setting(net=Units(3, Neuron(Square()), 0.02), optimiser=GradientDescent(0.001))
    data, start = setting.data(), setting.initial_params()
    x, y, u, v = np.asarray(data.x), np.asarray(data.y), start["u"].copy(), start["v"].copy()
    said = QuadraticDrops()(setting)["explosion_step"][1]
    residual = y - (x @ u.T) ** 2 @ v  # held still
    step = 0
    while np.abs(v).max() < 10:
        step += 1
        h = x @ u.T
        dv, du = 2 * (h**2).T @ residual / 30, 2 * (2 * h * (residual @ v.T)).T @ x / 30
        u, v = u + 0.001 * du, v + 0.001 * dv
    assert step / said.min() == pytest.approx(1, rel=0.02)
