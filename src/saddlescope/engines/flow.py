"""The flow engine: gradient flow by an adaptive solver."""

from typing import final

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from saddlescope.engines.engine import Engine, Stepper
from saddlescope.engines.kept import intervals, run_steps
from saddlescope.optimisers import GradientFlow


@eqx.filter_jit
def _flow(net, loss, optimiser, statistics, params, losses, n, between, lr):
    import diffrax  # takes half a second

    def velocity(t, theta, _):
        _, gradient = loss.with_gradient(net, theta, statistics)
        still = jax.tree.map(jnp.zeros_like, theta)
        return net.merged(still, jax.tree.map(lambda g, rate: -rate * g, gradient, net.rates(gradient)))

    term = diffrax.ODETerm(velocity)
    controller = diffrax.PIDController(rtol=optimiser.rtol, atol=optimiser.atol)

    def step(i, state):
        params, losses = state
        losses = losses.at[i].set(loss(net, params, statistics))
        solution = diffrax.diffeqsolve(
            term, diffrax.Tsit5(), 0.0, lr, lr, params, stepsize_controller=controller, max_steps=100_000, throw=False
        )
        assert solution.ys is not None
        ok = solution.result == diffrax.RESULTS.successful
        return jax.tree.map(lambda y: jnp.where(ok, y[-1], jnp.nan), solution.ys), losses

    return run_steps(step, (params, losses), n, between, lambda state: net.trained(state[0]))


@final
class Flow(Engine):
    """Gradient flow, dθ/dt = −∇L times each parameter's rate, by an adaptive fifth-order solver (Tsit5).

    A step lasts a time `lr`. Each step starts the solver again from θ alone, so a run may be cut and resumed anywhere
    to the same bits.
    """

    name = "flow"
    overhead = 2e6

    def why_not(self, setting):
        if not isinstance(setting.optimiser, GradientFlow):
            return "it follows gradient flow alone: use GradientFlow(lr)"
        return None

    def begin(self, setting):
        return FlowStepper(setting)


class FlowStepper(Stepper):
    """The solver of one run."""

    keeps = True

    def start(self):
        return self.initial()

    def advance(self, state, step, n, lr, keep=None):
        precision = self.setting.precision
        buffer, lr = jnp.zeros(self.max_steps, precision), jnp.asarray(lr, precision)
        parts = self.net, self.loss_of, self.optimiser, self.statistics
        (state, losses), kept = _flow(*parts, state, buffer, np.asarray(n), intervals(keep, n), lr)
        losses = np.asarray(losses)[:n].astype(float)
        return (state, losses) if keep is None else (state, losses, kept)

    def params(self, state):
        return state
