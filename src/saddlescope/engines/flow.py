"""The flow engine: dθ/dt = -∇L, times each parameter's rate, by an adaptive fifth-order solver (Tsit5). A tick lasts a
time lr.

Each tick starts the solver anew from θ alone, so a run may be cut and resumed anywhere to the same bits.
"""

import diffrax
import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from saddlescope.engines.engine import Engine
from saddlescope.engines.jax_loop import cast_floats


@eqx.filter_jit
def flow(net, optimiser, statistics, params, losses, n, lr):
    def velocity(t, theta, _):
        _, gradient = net.loss_and_gradient(theta, statistics)
        still = {name: jnp.zeros_like(theta[name]) for name in net.frozen}
        return {name: -net.rate(name) * g for name, g in gradient.items()} | still

    term = diffrax.ODETerm(velocity)
    controller = diffrax.PIDController(rtol=optimiser.rtol, atol=optimiser.atol)

    def tick(i, state):
        params, losses = state
        losses = losses.at[i, 0].set(net.loss(params, statistics))
        solution = diffrax.diffeqsolve(
            term, diffrax.Tsit5(), 0.0, lr, lr, params, stepsize_controller=controller, max_steps=100_000, throw=False
        )
        assert solution.ys is not None
        ok = solution.result == diffrax.RESULTS.successful
        return jax.tree.map(lambda y: jnp.where(ok, y[-1], jnp.nan), solution.ys), losses

    return jax.lax.fori_loop(0, n, tick, (params, losses))


class Flow(Engine):
    name = "flow"

    def start(self):
        return self.initial()

    def advance(self, state, tick, n, lr):
        lr, buffer = cast_floats((np.asarray(lr), np.zeros((self.longest, 1))), self.setting.precision)
        state, losses = flow(self.net, self.optimiser, self.statistics, state, buffer, np.asarray(n), lr)
        return state, np.asarray(losses[:n], float)

    def params(self, state):
        return state
