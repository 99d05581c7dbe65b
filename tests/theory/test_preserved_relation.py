"""Relations that descent preserves, against plain NumPy descent: kept where theory speaks, else lost."""

import numpy as np
import pytest

from saddlescope.errors import InvalidInput
from saddlescope.initials import given_weights
from saddlescope.nets import Identity, Neuron, ReLU, Sigmoid, Tanh, Units
from saddlescope.optimisers import GradientDescent
from saddlescope.setting import Setting
from saddlescope.tasks import ArrayTask
from saddlescope.theory import PreservedRelation

PHI = {  # φ(z) and its derivative
    Identity: (lambda z: z, np.ones_like),
    ReLU: (lambda z: np.maximum(z, 0), lambda z: (z > 0) * 1.0),
    Tanh: (np.tanh, lambda z: 1 - np.tanh(z) ** 2),
    Sigmoid: (lambda z: 1 / (1 + np.exp(-z)), lambda z: np.exp(-z) / (1 + np.exp(-z)) ** 2),
}
EQUAL, SILENT, RAY, BACK, SPAN = (1, 0, 0), (0, 0, 0), (0.5, 0, 0), (-0.5, 0, 0), (0.5, -0.3, 0.8)


def problem(factors):
    rng = np.random.default_rng(0)
    u, v = 0.7 * rng.standard_normal((4, 3)), 0.7 * rng.standard_normal((4, 2))
    u[3], v[3] = np.array(factors) @ u[:3], np.array(factors) @ v[:3]
    return u, v, rng.standard_normal((20, 3)), rng.standard_normal((20, 2))


def setting(activation, factors, start=None):
    u, v, x, y = problem(factors if start is None else start)
    net, given = Units(4, Neuron(activation()), 0.7), given_weights({"u": u, "v": v})
    return Setting(ArrayTask(x, y), net, GradientDescent(0.02), steps=500, initial=given)


def off_after_descent(activation, factors):
    """How far the last unit is from the relation in the end, as a share of the way that the weights went."""
    phi, slope = PHI[activation]
    u, v, x, y = problem(factors)
    first = np.hstack([u, v])
    for _ in range(500):
        z = x @ u.T
        error = 2 * (phi(z) @ v - y) / len(x)
        u, v = u - 0.02 * ((error @ v.T) * slope(z)).T @ x, v - 0.02 * phi(z).T @ error
    last = np.hstack([u, v])
    return np.linalg.norm(last[3] - np.array(factors) @ last[:3]) / np.linalg.norm(last - first)


@pytest.mark.parametrize(
    ("activation", "factors"),
    [(Sigmoid, EQUAL), (Tanh, SILENT), (ReLU, RAY), (Identity, BACK), (Identity, SPAN)],
)
def test_descent_keeps_what_is_said_to_be_kept(activation, factors):
    found = PreservedRelation(factors)(setting(activation, factors))
    assert found == {"off_manifold": ((), 0.0), "map_gap": ((), 0.0)}
    assert off_after_descent(activation, factors) < 1e-12


@pytest.mark.parametrize(
    ("activation", "factors"), [(Sigmoid, SILENT), (Tanh, RAY), (ReLU, BACK), (ReLU, SPAN), (Tanh, SPAN)]
)
def test_refuses_what_descent_does_not_keep(activation, factors):
    with pytest.raises(InvalidInput, match="lacks the property"):
        PreservedRelation(factors)(setting(activation, factors))
    assert off_after_descent(activation, factors) > 1e-3


def test_refuses_weights_off_the_relation_and_factors_of_another_net():
    with pytest.raises(InvalidInput, match="does not obey"):
        PreservedRelation(SPAN)(setting(Identity, SPAN, start=RAY))
    with pytest.raises(InvalidInput, match="2 factors relate 3 units"):
        PreservedRelation((1, 0))(setting(Identity, EQUAL))
    with pytest.raises(InvalidInput, match="finite"):
        PreservedRelation((np.inf, 0))
