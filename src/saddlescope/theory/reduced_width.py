"""The reduced-width model of linear nets."""

from typing import final

import jax
import jax.numpy as jnp
import numpy as np

from saddlescope.errors import require
from saddlescope.theory.drop_schedule import plain_descent
from saddlescope.theory.linear_modes import linear_modes
from saddlescope.theory.prediction import Prediction


@final
class ReducedWidth(Prediction):
    """The loss curve of a two-layer linear net, from a net as narrow as its modes; a prediction of
    ours.

    The wide net's map depends on its units only through Θ Θᵀ with Θ = (V; U). Keep the growing part
    of the draw, Θ ≈ Σ_k (q_k; r_k) c_kᵀ. A net of D units with the same Θ Θᵀ follows the same
    curve. It is iterated by its own equations (Eq. 9, in steps): E = Σ_yx - V Uᵀ Σ_xx, V ← V + 2 lr
    E U, U ← U + 2 lr Eᵀ V.

    Gives `loss`. Holds for small initial weights. What is left out does not grow, so the error
    vanishes with the initial scale ε. It goes as ε² where the moments commute. Elsewhere it goes
    more slowly, as ε^(2 s₂/s₁) with as many inputs as outputs.
    """

    def __call__(self, setting):
        lr, m = plain_descent(setting), linear_modes(setting)
        require(not setting.stop, "The reduced model runs for all steps: leave the stop rules out.")
        narrow = np.linalg.qr(m.c.T, mode="r").T  # D × D, with narrow narrowᵀ = c cᵀ
        start = jnp.asarray(m.q @ narrow), jnp.asarray(m.r @ narrow)
        loss = _iterate(start, m.moments.optimum, m.moments.xx, m.moments.floor, lr, setting.budget)
        return {"loss": ("step", np.asarray(loss))}


@jax.jit(static_argnames="steps")
def _iterate(start, optimum, xx, floor, lr, steps):
    def step(state, _):
        V, U = state
        gap = optimum - V @ U.T
        E = gap @ xx
        return (V + 2 * lr * E @ U, U + 2 * lr * E.T @ V), floor + jnp.sum(E * gap)

    return jax.lax.scan(step, start, length=steps + 1)[1]
