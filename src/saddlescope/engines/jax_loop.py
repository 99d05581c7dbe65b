"""The JAX engine: any net, any optimiser, full batch or minibatch.

A whole call is one compiled loop with the number of ticks as data, so one compilation serves every length of call and
the bits do not depend on where a run was cut.
"""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from saddlescope.engines.engine import Engine, cast


def descend(net, optimiser, lr, carry, batch):
    """One step: (params, optimiser's state) on one batch, and the loss before it."""
    params, memory = carry
    loss, gradient = net.loss_and_gradient(params, batch)
    direction, memory = optimiser.transform().update(gradient, memory, net.trained(params))
    moved = {name: params[name] - lr * paced(d, net.rate(name)) for name, d in direction.items()}
    return (params | moved, memory), loss


def paced(direction, rate):
    return direction if rate == 1 else rate * direction


@eqx.filter_jit
def full_batch(net, optimiser, statistics, carry, losses, n, lr):
    def step(i, state):
        carry, losses = state
        carry, loss = descend(net, optimiser, lr, carry, statistics)
        return carry, losses.at[i, 0].set(loss)

    return jax.lax.fori_loop(0, n, step, (carry, losses))


@eqx.filter_jit
def minibatch(net, optimiser, data, carry, losses, orders, n, lr, size):
    """`orders` holds a permutation a tick; batches are consecutive slices of it, a short last one kept."""
    whole, rest = divmod(orders.shape[1], size)

    def step(carry, rows):
        return descend(net, optimiser, lr, carry, jax.tree.map(lambda a: a[rows], data))

    def epoch(i, state):
        carry, losses = state
        order = orders[i]
        carry, row = jax.lax.scan(step, carry, order[: whole * size].reshape(whole, size))
        if rest:
            carry, last = step(carry, order[whole * size :])
            row = jnp.append(row, last)
        return carry, losses.at[i].set(row)

    return jax.lax.fori_loop(0, n, epoch, (carry, losses))


class JaxLoop(Engine):
    name = "jax"

    def __init__(self, setting):
        super().__init__(setting)
        steps = 1 if setting.batch is None else -(-setting.samples // setting.batch)
        if setting.batch is not None:
            self.longest = 64  # permutations are made beforehand, a tick each
        self.buffer = jnp.zeros((self.longest, steps), setting.precision)

    def start(self):
        params = self.initial()
        memory = self.optimiser.transform().init(self.net.trained(params))
        return params, cast_floats(memory, self.setting.precision)

    def advance(self, state, tick, n, lr):
        ticks, lr = jnp.asarray(n), jnp.asarray(lr, self.setting.precision)  # a Python number would be compiled in
        if self.setting.batch is None:
            state, losses = full_batch(self.net, self.optimiser, self.statistics, state, self.buffer, ticks, lr)
        else:
            orders = np.zeros((self.longest, self.samples), np.int32)
            orders[:n] = self.orders(tick, n)
            state, losses = minibatch(
                self.net, self.optimiser, self.data, state, self.buffer, orders, ticks, lr, self.batch
            )
        return state, np.asarray(losses[:n], float)

    def params(self, state):
        return state[0]


def cast_floats(tree, dtype):
    """Counters of an optimiser stay whole numbers."""
    return jax.tree.map(lambda x: cast(x, dtype) if jnp.issubdtype(x.dtype, jnp.floating) else x, tree)
