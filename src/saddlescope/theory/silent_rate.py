"""How fast a silent unit of order one can grow in the residual of a fixed point (a prediction of ours, after App. C).

Near zero a unit feels v̇ = 2 G(u), u̇ = 2 ∂(v · G(u)) / ∂u with G(u) = ⟨r φ(x; u)⟩ and r the residual. For φ of degree
one, G is too, and along the direction in which |G(u)| is largest both weights grow by 1 + 2 lr |G| a step. For linear
units |G| is the largest singular value of the residual's correlation and 2 |G| = -λ_min of the Hessian; for ReLU, which
has no Hessian at zero, it is the direction that correlates most with what is left.
"""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from scipy.optimize import minimize

from saddlescope.nets import Units
from saddlescope.theory.escape_time import correlation


@eqx.filter_jit
def pull(net, u, outer, point, statistics):
    """2 |G| along u, and its gradient. `outer` holds as many numbers as v."""

    def size(row):
        params = {"u": (row / jnp.linalg.norm(row))[None], "v": outer[None]}
        given = jax.grad(lambda v: correlation(net, params | {"v": v}, point, statistics))(params["v"])
        return jnp.linalg.norm(given)

    return jax.value_and_grad(size)(u)


def silent_rate(net, point, statistics, tries=20, seed=0) -> float:
    """The largest growth rate 2 |G| of one more unit, over `tries` starts."""
    rng, one = np.random.default_rng(seed), Units(1, net.unit, 1.0)
    point = jax.tree.map(jnp.asarray, point)
    outer = jnp.ones(point["v"].shape[1])

    def down(u):
        value, slope = pull(one, jnp.asarray(u), outer, point, statistics)
        return -float(value), -np.asarray(slope, float)

    starts = rng.standard_normal((tries, point["u"].shape[1]))
    return max(-minimize(down, start, jac=True, method="BFGS").fun for start in starts)
