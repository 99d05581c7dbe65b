"""Starts that are stationary in the limit, and when a finite net leaves them."""

import jax.numpy as jnp
import numpy as np

from saddlescope.errors import require
from saddlescope.meanfield.laws import RowMixing
from saddlescope.meanfield.limit import Limit
from saddlescope.meanfield.nodes import value_and_slope
from saddlescope.theory.meanfield.kernel import closed_form, gaussian_mean
from saddlescope.theory.meanfield.leaving import three_block_time, two_block_time

SENTENCE = (
    "The start is a stationary point of the limit: nothing moves at infinite width, and a net of finite width leaves "
    "it late. Ask limit.escape_time(width), or give the start law a mean or slope."
)
STILL = 1e-13


def is_stationary(limit: Limit) -> bool:
    """Whether every derivative vanishes at the start, seen on 256 mirrored neurons per block."""
    from saddlescope.meanfield.by_nodes import system_of
    from saddlescope.numerics import reproducible

    rng = np.random.default_rng(0)
    drawn = [limit.mixing.draw(rng, 128, limit.rank) for _ in range(limit.depth)]
    rules = [(np.concatenate([d, -d]), np.full(256, 1 / 256)) for d in drawn]
    with reproducible():
        system, start = system_of(limit, rules)
        gamma, weights = system.velocity(0.0, start)
    return all(float(np.abs(a).max(initial=0.0)) < STILL for a in (gamma, *weights))


def escape_time_of(limit: Limit, width: int) -> float:
    """When a net of this width has a twentieth of its target's square in its output, for a start of mean zero.

    It is the median over 99 draws of the averages that `theory.meanfield.leaving` starts from: about ln n/(2λ) for two
    blocks, and a multiple of √n for three. Later the residual has changed, and the linear theory no longer holds.
    """
    require(
        limit.depth in (1, 2) and limit.measure.outputs == 1,
        "The escape time is known for two and three blocks with one output: use depth=1 or depth=2.",
    )
    require(
        limit.depth == 1 or not limit.kinked,
        "With three blocks the escape time is known for smooth activations: use Tanh() or Erf().",
    )
    require(
        not isinstance(limit.mixing, RowMixing),
        "The escape time is known for mixing laws whose channels are alike; got RowMixing.",
    )
    require(is_stationary(limit), "This start is not stationary in the limit: follow limit.flow(T) instead.")
    rate, level, rng = escape_rate(limit), escape_level(limit), np.random.default_rng(0)
    require(rate > 0, "Nets never leave this start: their targets or their kernel are zero.")
    moves = any(_noise(limit, block).any() for block in range(limit.depth + 1))
    require(moves, "Nets never leave this start: all their weights are zero, without noise.")
    return float(np.median([_drawn_time(limit, width, rng, rate, level) for _ in range(99)]))


def _drawn_time(limit, width, rng, rate, level):
    """The time to leave from one draw of the averages at the start."""
    r, noise = limit.rank, [_noise(limit, block) / np.sqrt(width) for block in range(limit.depth + 1)]
    shapes = ((r,), (r,)) if limit.depth == 1 else ((r,), (r, r), (r,))
    drawn = [rng.standard_normal(s) for s in shapes]
    first, last = noise[0] * drawn[0], noise[-1] * drawn[-1]
    middle = [n[:, None] * d for n, d in zip(noise[1:-1], drawn[1:-1], strict=True)]
    if middle:
        return three_block_time(first, middle[0], last, rate, level)
    return two_block_time(first, last, rate, level)


def _noise(limit, block):
    """√(E w²) of every channel: the averages of a net's neurons have this deviation, over √n."""
    law = limit.starts[block]
    return np.sqrt(law.means(limit.widths[block]) ** 2 + law.std**2)


def escape_level(limit: Limit) -> float:
    """E y²/20: the E yŷ at which a net counts as having left."""
    return float(limit.measure.weights @ limit.measure.y[:, 0] ** 2) / 20


def escape_rate(limit: Limit) -> float:
    """Λ = (E φ'(b)² L²)^(depth/2) √(yKy), yKy = Σ π_p y_p K(x_p, x_q) y_q π_q: the rate of `theory.meanfield.leaving`.

    Without bias a kink has no φ'(0). The flow of two blocks is homogeneous there, and its rate is the largest
    ‖Σ π_p y_p φ(L·f_p)‖ over channels f of norm one in the kernel's space.
    """
    x, pull = limit.measure.x, limit.measure.weights * limit.measure.y[:, 0]
    kernel = limit.first_kernel(x, x)
    if limit.kinked and not limit.mixing.has_bias:
        return _kinked_rate(limit, kernel, pull)
    nodes, weights = limit.mixing.nodes(1, 24, False)
    slopes = np.asarray(value_and_slope(limit.activation, jnp.asarray(nodes[:, 1]))[1])
    gain = np.sqrt(weights @ (slopes * nodes[:, 0]) ** 2)
    return float(gain**limit.depth * np.sqrt(pull @ kernel @ pull))


def _kinked_rate(limit, kernel, pull, starts=8, rounds=300):
    """By power iteration from several random channels, on 4,096 mirrored neurons."""
    rng = np.random.default_rng(0)
    half = limit.mixing.draw(rng, 2048, limit.rank)[:, :-1]
    L = np.concatenate([half, -half])
    best = 0.0
    for _ in range(starts):
        v = rng.standard_normal((len(pull), limit.rank))
        for _ in range(rounds):
            f = kernel @ v / np.sqrt(np.sum(v * (kernel @ v)))
            phi, slope = map(np.asarray, value_and_slope(limit.activation, f @ L.T))
            reached = pull @ phi
            v = pull[:, None] * ((slope * reached) @ L) / len(L)
        best = max(best, float(np.sqrt(np.mean(reached**2))))
    return best


def slope_at_zero(limit: Limit) -> float:
    """φ'(0) of a smooth activation."""
    if closed_form(limit.activation):
        return float(gaussian_mean(limit.activation, np.zeros((1, 1)))[1][0])
    step = 1e-6
    up, down = (float(limit.activation(np.array(z))) for z in (step, -step))
    return (up - down) / (2 * step)
