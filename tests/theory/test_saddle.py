"""Kinds of fixed points and levels of narrow nets, against closed forms and a Hessian by differences."""

import numpy as np
import pytest
from cases import linear_setting, quadratic_setting

from saddlescope.nets import Identity, Neuron, Square, Units
from saddlescope.tasks import LinearTeacher, Moments, Samples
from saddlescope.theory import LinearFixedPoints, NarrowLevels, Silent, embed, perturbed, saddle


def numpy_loss(flat, units, x, y):
    u, v = flat[: 2 * units].reshape(units, 2), flat[2 * units :].reshape(units, 1)
    return np.mean((y - (x @ u.T) ** 2 @ v) ** 2)


def test_eigenvalues_are_those_of_differences():
    rng = np.random.default_rng(0)
    x, y = rng.standard_normal((30, 2)), rng.standard_normal((30, 1))
    u, v = rng.standard_normal((3, 2)), rng.standard_normal((3, 1))
    found = saddle(Units(3, Neuron(Square()), 1.0), {"u": u, "v": v}, Samples(x, y))
    at, h, n = np.concatenate([u.ravel(), v.ravel()]), 1e-4, 9
    f = lambda i, j: numpy_loss(at + h * (np.eye(n)[i] + np.eye(n)[j]), 3, x, y)  # noqa: E731
    one = [numpy_loss(at + h * np.eye(n)[i], 3, x, y) for i in range(n)]
    zero = numpy_loss(at, 3, x, y)
    H = np.array([[(f(i, j) - one[i] - one[j] + zero) / h**2 for j in range(n)] for i in range(n)])
    assert found.loss == pytest.approx(zero, rel=1e-12)
    np.testing.assert_allclose(found.eigenvalues, np.linalg.eigvalsh((H + H.T) / 2), rtol=5e-2, atol=5e-2)


def test_at_a_rank_one_point_of_a_linear_net_the_next_singular_value_shows():
    """White inputs, W* = diag(3, 1): at the fixed point of the first mode the lowest curvature is -2 s₂."""
    moments = LinearTeacher(((3, 0), (0, 1)), ((1, 0), (0, 1))).data(np.random.default_rng(0))
    net, points = Units(4, Neuron(Identity()), 1.0), LinearFixedPoints(moments)
    first = (int(np.argmax(points.gains)),)
    params = points.weights(first, 4, np.random.default_rng(1))
    found = saddle(net, params, moments)
    assert found.kind == "strict saddle"
    assert found.lowest == pytest.approx(-2, rel=1e-9)
    more = embed(params, 5, Silent())  # beside it, with one unit more, the loss is lower
    assert perturbed(net, more, 4, moments, np.random.default_rng(2))[1] < found.loss


def test_a_global_minimum_is_no_strict_saddle_and_nothing_beside_it_is_lower():
    moments = LinearTeacher(((3, 0), (0, 1)), ((1, 0), (0, 1))).data(np.random.default_rng(0))
    net, points = Units(4, Neuron(Identity()), 1.0), LinearFixedPoints(moments)
    params = points.weights(points.sets[-1], 4, np.random.default_rng(1))
    found = saddle(net, params, moments)
    assert found.kind == "minimum"
    assert np.sum(np.abs(found.eigenvalues) < 1e-9) > 4  # flat directions, of more units than are needed
    assert perturbed(net, params, 0, moments, np.random.default_rng(2))[1] >= 0


def test_an_exact_fit_of_samples_is_a_minimum_and_a_silent_quadratic_unit_is_not():
    """Two quadratic units fit y = x₁² + x₂²; a third is silent. At the zero map all is flat, and all may grow."""
    x = np.random.default_rng(0).standard_normal((30, 2))
    data, net = Samples(x, (x**2).sum(1, keepdims=True)), Units(3, Neuron(Square()), 1.0)
    fit = {"u": np.array([[1.0, 0], [0, 1], [0, 0]]), "v": np.array([[1.0], [1], [0]])}
    assert saddle(net, fit, data).kind == "minimum"
    zero = {name: 0 * w for name, w in fit.items()}
    assert saddle(net, zero, data).kind == "degenerate"


def test_levels_of_narrow_nets():
    """Linear: ⟨|y|²⟩ less the eigenvalues. Quadratic, y = x₁² + x₂²: 8, then 8/3, then 0, by hand."""
    setting = linear_setting()
    gains = np.sort(LinearFixedPoints(Moments.of(setting.data())).gains)[::-1]
    whole = gains.sum()
    np.testing.assert_allclose(NarrowLevels(2)(setting)["plateau_level"][1], [whole, gains[1], 0], atol=1e-9)
    population = quadratic_setting(task=quadratic_setting().task.__class__(Square(), ((1, 0), (0, 1)), None))
    np.testing.assert_allclose(NarrowLevels(2, tries=12)(population)["plateau_level"][1], [8, 8 / 3, 0], atol=1e-9)


def test_no_level_is_promised_beyond_the_net_s_own_width():
    assert len(NarrowLevels(2, tries=2)(linear_setting(net=Units(1, Neuron(Identity()), 1.0)))["plateau_level"][1]) == 2
