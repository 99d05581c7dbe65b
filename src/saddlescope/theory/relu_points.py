"""When a ReLU net learns each of two orthogonal points."""

from typing import final

import numpy as np

from saddlescope.errors import require
from saddlescope.nets import Neuron, ReLU, Units
from saddlescope.theory.drop_schedule import plain_descent
from saddlescope.theory.prediction import Prediction


@final
class OrthogonalPoints(Prediction):
    """When a two-layer ReLU net learns each of two orthogonal points; the schedule is ours.

    A unit grows towards point k if it is active there, u_i·x̂ > 0, and its output has the sign of
    the target. So c_i = (sign(y) v_i + u_i·x̂) / 2 counts where it is positive. With s_k =
    |y_k||x_k|/P and a_k = |y_k|/|x_k|, the strength rises from a0_k = Σ_i (c_i)₊² over the active
    units. It reaches a_k/2 at step n = ln(a_k/a0_k - 1) / (2 ln(1 + 2 lr s_k)). The level after
    each point is the mean square of the targets still unlearned.

    Gives `half_strength_step` and `plateau_level`. Holds for one or two orthogonal inputs with
    targets of opposite sign, one output, no bias, small initial weights and full-batch descent. (A
    unit active at two points of one sign grows towards both, faster.) Units active at both points
    leave one of them within the first steps. The closed form does not follow that, which costs it
    up to a few per cent. Reference: simplicity paper, Fig. 1D.
    """

    def __call__(self, setting):
        lr, (x, y) = plain_descent(setting), _orthogonal_points(setting)
        start = setting.initial_params()
        length, strength = np.linalg.norm(x, axis=1), np.abs(y)
        along = start["u"] @ (x.T / length)  # unit × point
        c = np.where(along > 0, (start["v"] * np.sign(y) + along) / 2, 0)
        a0 = np.sum(np.maximum(c, 0) ** 2, axis=0)
        require(
            np.all(a0 > 0),
            "No unit of this draw grows towards one of the points: it is never learned.",
        )
        require(
            np.all(a0 < strength / length / 2),
            "The initial weights are not small: use a smaller `scale`.",
        )
        half = np.log(strength / length / a0 - 1) / (2 * np.log1p(2 * lr * strength * length / len(y)))
        left = np.append(np.cumsum((y[np.argsort(half)] ** 2)[::-1])[::-1], 0.0) / len(y)
        return {"half_strength_step": ("sample", half), "plateau_level": ("stage", left)}


def _is_relu(net):
    """Neurons without bias."""
    unit = net.unit if isinstance(net, Units) else None
    return isinstance(unit, Neuron) and isinstance(unit.activation, ReLU) and not unit.bias


def _orthogonal_points(setting):
    net, data = setting.net, setting.data()
    require(
        _is_relu(net) and setting.task.outputs == 1,
        "This theory is for ReLU units without bias and with one output.",
    )
    x, y = np.asarray(data.x), np.asarray(data.y)[:, 0]
    gram = x @ x.T
    require(np.diag(gram).min() > 0, "An input of zero activates no unit: leave that point out.")
    require(
        np.abs(gram - np.diag(np.diag(gram))).max() < 1e-12 * gram.max(),
        "The inputs are not orthogonal, so the points are not learned independently; this theory does not hold.",
    )
    require(np.all(y != 0), "A target of zero is fitted from the start: leave that point out.")
    require(
        len(set(np.sign(y))) == len(y),
        "Two points have targets of one sign, so units grow towards both at once: this theory does not hold.",
    )
    return x, y
