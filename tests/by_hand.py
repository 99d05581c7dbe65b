"""Random-feature nets and their training, written out in numpy: what the engines are held against."""

import math

import jax
import numpy as np
from hypothesis import strategies as st

from saddlescope.nets import Gaussian, LeakyReLU, MeanField, ReLU, UniformFanIn
from saddlescope.nets.random_feature_net import RandomFeatureNet
from saddlescope.optimisers import Adam
from saddlescope.setting import Setting
from saddlescope.tasks import ArrayTask


def loss_and_gradient(net, params, x, y):
    """By hand. Also the smallest pre-activation, relative to the sum of its terms: how near a kink is."""
    slope, m = getattr(net.activation, "slope", 0.0), net.parameterisation.multiplier(net.widths[0])
    h, layers, nearest, blocks = x, [], np.inf, range(len(net.widths))
    for j in blocks:
        A, b, C, c = (params[f"{name}{j}"] for name in "AbCc")
        z = h @ A.T + b
        on = np.where(z > 0, 1, slope).astype(x.dtype)
        nearest = min(nearest, np.min(np.abs(z) / (np.abs(h) @ np.abs(A).T + np.abs(b))))
        layers.append((on * z, on))
        h = c + m * ((on * z) @ C.T)
    gradient, g = {}, 2 * (h - y) / len(x)
    for j in reversed(blocks):
        feature, on = layers[j]
        gradient |= {f"C{j}": m * (g.T @ feature), f"c{j}": g.sum(axis=0)}
        g = m * ((g @ params[f"C{j}"]) * on) @ params[f"A{j}"]
    return np.mean(np.sum((h - y) ** 2, axis=1)), gradient, nearest


def norm_of(arrays):
    return math.sqrt(sum(np.sum(np.float64(v) ** 2) for v in arrays.values()))


def cancelling(net, params, x, y, size):
    """How much longer the gradients of single samples are than that of their batch, squared.

    A norm by products of samples is a sum of terms that much larger than itself.
    """
    rows = (slice(i, i + 1) for i in range(len(x)))
    return (sum(norm_of(loss_and_gradient(net, params, x[i], y[i])[1]) for i in rows) / len(x) / size) ** 2


def descended(optimiser, memory, gradient, step):
    """Direction and memory after a gradient, as the optimiser's definition says: θ ← θ - lr · direction."""
    if not isinstance(optimiser, Adam):
        v = {k: (optimiser.momentum or 0.0) * memory["v"][k] + g for k, g in gradient.items()}
        return v, {"v": v}
    b1, b2 = optimiser.b1, optimiser.b2
    v = {k: b1 * memory["v"][k] + (1 - b1) * g for k, g in gradient.items()}
    s = {k: b2 * memory["s"][k] + (1 - b2) * g**2 for k, g in gradient.items()}
    m = {k: v[k] / (1 - b1**step) / (np.sqrt(s[k] / (1 - b2**step)) + optimiser.eps) for k in gradient}
    return m, {"v": v, "s": s}


def by_hand(setting, epochs, lr, dtype="float64"):
    """Losses, parameters and the optimiser's memory after some epochs of plain numpy; the length of the directions on
    the way, one number per array; the nearest kink passed; how much gradients cancelled where they were clipped."""
    data, params = (
        setting.data(),
        {k: v.astype(setting.precision).astype(dtype) for k, v in setting.initial_params().items()},
    )
    x, y = (np.asarray(v).astype(setting.precision).astype(dtype) for v in (data.x, data.y))
    clip, losses, nearest = setting.optimiser.clip, [], np.inf
    memory = {kind: {k: 0 * p for k, p in setting.net.trained(params).items()} for kind in "vs"}
    lengths, cancelled = dict.fromkeys(params, 0.0), 0.0
    for epoch in range(epochs):
        order = setting.permutation(epoch)
        for first in range(0, len(order), setting.batch):
            rows = order[first : first + setting.batch]
            loss, gradient, near = loss_and_gradient(setting.net, params, x[rows], y[rows])
            size = norm_of(gradient)
            scale = clip / size if clip is not None and size > clip else 1.0
            if scale < 1:
                cancelled = max(cancelled, cancelling(setting.net, params, x[rows], y[rows], size))
            losses.append(loss)
            scaled = {k: scale * g for k, g in gradient.items()}
            direction, memory = descended(setting.optimiser, memory, scaled, len(losses))
            params = params | {k: params[k] - lr * setting.net.rate(k) * d for k, d in direction.items()}
            moved = direction if isinstance(setting.optimiser, Adam) else scaled
            lengths |= {k: lengths[k] + np.linalg.norm(g) for k, g in moved.items()}
            nearest = min(nearest, near)
    return np.reshape(losses, (epochs, -1)), params, memory, lengths, nearest, cancelled


def made(net, optimiser, batch, samples, inputs, outputs, seed, **more):
    """A setting with random inputs and targets."""
    rng = np.random.default_rng(seed)
    task = ArrayTask(rng.standard_normal((samples, inputs)), rng.standard_normal((samples, outputs)))
    return Setting(task, net, optimiser, batch=batch, epochs=10_000, seed=seed, **more)


@st.composite
def nets(draw, deepest=6, widest=400):
    """Of any shape: widths and ranks of their own for each block, and more panels than are worked on together."""
    inputs, outputs = draw(st.integers(1, 4)), draw(st.integers(1, 3))
    ranks = draw(st.lists(st.integers(1, 12) | st.integers(13, 20), min_size=1, max_size=deepest))
    widest = widest if len(ranks) < 3 else min(widest, 150)
    widths = [draw(st.integers(max(pair), widest)) for pair in zip([1, *ranks], [*ranks, 1], strict=True)]
    parameterisation = draw(st.sampled_from([UniformFanIn(), Gaussian(), MeanField()]))
    if isinstance(parameterisation, MeanField):
        widths = [max(widths)] * len(widths)
    activation = draw(st.sampled_from([ReLU(), LeakyReLU(), LeakyReLU(0.5)]))
    return RandomFeatureNet(ranks, widths, activation, parameterisation=parameterisation), inputs, outputs


def distance(a, b):
    """The largest relative difference; not a number where a run is none."""
    a, b = ({k: np.asarray(v) for k, v in params.items()} for params in (a, b))
    with np.errstate(all="ignore"):
        return np.max([np.abs(a[k] - b[k]).max() / np.abs(b[k]).max() for k in b])


def same(a, b):
    return all(np.array_equal(x, y) for x, y in zip(jax.tree.leaves(a), jax.tree.leaves(b), strict=True))
