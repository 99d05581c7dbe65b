"""The JAX engine: any net, any loss, any optimiser, full batch or minibatch.

A whole call is one compiled loop with the number of steps as data, so one compilation serves every length of call and
the bits do not depend on where a run was cut.
"""

from functools import partial
from typing import final

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from saddlescope.engines.engine import Engine, Stepper, cast
from saddlescope.engines.kept import intervals, run_steps
from saddlescope.optimisers import GradientFlow

ROWS = 2**20  # sample numbers that one call of minibatches takes along


def _step(parts, lr, turned, batch, i, state):
    """Step i on one batch: (params, the optimiser's memory), and the losses with that before the step."""
    (net, loss, optimiser), ((params, memory), losses) = parts, state
    seen = net.merged(params, {name: a.T for name, a in turned.items()}) if turned else params
    value, gradient = loss.with_gradient(net, seen, batch)
    trained = net.trained(params)
    direction, memory = optimiser.transform().update(gradient, memory, trained)
    moved = jax.tree.map(lambda p, d, rate: p - lr * _paced(d, rate), trained, direction, net.rates(trained))
    return (net.merged(params, moved), memory), losses.at[i].set(value)


def _paced(direction, rate):
    return direction if rate == 1 else rate * direction


def _turned(parts, state):
    """Frozen maps, stored before the loop as its products read them: XLA does not turn them by itself.

    A net sees them turned back; the two turns cancel when the loop is compiled.
    """
    (params, _), _ = state
    return {name: jax.lax.optimization_barrier(params[name].T) for name in sorted(parts[0].read_transposed)}


def _trained(parts, state):
    (params, _), _ = state
    return parts[0].trained(params)


@eqx.filter_jit
def _full_batch(parts, statistics, state, n, between, lr):
    step = partial(_step, parts, lr, _turned(parts, state), statistics)
    return run_steps(step, state, n, between, partial(_trained, parts))


@eqx.filter_jit
def _minibatch(parts, data, state, rows, short, rest, n, between, lr):
    """`rows` holds the sample numbers of every step; of a `short` one, the last of its epoch, only `rest` count."""
    turned = _turned(parts, state)

    def on(samples, i, state):
        return _step(parts, lr, turned, jax.tree.map(lambda a: a[samples], data), i, state)

    def step(i, state):
        if rest == 0:
            return on(rows[i], i, state)
        return jax.lax.cond(short[i], partial(on, rows[i, :rest], i), partial(on, rows[i], i), state)

    return run_steps(step, state, n, between, partial(_trained, parts))


@final
class Jax(Engine):
    """The general engine: a loop compiled by JAX, for any net, loss and optimiser but gradient flow."""

    name = "jax"
    overhead = 2e5

    def why_not(self, setting):
        if isinstance(setting.optimiser, GradientFlow):
            return "gradient flow needs a solver: use Flow()"
        return None

    def begin(self, setting):
        return JaxStepper(setting)


class JaxStepper(Stepper):
    """The JAX loop of one run."""

    keeps = True

    def __init__(self, setting):
        super().__init__(setting)
        self.learner, self.seen = self.net, self.data  # what the loop trains, and on what
        if self.batch is not None:
            self.max_steps = max(1, min(1024, ROWS // self.batch))
            self.rest = self.samples % self.batch
        self.buffer = jnp.zeros(self.max_steps, setting.precision)

    def start(self):
        params = self.initial()
        memory = self.optimiser.transform().init(self.net.trained(params))
        return params, _cast_floats(memory, self.setting.precision)

    def advance(self, state, step, n, lr, keep=None):
        steps, lr = np.asarray(n), np.asarray(lr, self.setting.precision)  # a Python number would be compiled in
        parts, state = (self.learner, self.loss_of, self.optimiser), (state, self.buffer)
        between = intervals(keep, n)
        if self.batch is None:
            (state, losses), kept = _full_batch(parts, self.statistics, state, steps, between, lr)
        else:
            rows, short = self.rows(step, n)
            (state, losses), kept = _minibatch(parts, self.seen, state, rows, short, self.rest, steps, between, lr)
        losses = np.asarray(losses)[:n].astype(float)  # a slice by JAX is one more dispatch per call
        return (state, losses) if keep is None else (state, losses, kept)

    def rows(self, step, n):
        """The sample numbers of n steps, one row each, in a buffer of one size; and which steps are short ones."""
        orders, first = self.orders(step, n)
        size, each = self.batch or self.samples, self.steps_per_epoch
        padded = np.zeros((len(orders), each * size), np.int32)
        padded[:, : self.samples] = orders
        rows = np.zeros((self.max_steps, size), np.int32)
        rows[:n] = padded.reshape(-1, size)[first : first + n]
        last = (first + np.arange(self.max_steps)) % each == each - 1
        return rows, last & (self.rest > 0)

    def params(self, state):
        return state[0]


def _cast_floats(tree, dtype):
    """Counters of an optimiser stay whole numbers."""
    return jax.tree.map(lambda x: cast(x, dtype) if jnp.issubdtype(x.dtype, jnp.floating) else x, tree)
