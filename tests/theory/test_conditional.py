"""Predictions from saved weights, against closed forms, and against weights that were put there by hand."""

import numpy as np
import pytest
import xarray as xr
from staircases import staircase
from theory.descent import linear_setting, relu_setting

from saddlescope.errors import InvalidInput
from saddlescope.explanations import NextDrops
from saddlescope.losses import CustomLoss
from saddlescope.nets import DeepUnits, Identity, Neuron, Square, Units
from saddlescope.observables import Parameters
from saddlescope.optimisers import GradientDescent
from saddlescope.results import Run
from saddlescope.setting import Setting
from saddlescope.tasks import Teacher
from saddlescope.theory import EscapeRate, NearestSaddle, QuadraticNextDrops
from saddlescope.training import every, train

EYE = ((1, 0), (0, 1))


def run_of(setting, often=10):
    return Run(train(setting, (Parameters(),), every(often, setting.budget)))


@pytest.fixture(scope="module")
def linear():
    """Two independent modes of variance 1 and weights 1, ½: s = 1, ½, and the plateau at ¼."""
    setting = linear_setting(((1, 0), (0, 0.5)), EYE, units=6, lr=0.02, steps=1500)
    return setting, run_of(setting)


@pytest.fixture(scope="module")
def relu():
    setting = relu_setting(((1, 0.5), (-1, 2)), ((1,), (-1,)), units=20, steps=2000)
    return setting, run_of(setting)


def test_a_linear_net_leaves_at_the_rate_of_the_mode_that_is_left(linear):
    found = EscapeRate()(*linear)
    assert found["rate"][1] == pytest.approx(np.log1p(2 * 0.02 * 0.5), rel=1e-3)
    assert found["kind"][1] == "strict saddle"
    assert found["lowest"][1] == pytest.approx(-2 * 0.5, rel=1e-3)


def test_a_relu_net_leaves_at_the_rate_of_the_point_that_is_left(relu):
    """2 lr |y| |x| / P of the point that is learned last: the one with the shorter input."""
    found = EscapeRate()(*relu)
    assert found["rate"][1] == pytest.approx(np.log1p(2 * 0.01 * np.hypot(1, 0.5) / 2), rel=1e-3)
    assert found["kind"][1] == "not smooth"


def test_the_saddle_of_a_linear_net_is_the_best_net_of_one_unit(linear):
    found = NearestSaddle()(*linear)
    assert found["level"][1] == pytest.approx(0.25, rel=1e-9)  # ½² of the mode that is left
    assert found["fixed"][1]
    assert found["distance"][1] < 1e-2
    assert found["lower_beside"][1] > 0
    times = linear[1]["saved_step"].values
    plateau = linear[1].stages.plateaus[1]
    assert plateau.start <= found["plateau_step"][1] <= plateau.end
    assert found["plateau_step"][1] in times


def test_of_all_plateaus_the_nearest_is_told_of(linear):
    """There is one between two drops: all of them are that one."""
    one, all_of_them = (NearestSaddle(n)(*linear) for n in (1, None))
    assert one == all_of_them


def test_next_drops_are_where_the_logistic_curves_fall_fastest(linear):
    """White data: mode k falls fastest at a∞/3 of its logistic curve, begun from the draw."""
    setting, run = linear
    start = setting.initial_params()
    c = np.array([start["v"][:, k] + start["u"][:, k] for k in range(2)]) / 2
    a0 = np.diag(np.linalg.qr(c.T, mode="r")) ** 2
    rate, final = 2 * np.log1p(2 * 0.02 * np.array([1, 0.5])), np.array([1, 0.5])
    falls = (np.log(final / a0 - 1) - np.log(2)) / rate
    np.testing.assert_allclose(NextDrops()(setting, run)["drop_step"][1], falls, rtol=0.02)


def quadratic_run(params, step, budget=400):
    """A run that has a plateau at `step`, on which it has these weights."""
    x = np.arange(budget + 1.0)
    loss = staircase(x, (100, 300), (4.0, 2.0, 0.01), 5)
    at = np.array([0, step, budget])
    saved = {f"param_{n}": (("saved", "unit", n), np.repeat(w[None], 3, axis=0)) for n, w in params.items()}
    return Run(xr.Dataset({"loss": ("step", loss), **saved}, {"saved_step": ("saved", at)}))


def test_the_second_quadratic_drop_has_a_closed_form():
    """x₁² is learned by the first unit; in what is left, x₂², a unit with u = (0, √2 v) grows by v̇ = 3 v²."""
    setting = Setting(Teacher(Square(), EYE, None), Units(3, Neuron(Square()), 0.01), GradientDescent(0.02), steps=400)
    v = 0.01
    params = {"u": np.array([[1, 0], [0, np.sqrt(2) * v], [0, 0.1 * v]]), "v": np.array([[1], [v], [0.1 * v]])}
    left = 1 - v * 2 * v**2 - 0.1 * v * (0.1 * v) ** 2  # of the coefficient of x₂²
    found = QuadraticNextDrops()(setting, quadratic_run(params, 200))
    assert found["read_step"][1].tolist() == [0, 200]
    assert found["drop_step"][1][1] == pytest.approx(200 + 1 / (3 * left * v) / (4 * 0.02), rel=1e-6)


def test_without_a_plateau_nothing_is_said():
    setting = linear_setting(units=4, steps=20)
    run = run_of(setting)
    assert EscapeRate()(setting, run)["kind"][1] == "no plateau"
    assert np.isnan(EscapeRate()(setting, run)["rate"][1])
    assert NearestSaddle()(setting, run)["saddle"][1] == "no plateau"
    assert NextDrops()(setting, run)["drop_step"][1].size == 0


def square_gap(f, y):
    return ((f - y) ** 2).sum()


@pytest.mark.parametrize("prediction", [EscapeRate(), NearestSaddle(), NextDrops()])
def test_settings_outside_the_domain_are_refused(prediction, linear):
    setting, run = linear
    deep = linear_setting(net=DeepUnits(4, Neuron(Identity()), (4,), 0.1))
    with pytest.raises(InvalidInput, match="units"):
        prediction(deep, run)
    with pytest.raises(InvalidInput, match="saved"):
        prediction(setting, Run(train(setting)))


def test_another_loss_is_refused(linear):
    setting = relu_setting(((1, 0.5), (-1, 2)), ((1,), (-1,))).replace(loss=CustomLoss(square_gap))
    for prediction in (EscapeRate(), NearestSaddle(), NextDrops()):
        with pytest.raises(InvalidInput, match="squared error"):
            prediction(setting, linear[1])


def test_a_number_of_plateaus_is_a_number():
    with pytest.raises(InvalidInput, match="plateaus"):
        NearestSaddle(0)
