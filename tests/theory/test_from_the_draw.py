"""Predictions from the setting alone, against other solvers, brute force and answers by hand."""

import itertools

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.linalg import expm
from theory.descent import descend_linear, fastest_falls, linear_setting, random_problem, relu_setting

from saddlescope.errors import InvalidInput
from saddlescope.nets import (
    MLP,
    Cube,
    DeepUnits,
    Identity,
    LinearHead,
    LinearTransformer,
    Neuron,
    ReLU,
    Sigmoid,
    SoftmaxHead,
    Square,
    Tanh,
    TanhTimes,
    Units,
    linear_units,
)
from saddlescope.optimisers import GradientDescent
from saddlescope.setting import Setting
from saddlescope.tasks import InContextRegression, Teacher
from saddlescope.theory import AllLinearLevels, FirstDrop, PowerGrowth, TopDirections, TypicalDrops, UnitOrder

EYE3 = ((1, 0, 0), (0, 1, 0), (0, 0, 1))
POWER_LAW = np.diag(np.array([1, 1 / 2, 1 / 3]) * 6 / 11)


# ---- TopDirections ----


def test_the_exponent_is_the_slope_of_what_the_matrix_exponential_leaves():
    """The system itself, by scipy: the rest when the part along the top is one, at two scales."""
    rng = np.random.default_rng(0)
    teacher, covariance = random_problem(rng, 3, 3)
    sigma, theta = teacher @ covariance, rng.standard_normal((5, 6))
    q, s, rt = np.linalg.svd(sigma)
    top = np.concatenate([q[:, 0], rt[0]]) / np.sqrt(2)
    grow = np.block([[np.zeros((3, 3)), sigma], [sigma.T, np.zeros((3, 3))]])
    rest = []
    for eps in (1e-20, 1e-22):  # so small that only the second direction is left
        time = np.log(1 / np.linalg.norm(eps * theta @ top)) / s[0]
        end = eps * theta @ expm(grow * time)
        rest.append(np.linalg.norm(end - np.outer(end @ top, top)))
    slope = np.log(rest[1] / rest[0]) / np.log(1e-2)
    said = TopDirections()(linear_setting(teacher, covariance, units=5))["exponent"][1]
    assert said == pytest.approx(slope, rel=1e-3)


def test_the_exponent_of_given_values():
    assert TopDirections(2, (1, 1, 0.4))(None)["exponent"][1] == pytest.approx(0.6)
    with pytest.raises(InvalidInput, match="must be equal"):
        TopDirections(2, (1, 0.7, 0.4))(None)
    with pytest.raises(InvalidInput, match="linear nets"):
        TopDirections()(None)
    with pytest.raises(InvalidInput, match="linear nets"):
        TopDirections()(relu_setting(((1, 0),), ((1,),)))
    with pytest.raises(InvalidInput, match="`top`"):
        TopDirections(0)


# ---- PowerGrowth ----


@pytest.mark.parametrize("p", [1, 2, 3, 5])
def test_power_growth_is_the_equation_s(p):
    start = (0.02, 0.11, 0.1)

    def one(_, v):
        return max(v) - 1

    one.terminal = True
    found = solve_ivp(lambda _, v: v**p, (0, 1e6), start, rtol=1e-11, atol=1e-14, method="LSODA", events=one)
    said = PowerGrowth(p, start)(None)
    assert said["time"][1] == pytest.approx(found.t[-1], rel=1e-5)
    np.testing.assert_allclose(said["size"][1], found.y[:, -1], rtol=1e-5)


def test_power_growth_refuses_other_starts():
    with pytest.raises(InvalidInput, match="between 0 and 1"):
        PowerGrowth(2, (0.5, 1.5))
    with pytest.raises(InvalidInput, match="degree"):
        PowerGrowth(1.5, (0.5,))


# ---- AllLinearLevels ----


def test_all_levels_are_those_of_projections():
    """Every projection of the optimum on eigenvectors of M: the loss of each map, written out."""
    rng = np.random.default_rng(3)
    W, xx = random_problem(rng, 3, 4)
    _, e = np.linalg.eigh(W @ xx @ W.T)
    levels = []
    for size in range(4):
        for chosen in itertools.combinations(range(3), size):
            gap = W - e[:, list(chosen)] @ e[:, list(chosen)].T @ W
            levels.append(np.trace(gap @ xx @ gap.T))
    said = AllLinearLevels()(linear_setting(W, xx, units=5))["fixed_point_level"][1]
    np.testing.assert_allclose(np.sort(said), np.sort(levels), atol=1e-12)
    few = AllLinearLevels()(linear_setting(W, xx, units=1))["fixed_point_level"][1]
    assert len(few) == 4  # no map of rank two or three


def test_all_levels_are_of_linear_nets():
    with pytest.raises(InvalidInput, match="linear nets"):
        AllLinearLevels()(relu_setting(((1, 0),), ((1,),)))


# ---- TypicalDrops ----


@pytest.mark.parametrize("units", [3, 12])
def test_typical_drops_are_the_mean_over_draws(units):
    """Plain NumPy descent of 24 draws; the error of the mean is about 2 % of the third drop."""
    made = dict(matrix=POWER_LAW, covariance=EYE3, units=units, lr=0.05, steps=2500)
    falls = [fastest_falls(descend_linear(linear_setting(seed=seed, **made))[0]) for seed in range(24)]
    said = TypicalDrops()(linear_setting(**made))
    mean, error = np.mean(falls, axis=0), np.std(falls, axis=0) / np.sqrt(24)
    assert np.all(np.abs(said["typical_drop_step"][1] - mean) < 3 * error + 0.01 * mean)


def test_directions_that_are_taken_delay_the_third_drop_of_a_narrow_net():
    said = TypicalDrops()(linear_setting(POWER_LAW, EYE3, units=3, lr=0.05))
    left, whole = (said[f"typical_drop_step{name}"][1] for name in ("", "_all_units"))
    assert left[2] > 1.05 * whole[2]


def test_typical_drops_are_of_gaussian_draws():
    with pytest.raises(InvalidInput, match="Gaussian"):
        TypicalDrops()(linear_setting(POWER_LAW, EYE3, net=linear_units(9, 1e-6, rank=1, spread=1e-6)))


# ---- FirstDrop ----


def descend_quadratic(setting):
    """Losses and weights of a quadratic net on samples, one per step, in plain NumPy."""
    data, start, lr = setting.data(), setting.initial_params(), setting.optimiser.lr
    x, y, u, v = data.x, data.y, start["u"].copy(), start["v"].copy()
    losses, sizes = [], []
    for _ in range(setting.budget + 1):
        h = x @ u.T
        gap = h**2 @ v - y
        losses.append(np.mean(gap**2))
        sizes.append(np.sqrt((u**2).sum(1) + (v**2).sum(1)))
        du, dv = 2 * (2 * h * (gap @ v.T)).T @ x / len(x), 2 * (h**2).T @ gap / len(x)
        u, v = u - lr * du, v - lr * dv
    return np.array(losses), np.array(sizes)


@pytest.mark.parametrize("seed", range(3))
def test_the_first_drop_and_the_second_unit_are_those_of_plain_descent(seed):
    task, net = Teacher(Square(), ((1, 0), (0, 1)), 200), Units(5, Neuron(Square()), 0.01)
    setting = Setting(task, net, GradientDescent(0.02), steps=1500, seed=seed)
    losses, sizes = descend_quadratic(setting)
    said = FirstDrop()(setting)
    drop = int(fastest_falls(losses)[0])
    assert said["first_drop_step"][1] == pytest.approx(drop, rel=0.03)
    second = np.argsort(sizes[drop])[-2]
    assert said["net_growth"][1] == pytest.approx(sizes[drop, second] / sizes[0, second], rel=0.1)


def test_the_first_drop_is_of_silent_units():
    task = Teacher(Sigmoid(), ((1, 0),), 20)
    with pytest.raises(InvalidInput, match="silent"):
        FirstDrop()(Setting(task, Units(3, Neuron(Sigmoid()), 0.01), GradientDescent(0.02), steps=5))
    with pytest.raises(InvalidInput, match="without momentum"):
        FirstDrop()(linear_setting(optimiser=GradientDescent(0.01, momentum=0.9)))
    with pytest.raises(InvalidInput, match="tries"):
        FirstDrop(0)


# ---- UnitOrder ----


@pytest.mark.parametrize(
    ("unit", "order"),
    [
        (Neuron(Identity()), 1), (Neuron(ReLU()), 1), (Neuron(Tanh()), 1), (Neuron(Square()), 2),
        (Neuron(TanhTimes(1)), 2), (Neuron(Cube()), 3), (Neuron(Sigmoid()), 0),
    ],
)  # fmt: skip
def test_orders_of_taylor_series(unit, order):
    task = Teacher(Tanh(), ((1, 0),), 8)
    for net in (Units(3, unit, 0.1), DeepUnits(3, unit, (4,), 0.1)):
        said = UnitOrder()(Setting(task, net, GradientDescent(0.01), steps=5))
        assert said["order"][1] == order
        assert ("directions" in said) == (order > 0)


def test_orders_of_heads():
    """Key and query multiply: two. A softmax of equal scores is a mean: zero."""
    nets = {Units(2, LinearHead(2), 0.1): 2, LinearTransformer(2, 2, 2, 0.1): 2, Units(2, SoftmaxHead(2), 0.1): 0}
    for net, order in nets.items():
        made = Setting(InContextRegression((1, 1), 4, 8), net, GradientDescent(0.01), steps=5)
        assert UnitOrder()(made)["order"][1] == order
    with pytest.raises(InvalidInput, match="made of units"):
        UnitOrder()(Setting(Teacher(Tanh(), ((1, 0),), 8), MLP((4,)), GradientDescent(0.01), steps=5))
