"""Random-feature nets and MLPs against the papers' formulas."""

import numpy as np
import pytest
from cases import random_feature_setting

from saddlescope.errors import InvalidInput
from saddlescope.nets import (
    MLP,
    Gaussian,
    LeakyReLU,
    MeanField,
    MuP,
    RandomFeatureNet,
    Square,
    Tanh,
    UniformFanIn,
    count,
    low_rank,
)
from saddlescope.observables import Fit
from saddlescope.optimisers import GradientDescent
from saddlescope.training import train
from saddlescope.training.save_at import SaveAt


def test_counts_that_the_papers_print():
    assert count(low_rank(5, 3), 1, 1)[0] == 36_880
    assert count(low_rank(5, 2), 1, 1)[0] == 25_611
    mnist = RandomFeatureNet(ranks=(32,), widths=(512, 512))
    assert count(mnist, 784, 10)[1] == 513 * 32 + 5130


def test_everything_is_trained_where_asked_for():
    total, trained = count(low_rank(3, 2, 9, trainable="all"), 1, 1)
    assert total == trained


def written_out(params, x, activation, m, residual=False):
    h = x
    for j in range(len(params) // 4):
        z = activation(h @ params[f"A{j}"].T + params[f"b{j}"])
        new = params[f"c{j}"] + m * z @ params[f"C{j}"].T
        h = new + h if residual and new.shape == h.shape else new
    return h


@pytest.mark.parametrize("residual", [False, True])
def test_the_map_is_the_formula(residual):
    net = RandomFeatureNet((4, 4, 3), (9, 8, 7, 6), Tanh(), residual=residual, parameterisation=Gaussian())
    rng = np.random.default_rng(0)
    params, x = net.init(rng, 2, 2), rng.standard_normal((5, 2))
    np.testing.assert_allclose(net(params, x), written_out(params, x, np.tanh, 1.0, residual), rtol=1e-12)
    shapes = [np.shape(f) for f in net.channels(params, x)]
    assert shapes == [(5, 4), (5, 4), (5, 3), (5, 2)]


def test_mean_field_divides_by_the_width():
    net = low_rank(2, 1, 50, activation=LeakyReLU(0.2), parameterisation=MeanField())
    params, x = net.init(np.random.default_rng(0), 1, 1), np.linspace(-1, 1, 5)[:, None]
    expected = written_out(params, x, lambda z: np.where(z > 0, z, 0.2 * z), 1 / 50)
    np.testing.assert_allclose(net(params, x), expected, rtol=1e-12)


@pytest.mark.parametrize(
    ("kind", "wide", "narrow"),
    [(UniformFanIn(), 1 / np.sqrt(3 * 4), 1 / np.sqrt(3 * 900)), (Gaussian(), 0.5, 1 / 30), (MeanField(), 0.5, 1.0),
     (MuP(), 0.5, 1 / 900)],
)  # fmt: skip
def test_draws_have_the_deviation_they_should(kind, wide, narrow):
    net = RandomFeatureNet((4, 4), (900, 900, 900), trainable="all", parameterisation=kind)
    params = net.init(np.random.default_rng(0), 1, 1)
    assert np.std(params["A1"]) == pytest.approx(wide, rel=0.05)
    assert np.std(params["b1"]) == pytest.approx(wide, rel=0.1)
    assert np.std(params["C1"]) == pytest.approx(narrow, rel=0.05)
    if isinstance(kind, UniformFanIn):
        assert np.abs(params["A1"]).max() <= 0.5
        assert np.abs(params["C1"]).max() <= 1 / 30


def deviation_of_first_step(width, kind, seed=0):
    """How far one step of descent moves the outputs of a net in which all maps are trained."""
    net = RandomFeatureNet((3,), (width, width), trainable="all", parameterisation=kind, activation=Tanh())
    setting = random_feature_setting(net=net, optimiser=GradientDescent(0.01), batch=30, epochs=1, seed=seed)
    fit = train(setting, Fit(20), SaveAt((0,)))["fit"].values
    return np.sqrt(np.mean((fit[1] - fit[0]) ** 2))


def test_maximal_update_has_a_width_limit_and_the_standard_one_does_not():
    """One step moves the outputs by as much in a wide net as in a narrow one; with one rate for all, by ever more."""

    def growth(kind):
        small, large = (np.mean([deviation_of_first_step(w, kind, s) for s in range(3)]) for w in (64, 1024))
        return large / small

    assert 0.5 < growth(MuP()) < 2
    assert 0.5 < growth(MeanField()) < 2
    assert growth(Gaussian()) > 4


def test_mlp_is_affine_maps_with_an_activation_between():
    net = MLP((4, 3), Tanh())
    rng = np.random.default_rng(1)
    params, x = net.init(rng, 2, 1), rng.standard_normal((6, 2))
    h = np.tanh(np.tanh(x @ params["W0"].T + params["b0"]) @ params["W1"].T + params["b1"])
    np.testing.assert_allclose(net(params, x), h @ params["W2"].T + params["b2"], rtol=1e-12)
    assert count(net, 2, 1)[0] == 2 * 4 + 4 + 4 * 3 + 3 + 3 + 1


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: low_rank(11, 2, 10), "got rank 11 and width 10: widen the net"),
        (lambda: low_rank(3, 2, 0), "must be positive whole numbers; got 0"),
        (lambda: low_rank(0, 2, 5), "must be positive whole numbers"),
        (lambda: low_rank(3, 0, 5), "`depth` must be a positive whole number"),
        (lambda: low_rank(3, 2.5, 5), "`depth` must be a positive whole number"),
        (lambda: RandomFeatureNet((2, 2), (5, 5)), "each with a width; got 2"),
        (lambda: RandomFeatureNet(2, (5, 5)), "tuples with one number per block"),
        (lambda: low_rank(2, 1, 5, activation=Square()), "must be ReLU, LeakyReLU, Tanh or Sigmoid"),
        (lambda: low_rank(2, 1, 5, trainable="some"), "got 'some'"),
        (lambda: low_rank(2, 1, 5, parameterisation="uniform"), "such as UniformFanIn()"),
        (lambda: MLP(()), "`widths` must be positive whole numbers; got none"),
        (lambda: MLP((3,), parameterisation=MeanField()), "UniformFanIn() or Gaussian()"),
        (lambda: LeakyReLU(1.5), "between 0 and 1"),
    ],
)
def test_bad_nets_are_refused(make, said):
    with pytest.raises(InvalidInput) as refused:
        make()
    assert said in str(refused.value)
