"""How far gradient descent runs from the gradient flow, to first order in the learning rate."""

from typing import final

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import scipy  # its parts are imported when first used
from jax.flatten_util import ravel_pytree

from saddlescope.errors import require
from saddlescope.losses import SquaredError, squared_error
from saddlescope.numerics import reproducible
from saddlescope.theory.drop_schedule import plain_descent
from saddlescope.theory.prediction import Prediction

PRECISE = dict(method="DOP853", rtol=1e-10, atol=1e-14)


@final
class EulerGap(Prediction):
    """The largest difference in loss between descent and the flow θ̇ = −∇L that it discretises, at
    the run's steps.

    Descent at learning rate h follows θ + h e up to O(h²), where ė = −H e − ½ H ∇L and e(0) = 0:
    the modified equation of Euler's method (Hairer, Lubich and Wanner, Sec. IX.1). So `gap` = h max
    |∇L · e|, which is proportional to h.

    Holds for full-batch descent on the squared error without momentum or clipping, at a constant
    learning rate that is small against 1 / λ, with λ the largest curvature on the way, for nets all
    of whose parameters learn at one rate.
    """

    @reproducible()
    def __call__(self, setting):
        lr, net = plain_descent(setting), setting.net
        require(isinstance(setting.loss, SquaredError), "This theory is for the squared error.")
        params = setting.initial_params()
        alike = not net.frozen and all(rate == 1 for rate in jax.tree.leaves(net.rates(params)))
        require(alike, "This theory is for nets all of whose parameters are trained, at one rate.")
        start, restore = ravel_pytree(params)
        statistics = jax.tree.map(jnp.asarray, setting.statistics())
        first = jnp.concatenate([start, jnp.zeros_like(start)])
        times = lr * np.arange(setting.budget + 1)

        def velocity(_, state):
            return np.asarray(_velocity(net, restore, state, statistics))

        path = scipy.integrate.solve_ivp(velocity, (0, times[-1]), np.asarray(first), t_eval=times, **PRECISE).y.T  # type: ignore[arg-type]
        return {"gap": ((), lr * float(np.max(np.abs(_gains(net, restore, path, statistics)))))}


def _gradient(net, restore, statistics):
    return jax.grad(lambda flat: squared_error(net, restore(flat), statistics))


@eqx.filter_jit
def _velocity(net, restore, state, statistics):
    """The velocities of θ and e, one after the other."""
    theta, e = jnp.split(state, 2)
    g, turned = jax.jvp(_gradient(net, restore, statistics), (theta,), (e,))
    _, twice = jax.jvp(_gradient(net, restore, statistics), (theta,), (g,))
    return jnp.concatenate([-g, -turned - twice / 2])


@eqx.filter_jit
def _gains(net, restore, path, statistics):
    """∇L · e along the way."""

    def gain(state):
        theta, e = jnp.split(state, 2)
        return _gradient(net, restore, statistics)(theta) @ e

    return jax.lax.map(gain, path)
