"""What the layers of a net do: ranks, the effect of ReLU, bottlenecks and balance, against nets made by hand."""

from itertools import pairwise

import numpy as np
import pytest
from cases import image_setting, linear_setting

from saddlescope.errors import InvalidInput
from saddlescope.initials import given_weights
from saddlescope.nets import BiasFreeMLP
from saddlescope.observables import (
    ActivationEffect,
    ActivationRanks,
    BottleneckRanks,
    LayerNorms,
    StrongImbalance,
    WeakBalance,
    WeightRanks,
    numerical_rank,
    relu_effect,
)
from saddlescope.optimisers import GradientDescent
from saddlescope.setting import Setting
from saddlescope.tasks import ArrayTask
from saddlescope.training import every, train

ALL = (
    ActivationEffect(),
    ActivationRanks(1e-4),
    BottleneckRanks(1e-3),
    LayerNorms(),
    StrongImbalance(),
    WeakBalance(),
    WeightRanks(1e-4),
)


def observed(weights, x, outputs=2):
    """All of them at the start of a run with these weights W1, W2, …"""
    widths = tuple(len(w) for w in weights[:-1])
    setting = Setting(
        task=ArrayTask(x, np.zeros((len(x), outputs))),
        net=BiasFreeMLP(widths, 0.1),
        optimiser=GradientDescent(1e-3),
        initial=given_weights({f"W{j}": w for j, w in enumerate(weights, 1)}),
        steps=1,
    )
    return train(setting, ALL, every(1, 1)).isel(saved=0)


def test_a_bottleneck_is_found_where_it_is():
    """Rank 3 in, one positive direction in the middle, rank 2 weights out of it."""
    rng = np.random.default_rng(0)
    u, v = rng.random((5, 1)) + 0.1, rng.random((1, 6)) + 0.1
    first = np.vstack([np.eye(3), -np.eye(3)])
    run = observed([first, u @ v, rng.random((4, 5)), rng.standard_normal((2, 4))], rng.standard_normal((30, 3)))
    assert run.weight_rank.values.tolist() == [3, 1, 4, 2]
    assert run.activation_rank.values[1:].tolist() == [1, 1]
    assert run.bottleneck_rank.values[1:].tolist() == [1, 1]
    assert run.bottleneck_rank.values[0] > 1
    np.testing.assert_allclose(run.activation_effect.values[1:], 0, atol=1e-12)
    assert 0.3 < run.activation_effect.values[0] < 0.7


def test_a_wide_function_has_no_bottleneck():
    rng = np.random.default_rng(1)
    weights = [rng.standard_normal((8, 6)), rng.standard_normal((8, 8)), rng.standard_normal((5, 8))]
    run = observed(weights, rng.standard_normal((200, 6)), 5)
    assert run.bottleneck_rank.values.min() >= 5


def test_balance_is_that_of_the_matrices():
    rng = np.random.default_rng(2)
    weights = [rng.standard_normal(s) for s in ((5, 3), (4, 5), (2, 4))]
    run = observed(weights, rng.standard_normal((9, 3)))
    for layer, (a, b) in enumerate(pairwise(weights), 1):
        expected = np.diag(b.T @ b) - np.diag(a @ a.T)
        np.testing.assert_allclose(run[f"weak_balance_{layer}"], expected, rtol=1e-12)
        gap = np.linalg.norm(b.T @ b - a @ a.T) / np.linalg.norm(a @ a.T)
        np.testing.assert_allclose(run.strong_imbalance.values[layer - 1], gap, rtol=1e-12)
    np.testing.assert_allclose(run.layer_norm, [np.linalg.norm(w) for w in weights], rtol=1e-12)


def drift(steps):
    """How far weak balance moves, and how much is learned, in a given time of so many steps."""
    changes = dict(batch=None, epochs=None, steps=steps, optimiser=GradientDescent(5 / steps))
    run = train(image_setting(**changes), (WeakBalance(), LayerNorms()), every(steps, steps))
    moved = [np.abs(np.diff(run[f"weak_balance_{j}"].values, axis=0)).max() for j in (1, 2, 3)]
    return max(moved), np.abs(np.diff(run.layer_norm.values**2, axis=0)).max()


def test_weak_balance_drifts_in_first_order_of_the_step():
    """Gradient flow preserves it: half the step gives half the drift, whatever is learned."""
    (large, grown), (small, _) = drift(500), drift(1000)
    assert grown > 10 * large, "nothing was learned"
    assert 1.8 < large / small < 2.2


def test_functions_of_arrays():
    assert numerical_rank(np.diag([1.0, 0.2, 0.05]), 0.1) == 2
    assert numerical_rank(np.zeros((3, 2)), 0.1) == 0
    relu = lambda z: np.maximum(z, 0)  # noqa: E731
    assert relu_effect(np.array([[3.0, -4.0]]), relu) == pytest.approx(16 / 25)
    assert relu_effect(np.zeros((2, 2)), relu) == 0


@pytest.mark.parametrize("observable", [*ALL], ids=lambda o: o.name)
def test_nets_without_such_layers_are_refused(observable):
    with pytest.raises(InvalidInput, match="BiasFreeMLP"):
        train(linear_setting(), (observable,), every(1, 1))


@pytest.mark.parametrize("kind", [WeightRanks, ActivationRanks, BottleneckRanks])
@pytest.mark.parametrize("tolerance", [0, 1, -0.1])
def test_a_tolerance_is_a_share(kind, tolerance):
    with pytest.raises(InvalidInput, match="tolerance"):
        kind(tolerance)
