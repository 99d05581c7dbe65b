"""Starts that are stationary in the limit, and when a finite net leaves them."""

import numpy as np

from saddlescope.errors import require
from saddlescope.meanfield.limit import Limit
from saddlescope.numerics import reproducible
from saddlescope.theory.meanfield.kernel import closed_form, gaussian_mean

SENTENCE = (
    "The start is a stationary point of the limit: nothing moves at infinite width, and a net of finite width leaves "
    "it late. Ask limit.escape_time(width), or give the start law a mean or slope."
)
STILL = 1e-13


def is_stationary(limit: Limit) -> bool:
    """Whether every derivative vanishes at the start, seen on 256 mirrored neurons per block."""
    from saddlescope.meanfield.by_nodes import system_of

    rng = np.random.default_rng(0)
    drawn = [limit.mixing.draw(rng, 128, limit.rank) for _ in range(limit.depth)]
    rules = [(np.concatenate([d, -d]), np.full(256, 1 / 256)) for d in drawn]
    with reproducible():
        system, start = system_of(limit, rules)
        gamma, weights = system.velocity(0.0, start)
    return all(float(np.abs(a).max(initial=0.0)) < STILL for a in (gamma, *weights))


def escape_time_of(limit: Limit, width: int) -> float:
    """When a net of this width has half of its target's square in its output, for a start of mean zero and two blocks.

    Around zero the pair s_k = E y f_k, b_k = E L_k w₂ obeys ṡ = φ' (yKy) b, ḃ = φ' σ_L² s, which grows as e^{λt} with
    λ = φ'(0) σ_L √(yKy). The draw starts it at deviation √((σ₁² + σ₂²)/(4n)), so that
    t = ln(2 n E y² / (λ r (σ₁² + σ₂²))) / (2 λ).
    """
    require(
        limit.depth == 1 and limit.measure.outputs == 1,
        "The escape time is known for two blocks and one output: use depth=1.",
    )
    require(is_stationary(limit), "This start is not stationary in the limit: follow limit.flow(T) instead.")
    rate = escape_rate(limit)
    noise = sum(s.std**2 for s in limit.starts)
    power = float(limit.measure.weights @ limit.measure.y[:, 0] ** 2)
    return float(np.log(2 * width * power / (rate * limit.rank * noise)) / (2 * rate))


def escape_rate(limit: Limit) -> float:
    """λ = φ'(0) σ_L √(Σ π_p y_p K(x_p, x_q) y_q π_q); for a kinked φ its average slope (1 + α)/2."""
    x, pull = limit.measure.x, limit.measure.weights * limit.measure.y[:, 0]
    drawn = limit.mixing.nodes(1, 24, limit.kinked)
    deviation = np.sqrt(drawn[1] @ drawn[0][:, 0] ** 2)
    return float(slope_at_zero(limit) * deviation * np.sqrt(pull @ limit.first_kernel(x, x) @ pull))


def slope_at_zero(limit: Limit) -> float:
    """φ'(0), or the average of both sides at a kink."""
    if closed_form(limit.activation):
        return float(gaussian_mean(limit.activation, np.zeros((1, 1)))[1][0])
    step = 1e-6
    up, down = (float(limit.activation(np.array(z))) for z in (step, -step))
    return (up - down) / (2 * step)
