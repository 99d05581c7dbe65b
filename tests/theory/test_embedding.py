"""Theorem 1 (ii) by numpy alone: a zero unit keeps the map and the fixed point, if it is silent."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from theory.numpy_units import SILENT_AT_ZERO, gradient, largest, outputs

from saddlescope.nets import Sigmoid, Tanh, Units
from saddlescope.theory import add_zero_unit, data_with_fixed_point


def narrow_fixed_point(activation, seed, bias=False):
    rng = np.random.default_rng(seed)
    net = Units(2, activation(), 1.0, bias)
    params = net.init(rng, 3, 2)
    return params, data_with_fixed_point(net, params, rng.standard_normal((20, 3)), rng)


def check_embedding(activation, seed, bias=False):
    narrow, data = narrow_fixed_point(activation, seed, bias)
    wide = add_zero_unit(narrow)
    assert {name: len(w) for name, w in wide.items()} == {"u": 3, "v": 3}
    for name in narrow:
        np.testing.assert_array_equal(wide[name][:2], narrow[name])
    x = np.random.default_rng(1).standard_normal((50, 3))  # anywhere, not only on the data
    np.testing.assert_allclose(
        outputs(activation, wide, x, bias), outputs(activation, narrow, x, bias), rtol=1e-13, atol=1e-13
    )
    assert largest(gradient(activation, wide, data, bias)) < 1e-12


@settings(max_examples=20, deadline=None, derandomize=True)
@given(st.sampled_from(SILENT_AT_ZERO), st.integers(0, 2**32 - 1))
def test_a_silent_unit_keeps_map_and_fixed_point(activation, seed):
    check_embedding(activation, seed)


def test_a_silent_unit_with_bias_too():
    check_embedding(Tanh, 0, bias=True)


@pytest.mark.parametrize("seed", range(5))
def test_control_a_zero_sigmoid_is_not_silent(seed):
    """φ(x; 0) = 1/2: the map stays (v = 0), but the new v has the gradient -⟨residual⟩."""
    narrow, data = narrow_fixed_point(Sigmoid, seed)
    assert largest(gradient(Sigmoid, narrow, data)) < 1e-12
    slope = gradient(Sigmoid, add_zero_unit(narrow), data)
    assert largest(slope) > 1e-3
    residual = np.asarray(data.y) - outputs(Sigmoid, narrow, np.asarray(data.x))
    np.testing.assert_allclose(slope["v"][2], -residual.mean(axis=0), rtol=1e-10)
