"""Nets on moments against the same nets on samples, and a population against many samples."""

import jax.numpy as jnp
import numpy as np
import pytest

from saddlescope.errors import InvalidInput
from saddlescope.losses import squared_error
from saddlescope.nets import ConvUnit, Cube, Identity, LinearHead, MergedHead, Neuron, Square, Units
from saddlescope.optimisers import GradientDescent
from saddlescope.setting import Setting
from saddlescope.tasks import LinearTeacher, Moments, Samples, Teacher
from saddlescope.training import train

UNITS = {
    "linear": (Neuron(Identity()), 3, 2), "quadratic": (Neuron(Square()), 3, 2), "cubic": (Neuron(Cube()), 2, 1),
    "kernel": (ConvUnit(2, Identity(), 1), 5, 1), "head": (LinearHead(2, 2), 12, 1), "merged": (MergedHead(2), 12, 1),
}  # fmt: skip


@pytest.mark.parametrize("name", UNITS)
def test_loss_on_moments_is_the_loss_on_samples(name):
    unit, inputs, outputs = UNITS[name]
    rng = np.random.default_rng(0)
    net = Units(4, unit, 0.8)
    params = net.init(rng, inputs, outputs)
    data = Samples(rng.standard_normal((200, inputs)), rng.standard_normal((200, outputs)))
    statistics = net.statistics(data)
    assert isinstance(statistics, Moments)
    by_hand = np.mean(np.sum((data.y - np.asarray(net(params, data.x))) ** 2, axis=1))
    np.testing.assert_allclose(squared_error(net, params, statistics), by_hand, rtol=1e-10)
    W = net.matrix(params, len(statistics.xx))
    np.testing.assert_allclose(unit.features(data.x) @ W.T, net(params, data.x), rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("activation", [Square(), Cube()])
def test_population_is_the_limit_of_many_samples(activation):
    directions = ((1, 0.5), (-0.3, 1))
    population = Teacher(activation, directions, None).data(None)
    draw = Teacher(activation, directions, 400_000).data(np.random.default_rng(0))
    z = Neuron(activation).features(jnp.asarray(draw.x))
    np.testing.assert_allclose(z.T @ z / len(z), population.xx, rtol=0.2, atol=0.2)
    np.testing.assert_allclose(z @ population.optimum.T, draw.y, rtol=1e-9, atol=1e-9)


def test_a_fourth_moment_by_hand():
    xx = Teacher(Square(), ((1, 0),), None).data(None).xx
    assert np.array_equal(xx, [[3, 0, 0, 1], [0, 1, 1, 0], [0, 1, 1, 0], [1, 0, 0, 3]])


def test_a_population_of_another_power_is_refused():
    setting = Setting(
        LinearTeacher(((1, 0),), ((1, 0), (0, 1))), Units(3, Neuron(Square()), 0.1), GradientDescent(0.01), steps=3
    )
    with pytest.raises(InvalidInput, match="moments of x\\^1, but these units see x\\^2"):
        train(setting)
