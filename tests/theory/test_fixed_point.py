"""Data made for a fixed point: the gradient there, by numpy, is zero; a step away it is not."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from theory.numpy_units import SIGMA, gradient, largest, outputs

from saddlescope.errors import InvalidInput
from saddlescope.nets import Neuron, Tanh, Units
from saddlescope.theory import data_with_fixed_point


@settings(max_examples=20, deadline=None, derandomize=True)
@given(st.sampled_from(list(SIGMA)), st.integers(0, 2**32 - 1))
def test_gradient_is_zero_there_and_only_there(activation, seed):
    rng = np.random.default_rng(seed)
    net = Units(2, Neuron(activation()), 1.0)
    params = net.init(rng, 3, 2)
    x = rng.standard_normal((20, 3))
    data = data_with_fixed_point(net, params, x, rng)
    np.testing.assert_array_equal(data.x, x)
    residual = np.asarray(data.y) - outputs(activation, params, x)
    size = max(1, np.std(outputs(activation, params, x)))
    assert 0.3 < np.sqrt(np.mean(residual**2)) / size < 1.7  # about as large as the outputs: not a fit
    assert largest(gradient(activation, params, data)) < 1e-12 * size**2
    away = {name: w + 0.1 for name, w in params.items()}
    assert largest(gradient(activation, away, data)) > 1e-4


def test_the_numpy_gradient_is_that_of_finite_differences():
    """The yardstick itself, away from a fixed point."""
    rng = np.random.default_rng(0)
    params = Units(2, Neuron(Tanh()), 1.0).init(rng, 3, 2)
    data = data_with_fixed_point(Units(2, Neuron(Tanh()), 1.0), params, rng.standard_normal((20, 3)), rng)
    params["u"][0, 1] += 0.3

    def loss(shift):
        moved = {"u": params["u"] + shift * np.eye(2, 3, 1), "v": params["v"]}
        return np.mean(np.sum((np.asarray(data.y) - outputs(Tanh, moved, np.asarray(data.x))) ** 2, axis=1))

    numeric = (loss(1e-5) - loss(-1e-5)) / 2e-5
    found = gradient(Tanh, params, data)["u"]
    np.testing.assert_allclose(found[0, 1] + found[1, 2], numeric, rtol=1e-8)


def test_refuses_samples_that_leave_no_residual():
    rng = np.random.default_rng(0)
    net = Units(2, Neuron(Tanh()), 1.0)  # 2 units × (3 inputs + 2 outputs) = 10 parameters
    params = net.init(rng, 3, 2)
    with pytest.raises(InvalidInput, match="10 outputs leave no residual free of 10 parameters"):
        data_with_fixed_point(net, params, rng.standard_normal((5, 3)), rng)
    data = data_with_fixed_point(net, params, rng.standard_normal((6, 3)), rng)
    assert np.linalg.norm(np.asarray(data.y) - outputs(Tanh, params, np.asarray(data.x))) > 1e-3
    assert largest(gradient(Tanh, params, data)) < 1e-12
