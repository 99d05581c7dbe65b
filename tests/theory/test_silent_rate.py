"""The growth of a silent unit: against singular values, and against a unit that is let grow."""

import jax.numpy as jnp
import numpy as np
import pytest

from saddlescope.nets import Identity, Neuron, ReLU, Units
from saddlescope.tasks import Samples
from saddlescope.theory import saddle
from saddlescope.theory.silent_rate import silent_rate


@pytest.fixture
def data():
    rng = np.random.default_rng(0)
    x = rng.standard_normal((60, 3))
    return Samples(jnp.asarray(x), jnp.asarray(np.abs(x[:, :2]) + x[:, 1:]))


def test_of_linear_units_it_is_twice_a_singular_value_and_the_hessian_s(data):
    net = Units(3, Neuron(Identity()), 1.0)
    zero = {"u": np.zeros((3, 3)), "v": np.zeros((3, 2))}
    s = np.linalg.svd(np.asarray(data.y).T @ np.asarray(data.x) / 60, compute_uv=False)[0]
    assert silent_rate(net, zero, data) == pytest.approx(2 * s, rel=1e-8)
    assert saddle(net, zero, data).lowest == pytest.approx(-2 * s, rel=1e-9)


def test_a_small_relu_unit_comes_to_grow_at_this_rate(data):
    """Plain NumPy descent of twenty tiny ReLU units: the largest growth by a step, once they have turned."""
    rng, x, y, lr = np.random.default_rng(1), np.asarray(data.x), np.asarray(data.y), 1e-2
    u, v = 1e-30 * rng.standard_normal((20, 3)), 1e-30 * rng.standard_normal((20, 2))
    for _ in range(4000):
        before, active = np.linalg.norm(v, axis=1), x @ u.T > 0
        du, dv = (active * (y @ v.T)).T @ x, np.maximum(x @ u.T, 0).T @ y
        u, v = u + 2 * lr * du / 60, v + 2 * lr * dv / 60
        scale = 1e-30 / np.linalg.norm(u, axis=1, keepdims=True)  # still tiny: only the direction and the ratio count
        growth = np.linalg.norm(v, axis=1) / before
        u, v = u * scale, v * scale
    said = silent_rate(Units(2, Neuron(ReLU()), 1.0), {"u": np.zeros((2, 3)), "v": np.zeros((2, 2))}, data)
    assert np.log(growth.max()) / np.log1p(lr * said) == pytest.approx(1, rel=1e-3)
