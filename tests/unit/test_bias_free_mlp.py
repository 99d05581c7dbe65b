"""Deep ReLU nets without biases: against loops in numpy, and the escape paper's rule of the learning rate."""

import numpy as np
import pytest
from cases import image_setting

from saddlescope.errors import InvalidInput
from saddlescope.nets import BiasFreeMLP
from saddlescope.optimisers import NormScaledDescent
from saddlescope.training import train


def forward(params, x):
    """Inputs of every layer, and the outputs."""
    inputs, weights = [x], list(params.values())
    for w in weights[:-1]:
        inputs.append(np.maximum(inputs[-1] @ w.T, 0))
    return inputs, inputs[-1] @ weights[-1].T


def gradients(params, x, y):
    """Cross-entropy and its gradient, by the chain rule written out."""
    inputs, out = forward(params, x)
    shifted = np.exp(out - out.max(1, keepdims=True))
    p = shifted / shifted.sum(1, keepdims=True)
    back, found = (p - y) / len(x), {}
    for name, h in zip(reversed(params), reversed(inputs), strict=True):
        found[name] = back.T @ h
        back = (back @ params[name]) * (h > 0)
    return -np.mean(np.sum(y * np.log(p), axis=1)), found


@pytest.mark.parametrize("power", [0.0, 2, 4, 1.5])
def test_minibatch_training_is_the_rule_of_appendix_b(power):
    """θ ← θ - c/‖θ‖^p ∇L on each batch, with the norm of all weights before the step."""
    c = 0.3
    setting = image_setting(optimiser=NormScaledDescent(c, power), epochs=3)
    data, params, losses = setting.data(), dict(setting.initial_params()), []
    for epoch in range(3):
        order = setting.permutation(epoch)
        for rows in np.split(order, range(7, len(order), 7)):
            loss, found = gradients(params, data.x[rows], data.y[rows])
            norm = np.sqrt(sum(np.sum(w**2) for w in params.values()))
            params = {n: w - c / norm**power * found[n] for n, w in params.items()}
            losses.append(loss)
    run = train(setting, per_step=True)
    np.testing.assert_allclose(run.step_loss.values.ravel(), losses, rtol=1e-9)


def test_outputs_are_homogeneous_of_degree_depth():
    net = BiasFreeMLP((8, 7, 6), 0.3)
    rng = np.random.default_rng(0)
    params, x = net.init(rng, 5, 3), rng.standard_normal((20, 5))
    assert net.depth == 4
    assert {n: w.shape for n, w in params.items()} == {"W1": (8, 5), "W2": (7, 8), "W3": (6, 7), "W4": (3, 6)}
    np.testing.assert_allclose(net(params, x), forward(params, x)[1], rtol=1e-12)
    scaled = net({n: 0.1 * w for n, w in params.items()}, x)
    np.testing.assert_allclose(scaled, 1e-4 * net(params, x), rtol=1e-12)


def test_the_deviation_does_not_depend_on_the_width():
    params = BiasFreeMLP((300, 300), 0.01).init(np.random.default_rng(0), 200, 100)
    for w in params.values():
        assert abs(w.std() / 0.01 - 1) < 0.02


@pytest.mark.parametrize(
    "bad", [dict(widths=(), scale=1.0), dict(widths=(0,), scale=1.0), dict(widths=(3,), scale=0.0)]
)
def test_what_is_no_net_is_refused(bad):
    with pytest.raises(InvalidInput):
        BiasFreeMLP(**bad)
