"""Gradient descent of wide nets, written out in numpy: the answer from outside that the theory is held to.

It shares with the package the setting, its initial draw and nothing else: moments and gradients are the tests' own.
"""

from typing import Any

import numpy as np
from scipy.signal import find_peaks

from saddlescope.nets import Neuron, ReLU, Units, linear_units
from saddlescope.optimisers import GradientDescent
from saddlescope.setting import Setting
from saddlescope.tasks import LinearTeacher, Points

EYE2, COVARIANCE = ((1, 0), (0, 1)), ((1, 1), (1, 4))  # Fig. 1B


def linear_setting(matrix=EYE2, covariance=COVARIANCE, units=50, scale=1e-6, lr=0.01, **more):
    """A linear net on the population of a teacher, for 2000 steps; other parts by keyword."""
    net = linear_units(units, scale)
    given: dict[str, Any] = dict(
        task=LinearTeacher(matrix, covariance), net=net, optimiser=GradientDescent(lr), steps=2000
    )
    return Setting(**given | more)


def relu_setting(x, y, units=50, scale=1e-6, lr=0.01, steps=2000, seed=0):
    return Setting(Points(x, y), Units(units, Neuron(ReLU()), scale), GradientDescent(lr), steps=steps, seed=seed)


def descend_linear(setting):
    """Losses and maps of a linear net, one per step, start included.

    The task is a teacher or points, by their plain second moments.
    """
    task = setting.task
    if isinstance(task, Points):
        x, y = np.array(task.x), np.array(task.y)
        xx, yx, power = x.T @ x / len(x), y.T @ x / len(x), np.mean(np.sum(y**2, axis=1))
    else:
        W, xx = np.array(task.matrix), np.array(task.covariance)
        yx, power = W @ xx, np.trace(W @ xx @ W.T)
    u, v, lr = setting.initial_params()["u"], setting.initial_params()["v"], setting.optimiser.lr
    losses, maps = [], []
    for _ in range(setting.budget + 1):
        W = v.T @ u
        losses.append(power - 2 * np.sum(W * yx) + np.sum((W @ xx) * W))
        maps.append(W)
        slope = 2 * (W @ xx - yx)  # dL/dW
        u, v = u - lr * v @ slope, v - lr * u @ slope.T
    return np.array(losses), np.array(maps)


def descend_relu(setting):
    """Losses and outputs at the points of a ReLU net with one output, one per step, start included."""
    x, y = np.array(setting.task.x), np.array(setting.task.y)[:, 0]
    u, v, lr = setting.initial_params()["u"], setting.initial_params()["v"][:, 0], setting.optimiser.lr
    losses, outputs = [], []
    for _ in range(setting.budget + 1):
        z = x @ u.T
        f = np.maximum(z, 0) @ v
        losses.append(np.mean((f - y) ** 2))
        outputs.append(f)
        slope = 2 * (f - y) / len(y)  # dL/df
        u, v = u - lr * ((z > 0) * v).T @ (slope[:, None] * x), v - lr * np.maximum(z, 0).T @ slope
    return np.array(losses), np.array(outputs)


def passes(curve, level):
    """The step at which a curve first rises above a level, between steps on a line; infinite if it never does."""
    after = int(np.argmax(curve >= level))
    if curve[after] < level:
        return np.inf
    assert after > 0, "the curve starts above the level"
    return float(np.interp(level, curve[after - 1 : after + 1], (after - 1, after)))


def fastest_falls(losses):
    """Steps of the local maxima of the fall per step; those of rounding, below 1e-6 of the start, left out."""
    return find_peaks(-np.diff(losses), height=1e-6 * losses[0])[0] + 0.5


def waits_at(losses):
    """The loss where it falls slowest between its two drops."""
    first, second = (int(at) for at in fastest_falls(losses))
    return losses[first + np.argmin(-np.diff(losses[first : second + 1]))]


def random_problem(rng, outputs, inputs):
    """A teacher and a covariance that have nothing to do with each other."""
    spread = rng.standard_normal((inputs, inputs))
    covariance = spread @ spread.T / inputs + 0.3 * np.eye(inputs)
    return rng.standard_normal((outputs, inputs)), (covariance + covariance.T) / 2
