"""When the next drop comes: growth in the residual of a fixed point."""

import warnings

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from saddlescope.errors import require
from saddlescope.nets.net import Net, Params
from saddlescope.numerics import reproducible
from saddlescope.tasks.task import Moments, Samples

TIED = 0.1  # a second direction that has grown to this share of the first grows with it


class NearTie(UserWarning):
    """Two directions grow nearly together, so that the drop comes later than said."""


def correlation(net, params, point, statistics):
    """2 ⟨r · f(x; params)⟩ with r the residual at `point`: what a small change of the map gains."""
    if isinstance(statistics, Moments):
        W, at = (net.matrix(p, len(statistics.xx)) for p in (params, point))
        return 2 * jnp.sum(((statistics.optimum - at) @ statistics.xx) * W)
    residual = statistics.y - net(point, statistics.x)
    return 2 * jnp.mean(jnp.sum(residual * net(params, statistics.x), axis=-1))


@eqx.filter_jit
def _grow(net, params, point, statistics, lr, goal, most):
    """Steps of ascent on the correlation until what was gained reaches the goal, or `most` steps."""
    start = correlation(net, params, point, statistics)

    def step(state):
        n, p = state
        g = jax.grad(correlation, argnums=1)(net, p, point, statistics)
        return n + 1, jax.tree.map(lambda a, b: a + lr * b, p, g)

    def more(state):
        n, p = state
        gained = correlation(net, p, point, statistics) - start
        return (n < most) & (gained < goal) & jnp.isfinite(gained)

    return jax.lax.while_loop(more, step, (jnp.asarray(0), params))


@reproducible()
def escape_steps(
    net: Net,
    params: Params,
    point: Params,
    statistics: Samples | Moments,
    lr: float,
    fall: float,
    most: int = 10**6,
) -> tuple[float, Params]:
    """Steps until the next drop, and the weights by then; our own prediction.

    Near a fixed point f* the small parts of the weights feel only the residual r = y - f*. They
    follow the gradient of 2 ⟨r · Σ_i φ(x; u_i) v_i⟩. For units linear in u that is Theorem 4's
    linear system, for quadratic ones Proposition 5's, for any other the same with its own φ. The
    drop comes when the growth would, in a residual held still, gain as much as the whole drop does.
    For a linear mode that is exactly where its logistic curve lets the loss fall fastest.

    Holds where the plateau is long against the drop, and one direction grows ahead of all others. Where a second one
    has grown to a tenth of the first by then, as of two linear modes whose rates differ by less than a fifth, it says
    so by the warning `NearTie`: the drop may come some 3 % of the wait later. Steps are those of gradient descent. They
    are infinite if `most` steps do not suffice.

    **Arguments:**

    - `net`: A two-layer net of units.
    - `params`: The weights that are free to grow, near the fixed point.
    - `point`: The weights of the fixed point.
    - `statistics`: What the loss sees of the data.
    - `lr`: The learning rate.
    - `fall`: How far the loss will fall: to the level of one unit more.
    - `most`: The largest number of steps that is tried.
    """
    steps, weights = grown_until(net, params, point, statistics, lr, fall, most)
    if np.isfinite(steps) and (second := second_growth(params, weights)) > TIED:
        said = f"Two directions grow nearly together: by the drop the second has grown to {second:.0%} of the first."
        warnings.warn(f"{said} The drop may come some 3 % of the wait later than said.", NearTie, stacklevel=2)
    return steps, weights


@reproducible()
def grown_until(net, params, point, statistics, lr, fall, most=10**6) -> tuple[float, Params]:
    """The same for any gain, without a word on ties."""
    finite = all(np.isfinite(w).all() for w in jax.tree.leaves((params, point, lr, fall)))
    require(finite, "Weights, rate and fall must be finite numbers.")
    as_arrays = lambda tree: jax.tree.map(jnp.asarray, tree)  # noqa: E731
    n, weights = _grow(net, as_arrays(params), as_arrays(point), statistics, jnp.asarray(lr), jnp.asarray(fall),
                jnp.asarray(most))  # fmt: skip
    return float(n) if int(n) < most else np.inf, {name: np.asarray(w) for name, w in weights.items()}


def second_growth(before: Params, after: Params) -> float:
    """How far a second direction of the units' weights has grown, over the first; 0 where one alone has."""
    grown = np.concatenate([np.asarray(after[name]) - np.asarray(before[name]) for name in after], axis=1)
    sizes = np.linalg.svd(grown, compute_uv=False)
    return float(sizes[1] / sizes[0]) if len(sizes) > 1 and sizes[0] > 0 else 0.0
