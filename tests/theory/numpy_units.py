"""Two-layer nets and their gradients in numpy alone: a complex step, which is exact to rounding."""

import numpy as np

from saddlescope.nets import Identity, ReLU, Sigmoid, Square, Tanh

SIGMA = {
    Identity: lambda z: z,
    ReLU: lambda z: np.where(z.real > 0, z, 0),
    Square: lambda z: z * z,
    Tanh: np.tanh,
    Sigmoid: lambda z: 1 / (1 + np.exp(-z)),
}
SILENT_AT_ZERO = (Identity, ReLU, Square, Tanh)


def outputs(activation, params, x, bias=False):
    if bias:
        x = np.hstack([x, np.ones((len(x), 1))])
    return SIGMA[activation](x @ np.asarray(params["u"]).T) @ np.asarray(params["v"])


def gradient(activation, params, data, bias=False):
    """dL/dθ of the mean squared error, by Im L(θ + ih) / h; a dict like params."""
    x, y = np.asarray(data.x), np.asarray(data.y)
    result = {}
    for name, weights in params.items():
        result[name] = np.zeros(np.shape(weights))
        for at in np.ndindex(result[name].shape):
            shifted = {k: np.array(w, dtype=complex) for k, w in params.items()}
            shifted[name][at] += 1e-30j
            residual = outputs(activation, shifted, x, bias) - y
            result[name][at] = np.mean(np.sum(residual * residual, axis=1)).imag / 1e-30
    return result


def largest(gradients):
    return max(np.abs(g).max() for g in gradients.values())
