"""Heads, kernels, deep nets and the transformer against the paper's equations, written out in numpy (Eq. 18, 66–70)."""

import numpy as np
import pytest

from saddlescope.losses import squared_error
from saddlescope.nets import (
    ConvUnit,
    DeepUnits,
    Identity,
    LinearHead,
    LinearTransformer,
    MergedHead,
    Neuron,
    ReLU,
    SoftmaxHead,
    Units,
)  # fmt: skip
from saddlescope.tasks import InContextRegression

D, N, HEADS = 2, 5, 3


@pytest.fixture(scope="module")
def contexts():
    """Data, and each row as the matrix X of the paper: D inputs and a target a column, the query last."""
    data = InContextRegression((1, 1), N, 7).data(np.random.default_rng(0))
    return data, np.asarray(data.x).reshape(7, D + 1, N + 1)


def made(net, inputs, outputs=1):
    return net.init(np.random.default_rng(1), inputs, outputs)


def agree(net, params, x, expected):
    np.testing.assert_allclose(np.asarray(net(params, x))[:, 0], expected, rtol=1e-12, atol=1e-12)


def key_and_query(u):
    """K and Q of a head of rank one. Q's last entry meets the zero in the query: any number will do."""
    return u[: D + 1][None], np.append(u[D + 1 :], 17.0)[None]


def test_linear_attention(contexts):
    """Eq. 69 with the 1/N it lacks; of V_i only the last row is read."""
    data, X = contexts
    net = Units(HEADS, LinearHead(D), 1.0)
    params, rng = made(net, data.x.shape[1]), np.random.default_rng(2)
    expected = []
    for x in X:
        f = x.copy()
        for u, v in zip(params["u"], params["v"], strict=True):
            (K, Q), V = key_and_query(u), rng.standard_normal((D + 1, D + 1))
            V[-1] = v
            f = f + V @ x @ x.T @ K.T @ Q @ x / N
        expected.append(f[D, N])
    agree(net, params, data.x, expected)


def test_softmax_attention(contexts):
    data, X = contexts
    net = Units(HEADS, SoftmaxHead(D), 1.0)
    params = made(net, data.x.shape[1])
    expected = []
    for x in X:
        total = 0.0
        for u, v in zip(params["u"], params["v"], strict=True):
            K, Q = key_and_query(u)
            scores = ((Q @ x[:, -1]) * (K @ x))[0]
            share = np.exp(scores) / np.exp(scores).sum()
            total += v @ (x @ share)
        expected.append(total)
    agree(net, params, data.x, expected)


def test_merged_key_and_query(contexts):
    data, X = contexts
    net = Units(HEADS, MergedHead(D), 1.0)
    params = made(net, data.x.shape[1])
    expected = [
        sum(v @ (x @ x.T / N) @ u.reshape(D + 1, D) @ x[:D, -1] for u, v in zip(params["u"], params["v"], strict=True))
        for x in X
    ]
    agree(net, params, data.x, expected)


@pytest.mark.parametrize(("activation", "sigma"), [(Identity(), lambda z: z), (ReLU(), lambda z: np.maximum(z, 0))])
def test_convolution(activation, sigma):
    """Eq. 66 and 68: a kernel of two, stride two, and a weight for each place."""
    net, x = Units(HEADS, ConvUnit(2, activation), 1.0), np.random.default_rng(0).standard_normal((6, 4))
    params = made(net, 4)
    expected = [
        sum(v @ sigma(np.array([u @ r[:2], u @ r[2:]])) for u, v in zip(params["u"], params["v"], strict=True))
        for r in x
    ]
    agree(net, params, x, expected)


@pytest.mark.parametrize("skip", [0, 1, 2])
def test_skips(skip):
    """Eq. 18."""
    net, x = DeepUnits(4, Neuron(Identity()), (4, 4), 1.0, skip=skip), np.random.default_rng(0).standard_normal((5, 2))
    p = made(net, 2, 2)
    W1, W2, W3, W4 = p["u"], p["W2"], p["W3"], p["W4"]
    W = (W4 @ W3 @ W2 @ W1, W4 @ W3 @ (W2 @ W1 + W1), W4 @ (W3 @ W2 @ W1 + W1))[skip]
    np.testing.assert_allclose(net(p, x), x @ W.T, rtol=1e-12, atol=1e-12)


def test_relu_net_of_three_layers():
    net = DeepUnits(4, Neuron(ReLU()), (3,), 1.0, ReLU())
    p, x = made(net, 2, 2), np.random.default_rng(0).standard_normal((5, 2))
    relu = lambda z: np.maximum(z, 0)  # noqa: E731
    expected = relu(relu(x @ p["u"].T) @ p["W2"].T) @ p["W3"].T
    np.testing.assert_allclose(net(p, x), expected, rtol=1e-12, atol=1e-12)


def test_linear_transformer(contexts):
    """Attention, then two dense layers, each added to what comes in; on samples and on moments."""
    data, X = contexts
    net = LinearTransformer(HEADS, 4, D, 1.0)
    p, t = made(net, data.x.shape[1]), D + 1
    expected = []
    for x in X:
        query = np.append(x[:D, -1], 0.0)
        h = query + sum(
            v.reshape(t, t) @ (x @ x.T / N) @ u[:t] * (u[t:] @ x[:D, -1])
            for u, v in zip(p["u"], p["v"], strict=True)
        )  # fmt: skip
        expected.append((h + p["B"] @ (p["A"] @ h))[-1])
    agree(net, p, data.x, expected)
    mean = np.mean((np.asarray(data.y)[:, 0] - expected) ** 2)
    np.testing.assert_allclose(squared_error(net, p, net.statistics(data)), mean, rtol=1e-10)
