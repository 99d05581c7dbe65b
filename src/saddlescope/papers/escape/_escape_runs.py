"""Runs that leave the origin, for `escape_time` and `taken_direction`: data, settings, and what is read off a run.

The initial norm is `start` times √L (r/‖X‖_F)^(1/L), the least norm at which any net has ‖Y‖_F = r. The level r is
1 % of the targets under the squared loss, and as far from zero under the cross-entropy: r = 0.005 N‖G‖_F. Rates let a
net along the best single neuron grow by `GROWTH` per step: everywhere with the clock ‖θ‖^(2−L), at the escape with a
constant rate.
"""

from functools import cache
from typing import NamedTuple

import numpy as np

from saddlescope.initials import Scaled
from saddlescope.losses import CrossEntropy, SquaredError
from saddlescope.nets import BiasFreeMLP
from saddlescope.optimisers import NormScaledDescent
from saddlescope.setting import Setting
from saddlescope.tasks import ArrayTask, ImageClasses
from saddlescope.theory.escape.certificates import speed_bound
from saddlescope.theory.escape.growth import growth_rate, norm_at_outputs
from saddlescope.theory.escape.localized import circle, gradient_at_zero, layers_of
from saddlescope.training import every

GROWTH, SAVED, BEYOND = 0.05, 400, 3.0  # BEYOND: the norm at the escape over the least possible one, about
FOUND = {3: 600, 4: 1500, 5: 6000}  # steps of that growth until the direction is found
POINTS = {"circle": 8, "digits": 300}


class Data(NamedTuple):
    """Data of a run.

    **Arguments:**

    - `X`, `Y`, `G`: inputs, targets and gradient at zero output, one column per point.
    - `level`: ‖Y‖_F at which a net has left.
    - `speed`: the best speed of a single neuron.
    """

    X: np.ndarray
    Y: np.ndarray
    G: np.ndarray
    level: float
    speed: float


@cache
def data_of(name) -> Data:
    """Example 1 under the squared loss, or the first digits under the cross-entropy."""
    if name == "circle":
        X, G = circle(POINTS[name])
        Y, G = -G, gradient_at_zero(-G)
    else:
        drawn = ImageClasses("small", POINTS[name]).data(np.random.default_rng(0))
        X, Y = (np.asarray(values, float).T for values in (drawn.x, drawn.y))
        G = gradient_at_zero(Y, "cross-entropy")
    level = 0.005 * X.shape[1] * np.linalg.norm(G)
    return Data(X, Y, G, float(level), speed_bound(X, G, 2).speed)


def run_setting(name, depth, width, start, seed, constant=False, batch=None, growth=GROWTH) -> Setting:
    data = data_of(name)
    least = norm_at_outputs(data.level, float(np.linalg.norm(data.X)), depth)
    rate = growth_rate(data.speed, depth)
    net = BiasFreeMLP((width,) * (depth - 1), 1.0)
    size = np.sqrt(net.parameter_count(len(data.X), len(data.Y)))
    lr = growth / rate / ((BEYOND * least) ** (depth - 2) if constant else 1)
    steps = budget(depth, start, constant, growth)
    task = ImageClasses("small", POINTS[name]) if name == "digits" else ArrayTask(data.X.T, data.Y.T)
    return Setting(
        task=task,
        net=net,
        loss=CrossEntropy() if name == "digits" else SquaredError(),
        optimiser=NormScaledDescent(lr, 0 if constant else depth - 2),
        initial=Scaled(start * least / size),
        seed=seed,
        steps=steps if batch is None else None,
        batch=batch,
        epochs=None if batch is None else -(-steps // (POINTS[name] // batch)),
    )


def budget(depth, start, constant, growth=GROWTH) -> int:
    """Steps: about twice what a draw needs, most of it to find its direction, which takes longer at more depth."""
    if constant:
        return int(12 * (BEYOND / start) ** (depth - 2) / ((depth - 2) * growth))
    return int((GROWTH * FOUND[depth] + np.log(1 / start)) / growth)


def saved_steps(depth, start, constant, growth=GROWTH):
    steps = budget(depth, start, constant, growth)
    return every(max(1, steps // SAVED), steps)


def weights_along(run, depth) -> list[list[np.ndarray]]:
    """[W_1, …, W_L] at each saved step at which they are finite."""
    layers = [run[f"param_W{k}"].values for k in range(1, depth + 1)]
    rows = [[w[i] for w in layers] for i in range(len(layers[0]))]
    return [w for w in rows if all(np.isfinite(m).all() for m in w)]


def outputs_along(weights, X) -> np.ndarray:
    """‖Y‖_F at each saved step."""
    return np.array([np.linalg.norm(layers_of(w, X).before[-1]) for w in weights])


def first_reach(steps, outputs, level) -> float:
    """The step at which ‖Y‖ reaches the level, on a line in its logarithm; infinite if it does not."""
    reached = np.flatnonzero(outputs >= level)
    if not reached.size:
        return np.inf
    k = int(reached[0])
    if k == 0:
        return float(steps[0])
    logs = np.log(np.maximum(outputs[k - 1 : k + 1], 1e-300))
    return float(np.interp(np.log(level), logs, steps[k - 1 : k + 1]))
