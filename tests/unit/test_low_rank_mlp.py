"""Nets of bounded rank: against the same net with its products written out."""

import numpy as np
import pytest

from saddlescope.errors import InvalidInput
from saddlescope.nets import BiasFreeMLP, LowRankMLP, Tanh


def products(params, depth):
    return {"W1": params["W1"]} | {f"W{j}": params[f"A{j}"] @ params[f"B{j}"] for j in range(2, depth + 1)}


@pytest.mark.parametrize("rank", [1, 2, 3])
def test_it_is_the_net_of_its_products(rank):
    net, rng = LowRankMLP((7, 6, 5), rank, 0.5), np.random.default_rng(rank)
    params = net.init(rng, 4, 3)
    whole = products(params, net.depth)
    x = rng.standard_normal((9, 4))
    assert np.allclose(net(params, x), BiasFreeMLP((7, 6, 5), 0.5)(whole, x), atol=1e-6)
    assert [np.linalg.matrix_rank(w) for w in whole.values()] == [4, rank, rank, rank]
    assert sum(w.size for w in params.values()) == net.parameter_count(4, 3)


def test_the_activation_is_its_own():
    net = LowRankMLP((3,), 1, 0.5, Tanh())
    params = net.init(np.random.default_rng(0), 2, 2)
    x = np.array([[0.3, -0.7]])
    assert np.allclose(net(params, x), np.tanh(x @ params["W1"].T) @ params["B2"].T @ params["A2"].T)


@pytest.mark.parametrize("wrong", [dict(rank=0), dict(scale=0.0), dict(widths=())])
def test_sizes_are_checked(wrong):
    with pytest.raises(InvalidInput):
        LowRankMLP(**dict(widths=(4, 3), rank=1, scale=0.1) | wrong)
