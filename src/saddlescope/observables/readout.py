"""Outputs and channels of a net over points.

They come from the run's engine, in the precision of the run, where it evaluates nets on the host. Elsewhere they are
compiled by JAX, once for a net's shape, whatever its task.
"""

import equinox as eqx
import numpy as np

from saddlescope.errors import InvalidInput, require
from saddlescope.serialization.part import with_traced_floats
from saddlescope.tasks.curve import Curve
from saddlescope.tasks.task import Moments


@eqx.filter_jit
def _outputs_of(net, params, x):
    return net(params, x)


@eqx.filter_jit
def _channels_of(net, params, x):
    return net.channels(params, x)


def _cast(net, params, x, precision):
    return (
        with_traced_floats(net, precision, np.asarray),
        {k: np.asarray(v, precision) for k, v in params.items()},
        np.asarray(x, precision),
    )


def outputs(snapshot, x) -> np.ndarray:
    """One row per point, in float64."""
    if snapshot.host is not None:
        return np.asarray(snapshot.host.channels(x)[-1], float)
    return np.asarray(_outputs_of(*_cast(snapshot.net, snapshot.params, x, "float64")))


def channels(snapshot, x, precision=None) -> list[np.ndarray]:
    """The output of every block, one row per point. A `precision` has them computed by JAX, in that precision."""
    require(
        hasattr(snapshot.net, "channels"),
        f"{type(snapshot.net).__name__} has no channels; a RandomFeatureNet has.",
    )
    if snapshot.host is not None and precision is None:
        return [np.asarray(f, float) for f in snapshot.host.channels(x)]
    precision = precision or "float64"
    return [np.asarray(f) for f in _channels_of(*_cast(snapshot.net, snapshot.params, x, precision))]


def grid(snapshot, points) -> np.ndarray:
    """A column of equally spaced points over the range of the inputs, ends included."""
    x = one_input(snapshot)
    return np.linspace(x.min(), x.max(), points, dtype=float)[:, None]


def one_input(snapshot) -> np.ndarray:
    data = snapshot.data
    if isinstance(data, Moments) or data.x.shape[1] != 1:
        raise InvalidInput("This reads a net along one input, but the task has several, or is a population.")
    return np.asarray(data.x)


def curve_of(snapshot) -> Curve:
    if not isinstance(snapshot.task, Curve):
        raise InvalidInput("This reads a function of one number over [-1, 1]; the task is not a Curve.")
    return snapshot.task


def check_points(points, least=2):
    require(
        type(points) is int and points >= least,
        f"`points` must be a whole number, {least} or more; got {points!r}.",
    )
