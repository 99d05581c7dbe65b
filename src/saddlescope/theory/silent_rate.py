"""How fast a silent unit can grow."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import scipy  # its parts are imported when first used

from saddlescope.nets import Units
from saddlescope.nets.net import Params
from saddlescope.numerics import reproducible
from saddlescope.tasks.task import Moments, Samples
from saddlescope.theory.escape_time import correlation


@eqx.filter_jit
def _pull(net, u, outer, point, statistics):
    """2 |G| along u, and its gradient. `outer` holds as many numbers as v."""

    def size(row):
        params = {"u": (row / jnp.linalg.norm(row))[None], "v": outer[None]}
        given = jax.grad(lambda v: correlation(net, params | {"v": v}, point, statistics))(params["v"])
        return jnp.linalg.norm(given)

    return jax.value_and_grad(size)(u)


@reproducible()
def silent_rate(
    net: Units,
    point: Params,
    statistics: Samples | Moments,
    tries: int = 20,
    seed: int = 0,
) -> float:
    """The largest growth rate 2 |G| of one more unit in a fixed point's residual; a prediction of
    ours.

    Near zero a unit feels v̇ = 2 G(u) and u̇ = 2 ∂(v · G(u)) / ∂u, with G(u) = ⟨r φ(x; u)⟩ and r
    the residual. For φ of degree one, G is of degree one too. Along the direction with the largest
    |G(u)| both weights grow by 1 + 2 lr |G| per step. For linear units |G| is the largest singular
    value of the residual's correlation, and 2 |G| = -λ_min of the Hessian. ReLU has no Hessian at
    zero; there it is the direction that correlates most with what is left. Holds for silent units
    of order one. Reference: after simplicity paper, App. C.

    **Arguments:**

    - `net`: A two-layer net of units.
    - `point`: The weights {'u', 'v'} of the fixed point.
    - `statistics`: What the loss sees of the data.
    - `tries`: The number of random starts of the search.
    - `seed`: The seed of these starts.
    """
    rng, one = np.random.default_rng(seed), Units(1, net.unit, 1.0)
    point = jax.tree.map(jnp.asarray, point)
    outer = jnp.ones(point["v"].shape[1])

    def down(u):
        value, slope = _pull(one, jnp.asarray(u), outer, point, statistics)
        return -float(value), -np.asarray(slope, float)

    starts = rng.standard_normal((tries, point["u"].shape[1]))
    return max(-scipy.optimize.minimize(down, start, jac=True, method="BFGS").fun for start in starts)
