"""Growth rates of a linear net, against plain NumPy descent and a fit of rank one found by search."""

import numpy as np
import pytest
from scipy.optimize import minimize
from theory.descent import descend_linear, linear_setting, random_problem

from saddlescope.errors import InvalidInput
from saddlescope.nets import Neuron, Tanh, Units
from saddlescope.tasks import LinearTeacher
from saddlescope.theory import GrowthRates, ProjectedRate


def test_a_net_from_small_weights_grows_at_the_two_rates():
    """Of commuting moments, so that the modes stay apart: rates 4 and 1.5."""
    setting = linear_setting(((1, 0), (0, 1.5)), ((4, 0), (0, 1)), scale=1e-8, lr=1e-3)
    found = GrowthRates()(setting)
    _, maps = descend_linear(setting)
    for k, name in enumerate(("rate_1", "rate_2")):
        grown = np.abs(maps[:, k, k])  # a product of two weights: twice the rate
        here = (grown > 1e-13) & (grown < 1e-6)
        slope = np.polyfit(np.flatnonzero(here), np.log(grown[here]), 1)[0]
        assert np.expm1(slope / 2) / (2 * 1e-3) == pytest.approx(found[name][1], rel=0.01)


@pytest.mark.parametrize("seed", range(5))
def test_the_projected_rate_is_that_of_a_unit_at_the_best_fit_of_rank_one(seed):
    W, xx = random_problem(np.random.default_rng(seed), 3, 3)

    def loss(flat):
        gap = W - np.outer(flat[:3], flat[3:])
        slope = -2 * gap @ xx
        return np.sum((gap @ xx) * gap), np.concatenate([slope @ flat[3:], slope.T @ flat[:3]])

    starts = np.random.default_rng(0).standard_normal((10, 6))
    best = min((minimize(loss, s, jac=True, options=dict(gtol=1e-10)) for s in starts), key=lambda f: f.fun)
    left = (W - np.outer(best.x[:3], best.x[3:])) @ xx  # what a silent unit still correlates with
    found = ProjectedRate()(linear_setting(W, xx))["projected_rate_2"][1]
    assert found == pytest.approx(np.linalg.norm(left, 2), rel=1e-6)
    assert found >= GrowthRates()(linear_setting(W, xx))["rate_2"][1] * (1 - 1e-9)


def test_cut_offs_that_remove_nothing_change_nothing():
    found = ProjectedRate((1e-9, 1e-3))(linear_setting())
    axes, by_cut = found["projected_rate_2_by_cut"]
    assert axes == "cut"
    np.testing.assert_allclose(by_cut, found["projected_rate_2"][1], rtol=1e-9)


@pytest.mark.parametrize("prediction", [GrowthRates(), ProjectedRate()])
def test_refuses_other_nets_and_a_single_direction(prediction):
    draw = LinearTeacher(((1, 0), (0, 1)), ((1, 1), (1, 4)), samples=8)
    with pytest.raises(InvalidInput, match="linear nets"):
        prediction(linear_setting(task=draw, net=Units(4, Neuron(Tanh()), 0.1)))
    with pytest.raises(InvalidInput, match="second direction"):
        prediction(linear_setting(((1, 2),), ((1, 0), (0, 1))))


def test_refuses_a_cut_off_that_leaves_nothing():
    with pytest.raises(InvalidInput, match="between 0 and 1"):
        ProjectedRate((2.0,))
