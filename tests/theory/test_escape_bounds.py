"""Proposition 3.2, the bounds of the escape paper and its lemmas, against brute force and
algebra."""

import itertools

import numpy as np
import pytest

from saddlescope.errors import InvalidInput
from saddlescope.theory.escape.bounds import (
    most_layers_bound,
    near_rank_one_bound,
    nonnegative_pair,
    printed_theorem_bound,
    rank_one_speed,
    slack,
    speed_budget,
    sum_form,
    theorem_bound,
    theorem_constant,
)
from saddlescope.theory.escape.collapse import deepen
from saddlescope.theory.escape.layer_ratios import layer_ratios, tail_ratio
from saddlescope.theory.escape.localized import layers_of, localized_loss, norm_of


def lowering_net(depth, seed, width=5):
    """A random net on ‖θ‖² = L with L0 < 0, and its data."""
    rng = np.random.default_rng([depth, seed])
    X, G = rng.standard_normal((3, 9)), rng.standard_normal((2, 9))
    sizes = (3, *(width,) * (depth - 1), 2)
    net = [rng.standard_normal((b, a)) for a, b in itertools.pairwise(sizes)]
    net = [np.sqrt(depth) / norm_of(net) * w for w in net]
    return [*net[:-1], -np.sign(localized_loss(net, X, G)) * net[-1]], X, G


@pytest.mark.parametrize("depth", [2, 3, 4, 6])
@pytest.mark.parametrize("seed", range(5))
def test_the_deepen_is_no_slower(depth, seed):
    net, X, G = lowering_net(depth, seed)
    deeper = deepen(net, X, G)
    assert len(deeper) == depth + 1
    np.testing.assert_allclose(norm_of(deeper) ** 2, depth + 1)
    assert localized_loss(deeper, X, G) <= localized_loss(net, X, G)
    z = layers_of(deeper, X).before
    assert [np.linalg.matrix_rank(m) for m in (*deeper[-2:], *z[-2:])] == [1] * 4
    assert z[-2].min() >= 0


def test_deeper_keeps_the_neuron_that_pays_most():
    """Of two neurons, by hand: the first earns 3 for a product of norms of 1, the second 4 for
    2."""
    X, G = np.eye(2), np.array([[-3.0, -2.0]])
    net = [np.array([[1.0, 0], [0, 2]]), np.array([[1.0, 1.0]])]
    deeper = deepen(net, X, G)
    np.testing.assert_allclose(deeper[0], [[1, 0]])
    np.testing.assert_allclose(-localized_loss(deeper, X, G), 3)


def test_deeper_refuses_depth_one_and_nets_that_do_not_lower_the_loss():
    net, X, G = lowering_net(2, 0)
    with pytest.raises(InvalidInput, match="depth 2"):
        deepen(net[:1], X, G)
    with pytest.raises(InvalidInput, match="L0 < 0"):
        deepen([net[0], -net[1]], X, G)


def test_tail_ratio_of_known_matrices():
    assert tail_ratio(np.outer([1, 2], [3, 4.0])) < 1e-15
    np.testing.assert_allclose(tail_ratio(np.diag([2.0, 1, 1])), 2 / 6)
    assert tail_ratio(np.zeros((2, 2))) == 0


def test_layer_ratios_see_the_relu():
    ratios = layer_ratios([np.array([[1.0, 0], [0, -1]]), np.ones((1, 2))], np.ones((2, 3)))
    np.testing.assert_allclose(ratios.relu, [0.5, 0])
    assert len(ratios.activations) == 3


@pytest.mark.parametrize("depth", [2, 4, 7])
def test_budget_adds_up_and_bounds_the_ratios(depth):
    net, X, G = lowering_net(depth, 1)
    budget = speed_budget(net, X, G)
    A = slack(X, G, -localized_loss(net, X, G))
    np.testing.assert_allclose(sum(v.sum() for v in budget.values()), np.log(A))
    assert (
        min(
            budget["alignment"].min(),
            budget["relu"].min(initial=0),
            budget["norms"].sum(),
            *budget["output"],
        )
        >= 0
    )
    ratios = layer_ratios(net, X)
    for of in (ratios.weights, ratios.activations[:-1]):
        assert np.all(-np.log1p(-of) <= 2 * budget["alignment"] + 1e-12)
    total, limit = sum_form(net, X, G)
    assert total <= limit
    np.testing.assert_allclose(limit, 2 * np.log(A))


def test_most_layers_bound_is_the_sum_shared_out():
    net, X, G = lowering_net(5, 2)
    speed = -localized_loss(net, X, G)
    np.testing.assert_allclose(most_layers_bound(X, G, speed, 5, 0.4), sum_form(net, X, G)[1] / 2)


def test_theorem_bound_is_below_one_past_81_c_squared_alone():
    c = 0.7
    edge = 81 * c**2
    np.testing.assert_allclose(printed_theorem_bound(edge, c), 1)
    np.testing.assert_allclose(theorem_bound(edge + 1, c), 1)
    assert theorem_bound(edge + 1.1, c) < 1 < theorem_bound(edge + 0.9, c)
    assert np.isinf(printed_theorem_bound(c**2, c))


def test_theorem_constant_on_example_1():
    X, G = np.eye(2) * 2, np.eye(2) * 2  # ‖X‖ = ‖G‖ = √8, as on Example 1
    np.testing.assert_allclose(theorem_constant(X, G, 0.5), 16 * np.sqrt(2 * np.log(16)))


def test_rank_one_speed_is_the_best_over_all_neurons():
    """By brute force over directions of one neuron in two dimensions; deeper nets do no better
    (Cauchy–Schwarz)."""
    rng = np.random.default_rng(0)
    u, v, G = rng.standard_normal(2), np.abs(rng.standard_normal(6)), rng.standard_normal((3, 6))
    angle = np.linspace(0, 2 * np.pi, 100_001)
    z = np.maximum(np.stack([np.cos(angle), np.sin(angle)]).T @ u, 0)
    np.testing.assert_allclose(np.max(z) * np.linalg.norm(G @ v), rank_one_speed(u, v, G), rtol=1e-8)


def test_near_rank_one_bound_by_hand():
    G = np.array([[3.0, 4.0]])
    np.testing.assert_allclose(near_rank_one_bound(G, 2.0, 0.1), 8 * 0.5 / 1.5)
    assert np.isinf(near_rank_one_bound(G, 2.0, 0.4))


@pytest.mark.parametrize(
    "matrix",
    [
        np.eye(4),
        np.ones((3, 5)),
        np.kron(np.eye(3), [[1.0, 2], [3, 4]]),
        np.diag([2.0, 2, 1, 0]),
    ],
)
def test_singular_vectors_without_negative_entries(matrix):
    u, v = nonnegative_pair(matrix)
    s = np.linalg.norm(matrix, 2)
    assert min(u.min(), v.min()) >= 0
    np.testing.assert_allclose(matrix @ v, s * u, atol=1e-12)
    np.testing.assert_allclose(matrix.T @ u, s * v, atol=1e-12)
